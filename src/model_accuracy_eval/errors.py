"""All errors of a run, as one tree. Each class has an exit code and a stage; each error has a sentence for the user.

EvalError
├── UsageError              2  the command line, the configuration or the data cannot be used
│   ├── UnknownName            the name of a setting, metric … does not exist; similar names are shown
│   ├── UnknownDataset         that of a dataset; its kind is shown, and how to bring one's own
│   ├── BadValue               the value of a setting is not allowed
│   ├── Unsupported            a task file of another tool uses a feature that is not supported
│   ├── BadData                a data file is unreadable or has the wrong format
│   │   └── MissingData           a data file is not on this machine
│   └── BadReuse               a folder is not a run, or its run had other prompts or sampling
├── Refused                 3  refused before anything was started
├── AdapterFailed           4  the adapter did not start, or ended too early
├── NoHonestScore           5  too many requests failed, so there is no reliable score
├── PublishFailed           6  GitHub or a disk did not take the report, or GitHub was away before the run
├── Altered                 1  a run folder is not what its run left
├── Defect                 70  this program is wrong; what was collected until then is kept
└── Stopped       129/130/143  a signal stopped the run

A gate that fails (1) or stays undecided (7) is a result, not an error: see `records.Outcome`.
Errors of libraries and of the operating system are converted to these by the module that calls the library.
"""

import difflib
import signal
import traceback
from collections.abc import Iterable

_SHOWN = 20
"""How many names a sentence lists; it only counts the rest."""


class EvalError(Exception):
    """One sentence that the user can act on, with numbers, and further detail such as the end of a log."""

    exit_code = 2
    stage = "run"

    def __init__(
        self,
        sentence: str,
        *,
        detail: str = "",
        stage: str | None = None,
        about: tuple[str, int] | None = None,
        next_step: str = "",
    ) -> None:
        """`about`: the file of the adapter, and the line in it, where the problem can be fixed. `next_step`: the
        command to type next, where the place that raises the error knows it."""
        super().__init__(sentence)
        self.sentence = sentence
        self.next_step = next_step
        self.detail = detail
        self.stage = stage or type(self).stage
        self.about = about


class UsageError(EvalError):
    """The command line, the configuration or the data cannot be used."""

    exit_code = 2
    stage = "configuration"


class UnknownName(UsageError):
    """A name that does not exist. Similar names are shown, because most of these errors are typing mistakes."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "") -> None:
        known = sorted(known)
        lower = {each.lower(): each for each in known}
        near = [lower[each] for each in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
        shown = [*known[:_SHOWN], f"and {len(known) - _SHOWN} more"] if len(known) > _SHOWN + 1 else known
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(shown) or 'none'}."
        super().__init__(f"There is no {kind} called '{name}'{where}; {hint}")


class UnknownDataset(UsageError):
    """A dataset that the table does not have. Another dataset must not be taken for it because its name is similar."""


class BadValue(UsageError):
    """A value that is not allowed for a setting."""


class Unsupported(UsageError):
    """A task file of another tool that uses features that are not supported; the sentence names all of them."""

    def __init__(self, task: str, reasons: Iterable[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"The task '{task}' cannot be imported: {'; '.join(self.reasons)}.")


class BadData(UsageError):
    """A data file that is unreadable or has the wrong format; the sentence says where."""

    stage = "data"


class MissingData(BadData):
    """A data file that is not on this machine; the sentence says where it was looked for."""


class BadReuse(UsageError):
    """A folder that is not a run, or a run that cannot be reused because its prompts or sampling were different."""


class Refused(EvalError):
    """Refused before anything was started."""

    exit_code = 3
    stage = "preflight"


class Unfetched(Refused):
    """A file that its host does not have, or whose host cannot be reached: another host may have the same rows."""


class AdapterFailed(EvalError):
    """The adapter did not start, or ended too early; the detail contains the last lines of its log."""

    exit_code = 4
    stage = "deploy"


class NoHonestScore(EvalError):
    """Too many requests failed, so the scores say nothing about accuracy."""

    exit_code = 5
    stage = "infer"


class PublishFailed(EvalError):
    """The report could not be published."""

    exit_code = 6
    stage = "publish"


class Altered(EvalError):
    """A run folder is not what its run left; the detail lists the files."""

    exit_code = 1
    stage = "verify"


class Defect(EvalError):
    """Something that this program did not foresee; the detail is the traceback.

    Python's own exit code for that is 1, which would say that a gate failed.
    """

    exit_code = 70

    @classmethod
    def from_exception(cls, error: Exception, sentence: str = "", stage: str | None = None) -> "Defect":
        """`sentence`: what more can be said about it than that it is one."""
        name = type(error).__name__
        return cls(
            sentence or f"This is a defect of model-accuracy-eval ({name}); please report it with its traceback.",
            detail="".join(traceback.format_exception(error)).rstrip(),
            stage=stage,
        )


class Stopped(EvalError):
    """A signal stopped the run. The exit code is 128 + the signal's number, as in shells."""

    def __init__(self, signal_number: int, signal_name: str) -> None:
        super().__init__(f"The run was stopped by {signal_name}; what was answered until then is kept.")
        self.exit_code = 128 + signal_number


class StopSignal(KeyboardInterrupt):
    """A signal that came while nothing was under way that could be torn: raised at once, wherever the program is.

    Like `KeyboardInterrupt` it is no `Exception`, so that no handler of errors takes it for one of its own.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.number = signal_number
        self.exit_code = 128 + signal_number


def stop_signals() -> tuple[signal.Signals, ...]:
    """Those that ask for an end. SIGHUP comes when a terminal or its connection is closed; `nohup` ignores it."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP]))
