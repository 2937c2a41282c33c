"""Every way a run can fail, as one tree. Each class knows its stage, its exit code and its sentence.

EvalError
├── UsageError              2  the command line, the configuration or the data cannot be used as they are
│   ├── UnknownName            a dataset, setting, metric … that does not exist, with the nearest ones that do
│   ├── BadValue               a setting whose value is out of its range
│   ├── Unsupported            a task of another tool that says something we cannot do
│   ├── BadData                a data file that is missing, unreadable or has the wrong shape
│   └── BadReuse               a folder that is no run, or a run that asked something else
├── Refused                 3  turned away before anything was started
├── AdapterFailed           4  the adapter did not come up, or died
├── NoHonestScore           5  too many requests failed, so a score would be a guess
├── PublishFailed           6  the report could not be put where it belongs
└── Stopped           130/143  somebody asked the run to end

A gate that fails (1) or stays undecided (7) is a result, not an error: see `records.Outcome`.
Errors of libraries and of the operating system are translated once, at the rim.
"""

import difflib
from collections.abc import Iterable

_SHOWN = 20
"""How many names a sentence lists before it only counts them."""


class EvalError(Exception):
    """One sentence a user can act on, with the numbers in it, and the detail that backs it."""

    exit_code = 2
    stage = "run"

    def __init__(
        self, sentence: str, *, detail: str = "", stage: str | None = None, about: tuple[str, int] | None = None
    ) -> None:
        """`about`: the file of the adapter, and its line, where the cure is to be applied."""
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail
        self.stage = stage or type(self).stage
        self.about = about


class UsageError(EvalError):
    """The command line, the configuration or the data cannot be used as they are."""

    exit_code = 2
    stage = "configuration"


class UnknownName(UsageError):
    """A name that no table holds; the nearest ones are shown, because most are typing slips."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "") -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        shown = [*known[:_SHOWN], f"and {len(known) - _SHOWN} more"] if len(known) > _SHOWN + 1 else known
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(shown) or 'none'}."
        super().__init__(f"There is no {kind} called '{name}'{where}; {hint}")


class BadValue(UsageError):
    """A setting whose value cannot be meant."""


class Unsupported(UsageError):
    """A task of another tool that says something we cannot do; every reason is named."""

    def __init__(self, task: str, reasons: Iterable[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"The task '{task}' cannot be imported: {'; '.join(self.reasons)}.")


class BadData(UsageError):
    """A data file that is missing, unreadable or has the wrong shape; the sentence says where."""

    stage = "data"


class BadReuse(UsageError):
    """`--reuse` of a folder that is no run, or of a run whose questions were different."""


class Refused(EvalError):
    """Turned away before anything was started."""

    exit_code = 3
    stage = "preflight"


class AdapterFailed(EvalError):
    """The adapter did not come up, or died; the detail holds the last lines of its log."""

    exit_code = 4
    stage = "deploy"


class NoHonestScore(EvalError):
    """Too many requests failed: whatever was computed says nothing about accuracy."""

    exit_code = 5
    stage = "infer"


class PublishFailed(EvalError):
    """The report could not be put where it belongs."""

    exit_code = 6
    stage = "publish"


class Stopped(EvalError):
    """A signal asked the run to end: 128 + the signal's number, as shells have it."""

    def __init__(self, signal_number: int, signal_name: str) -> None:
        super().__init__(f"The run was stopped by {signal_name}; what was answered until then is kept.")
        self.exit_code = 128 + signal_number
