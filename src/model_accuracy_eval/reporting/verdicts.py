"""How a conclusion is told to GitHub: one table for the comment, the check and the commit status.

`neutral` and `skipped` satisfy a required check, so nothing that is no pass may ever be one of them.
"""

from typing import Literal

from model_accuracy_eval.errors import EvalError, Refused, Stopped, UsageError
from model_accuracy_eval.records import Conclusion, Outcome, Record, Report
from model_accuracy_eval.reporting import foreign

CheckConclusion = Literal["success", "failure", "action_required", "cancelled"]
StatusState = Literal["success", "failure", "error"]


class Verdict(Record, frozen=True, kw_only=True):
    """One row of the table."""

    mark: str
    words: str
    check: CheckConclusion
    status: StatusState


VERDICTS: dict[Conclusion, Verdict] = {
    "passed": Verdict(mark="✅", words="Passed", check="success", status="success"),
    "failed": Verdict(mark="❌", words="Failed", check="failure", status="failure"),
    "undecided": Verdict(mark="❔", words="Undecided", check="action_required", status="failure"),
    "refused": Verdict(mark="⛔", words="Not started", check="action_required", status="error"),
    "broken": Verdict(mark="💥", words="Infrastructure failure, no verdict", check="failure", status="error"),
    "stopped": Verdict(mark="⏹️", words="Cancelled", check="cancelled", status="error"),
}


def outcome_of(error: EvalError) -> Outcome:
    """What an error that left no report has to say."""
    conclusion: Conclusion = "broken"
    if isinstance(error, (Refused, UsageError)):
        conclusion = "refused"
    elif isinstance(error, Stopped):
        conclusion = "stopped"
    return Outcome(
        conclusion=conclusion,
        exit_code=error.exit_code,
        stage=error.stage,
        sentence=error.sentence,
        detail=error.detail,
        about=error.about,
    )


def outcome(told: Report | Outcome) -> Outcome:
    return told.outcome if isinstance(told, Report) else told


def title(told: Report | Outcome, longest: int = 255) -> str:
    """One line without markup: a check's title (255 characters), a status's description (140)."""
    ended = outcome(told)
    words = f"{VERDICTS[ended.conclusion].words}: {' '.join(ended.sentence.split())}"
    return foreign.clip(words, longest)
