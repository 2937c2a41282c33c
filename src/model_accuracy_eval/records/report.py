"""How it ended, and all that a reader wants to know of it."""

from typing import Literal

from model_accuracy_eval.records.base import Record
from model_accuracy_eval.records.change import Comparison
from model_accuracy_eval.records.marks import Interval, Sheet
from model_accuracy_eval.records.plan import Gate, RunPlan
from model_accuracy_eval.records.reply import Service

Decision = Literal["passed", "failed", "undecided"]


class GateResult(Record, frozen=True, kw_only=True):
    """A gate, the figure it met, and what follows."""

    gate: Gate
    value: float | None
    interval: Interval | None = None
    decision: Decision
    sentence: str


Conclusion = Literal["passed", "failed", "undecided", "refused", "broken", "stopped"]


class Outcome(Record, frozen=True, kw_only=True):
    """How it ended: the conclusion, the stage it ended in, one sentence, and the exit code."""

    conclusion: Conclusion
    exit_code: int
    stage: str
    sentence: str
    detail: str = ""
    folder: str | None = None
    about: tuple[str, int] | None = None
    """File of the adapter, and its line, where the cure is to be applied."""


class Report(Record, frozen=True, kw_only=True):
    """All that a reader wants to know of a run; `reporting` renders it to files and pages."""

    plan: RunPlan
    outcome: Outcome
    sheets: tuple[Sheet, ...]
    gates: tuple[GateResult, ...] = ()
    comparison: Comparison | None = None
    """With the baseline, where there is one and the run is a verdict."""
    service: Service | None = None
    seconds: dict[str, float] = {}
    """Stage → wall seconds."""
    started: str
    finished: str
    environment: dict[str, str] = {}
