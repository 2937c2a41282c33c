"""The command line: a table of commands, each imported when it is called, so that `--help` needs none of them."""

import difflib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from model_accuracy_eval import __version__
from model_accuracy_eval.errors import Defect, EvalError, StopSignal, stop_signals
from model_accuracy_eval.system.standard_streams import NotPrinted

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

COMMANDS: Mapping[str, str] = {
    "run": "Evaluate an adapter folder, or a service that already runs.",
    "demo": "Evaluate the bundled example adapter.",
    "plan": "Say what a run of this size can show.",
    "merge": "Make one report of the runs of all shards.",
    "report": "Render a run's pages again, or write it for other programs.",
    "compare": "Compare two runs.",
    "rescore": "Judge replies that another tool saved.",
    "history": "Show trends over runs, and where a figure has fallen.",
    "view": "Look at the runs of a folder in the browser.",
    "batch": "Answer every prompt of a file.",
    "tasks": "What can be evaluated.",
    "diagnose": "Find faults of an inference implementation, without right answers.",
    "doctor": "Check this machine, its connections, or a service.",
    "init": "Write the files that evaluate an adapter's repository.",
    "verify": "Check that a run is what it left.",
    "action": "Main step of the container action.",
}
"""The commands as `--help` lists them, with a line about each; `commands` has a file of the name of each."""


_LANGUAGE = "MODEL_ACCURACY_EVAL_LANGUAGE"
"""The environment variable that names the language of page, comment and terminal: en or zh."""


class _Program(click.Group):
    """Imports a command when it is called, and turns every error of ours into its sentence, its detail and its exit
    code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"model_accuracy_eval.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and (near := difflib.get_close_matches(args[0], COMMANDS)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean {' or '.join(near)}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _in_language(os.environ.get(_LANGUAGE)), stops_raised():
                return super().invoke(ctx)
        except StopSignal as stop:
            click.echo("Stopped.", err=True)
            ctx.exit(stop.exit_code)
        except NotPrinted as error:
            _end(ctx, error.as_failure())
        except EvalError as error:
            _end(ctx, error)
        except (click.exceptions.ClickException, click.exceptions.Exit, click.exceptions.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not look like a failed gate
            defect = Defect.from_exception(error)
            click.echo(f"{defect.detail}Error: {defect.sentence}", err=True)
            ctx.exit(defect.exit_code)


def _in_language(named: str | None) -> AbstractContextManager[None]:
    if not named:
        return nullcontext()
    words: AbstractContextManager[None] = import_module("model_accuracy_eval.report.languages").reading(named)
    return words


def _end(context: click.Context, error: EvalError) -> NoReturn:
    click.echo(f"Error: {error.sentence}", err=True)
    if error.detail:
        click.echo(error.detail, err=True)
    if error.next_step:
        click.echo(f"Next: {error.next_step}", err=True)
    context.exit(error.exit_code)


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="model-accuracy-eval")
def main() -> None:
    """Is this model adapter's inference as accurate as it should be?

    \b
    model-accuracy-eval demo                                             see it work, without a model or a network
    model-accuracy-eval run ADAPTER --model WEIGHTS --datasets gsm8k     deploy an adapter and evaluate it
    model-accuracy-eval run --endpoint URL --datasets gsm8k              evaluate a service that runs

    \b
    Exit codes: 0 done, gates passed · 1 a gate failed · 2 usage or configuration · 3 refused before deploying ·
    4 the adapter did not come up or died · 5 too many requests failed · 6 the report could not be published ·
    7 gates undecided · 70 a defect of this program · 129/130/143 stopped
    """  # noqa: D301 - click looks for the character itself


# What Ctrl-C, SIGTERM and a closed terminal do to a command: a sentence and the exit code of shells, no traceback.
#
# A run takes the signals over while it lasts, because it has answers to keep and an adapter to end.


_AGAIN = 0.1
"""Seconds after which a signal is sent once more that has not ended the block."""


@contextmanager
def stops_raised() -> Iterator[None]:
    """While entered, the signals raise `StopSignal`. Only a main thread can be told of signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stop, before = _Stop(), sys.unraisablehook

    def ignore(dropped: "UnraisableHookArgs") -> None:
        if not isinstance(dropped.exc_value, StopSignal):
            before(dropped)

    previous = {number: signal.signal(number, stop) for number in stop_signals()}
    sys.unraisablehook = ignore
    try:
        yield
    except RuntimeError as error:
        # Python before 3.12 wraps whatever is raised while a class gets its attributes, as during an import.
        if isinstance(error.__cause__, StopSignal):
            raise error.__cause__ from None
        raise
    finally:
        stop.end()
        sys.unraisablehook = before
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Stop:
    """What the signals do to a command. What is raised can get lost: Python drops it while it clears up, and some C
    code whatever a look-up raises. So the signal comes again until the command has ended, or whoever took the signals
    over has been told; but not into what cleans up for it."""

    def __init__(self) -> None:
        self._alarm: Any = None
        """What the alarm did before, once it is ours. A thread in its place could wait for ever when it starts: the
        code that was interrupted may hold its lock."""

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        before = signal.signal(signal.SIGALRM, lambda *_: self._remind(number))
        self._alarm = before if self._alarm is None else self._alarm
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        raise StopSignal(number)

    def _remind(self, number: int) -> None:
        if _is_on_its_way(sys.exc_info()[1]):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        else:
            signal.raise_signal(number)

    def end(self) -> None:
        if self._alarm is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._alarm)


def _is_on_its_way(handled: BaseException | None) -> bool:
    """Whether a stop is what is being handled, or what came before it was."""
    return handled is not None and (isinstance(handled, StopSignal) or _is_on_its_way(handled.__context__))
