"""The command line. Nothing heavy is imported before a command needs it."""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from model_accuracy_eval import __version__
from model_accuracy_eval.commands import (
    action_command,
    batch_command,
    doctor_command,
    history_command,
    init_command,
    interrupts,
    lazy_modules,
    past_runs,
    plan_command,
    run_command,
    tasks_command,
    view_command,
)
from model_accuracy_eval.commands.standard_streams import NotPrinted
from model_accuracy_eval.errors import Defect, EvalError, StopSignal


class _Program(click.Group):
    """Turns every error of ours into its sentence, its detail and its exit code."""

    _words: Sequence[str] = ()

    def main(self, args: Sequence[str] | None = None, *more: Any, **settings: Any) -> Any:
        self._words = sys.argv[1:] if args is None else list(args)
        return super().main(args, *more, **settings)

    def make_context(self, *about: Any, **settings: Any) -> click.Context:
        try:
            return super().make_context(*about, **settings)
        except click.UsageError as error:
            if not self._words:
                raise
            self._refuse(error)
            raise click.exceptions.Exit(error.exit_code) from error

    def _refuse(self, error: click.UsageError) -> None:
        click.echo(f"Error: {lazy_modules.next_command.parser_sentence(error, self._words, self)}", err=True)
        click.echo(f"Next: {lazy_modules.next_command.of_parser(error, self._words, self)}", err=True)

    def _end(self, context: click.Context, error: EvalError) -> NoReturn:
        click.echo(f"Error: {error.sentence}", err=True)
        if error.detail:
            click.echo(error.detail, err=True)
        if command := lazy_modules.next_command.of_error(error, self._words):
            click.echo(f"Next: {command}", err=True)
        context.exit(error.exit_code)

    def invoke(self, context: click.Context) -> Any:
        try:
            with interrupts.raised():
                return super().invoke(context)
        except StopSignal as stop:
            click.echo("Stopped.", err=True)
            context.exit(stop.exit_code)
        except NotPrinted as error:
            self._end(context, error.as_failure())
        except EvalError as error:
            self._end(context, error)
        except click.UsageError as error:
            if not self._words or isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
                raise
            self._refuse(error)
            context.exit(error.exit_code)
        except (click.exceptions.ClickException, click.exceptions.Exit, click.exceptions.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not look like a failed gate
            defect = Defect.from_exception(error)
            click.echo(f"{defect.detail}Error: {defect.sentence}", err=True)
            context.exit(defect.exit_code)


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


for command in (
    run_command.run,
    run_command.demo,
    run_command.merge,
    plan_command.plan,
    tasks_command.tasks,
    past_runs.compare,
    past_runs.report,
    past_runs.verify,
    past_runs.rescore,
    past_runs.export,
    history_command.history,
    view_command.view,
    batch_command.batch,
    doctor_command.doctor,
    init_command.init,
    doctor_command.selftest,
    action_command.action,
    action_command.admit,
    action_command.sweep,
):
    main.add_command(command)
