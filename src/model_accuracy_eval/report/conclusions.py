"""How each conclusion is shown on GitHub: one table for the comment, the check and the commit status.

GitHub lets `neutral` and `skipped` satisfy a required check, so only a run that came to its end and had no gate to fail
is one of them; who wants a verdict sets `require-gate`. A commit status has no word for that, so it says success, and
its description that there was no gate.
"""

from model_accuracy_eval.errors import Defect, EvalError, Refused, Stopped, UsageError
from model_accuracy_eval.records import Conclusion, Outcome, Record, Report
from model_accuracy_eval.records.github import CheckConclusion, StatusState
from model_accuracy_eval.report import figures, markdown
from model_accuracy_eval.scoring.figures import groups


class ConclusionText(Record, frozen=True, kw_only=True):
    """One row of the table."""

    mark: str
    words: str
    check: CheckConclusion
    status: StatusState


CONCLUSIONS: dict[Conclusion, ConclusionText] = {
    "passed": ConclusionText(mark="✅", words="Passed", check="success", status="success"),
    "failed": ConclusionText(mark="❌", words="Failed", check="failure", status="failure"),
    "undecided": ConclusionText(mark="❔", words="Undecided", check="action_required", status="failure"),
    "complete": ConclusionText(mark="☑️", words="Complete, no gate", check="neutral", status="success"),
    "refused": ConclusionText(mark="⛔", words="Not started", check="action_required", status="error"),
    "broken": ConclusionText(mark="💥", words="Infrastructure failure, no verdict", check="failure", status="error"),
    "stopped": ConclusionText(mark="⏹️", words="Cancelled", check="cancelled", status="error"),
}


_NOT_OF_THE_INFRASTRUCTURE = {UsageError.exit_code, Defect.exit_code}
"""Exit codes of runs without a verdict that ended by what they were given, or by a defect of this program."""


def error_outcome(error: EvalError) -> Outcome:
    """The outcome of a run that ended with an error before there was a report."""
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
        next_step=error.next_step,
    )


def outcome(result: Report | Outcome) -> Outcome:
    return result.outcome if isinstance(result, Report) else result


def words(result: Report | Outcome) -> str:
    """How the run ended, in the words of every heading; a run without a gate says what it came to instead."""
    ending = outcome(result)
    if ending.conclusion == "broken" and ending.exit_code in _NOT_OF_THE_INFRASTRUCTURE:
        return "No verdict"
    if ending.conclusion != "complete" or not isinstance(result, Report):
        return CONCLUSIONS[ending.conclusion].words
    if result.plan.shard is not None:
        return f"Complete: shard {result.plan.shard}"
    if result.plan.settings.mode == "infer":
        return "Complete: asked, not judged"
    return _without_gate(result)


def _without_gate(report: Report) -> str:
    results, title = report.dataset_results, ""
    rows = results[0].rows if results else ()
    if len(results) > 1:
        title = groups.of_all(report.plan.groups, [result.dataset for result in results])
        rows = tuple(row for row in groups.all_rows(report.plan.groups, results) if row.dataset == title)
    known = [(place, row) for place, row in enumerate(rows) if row.value is not None]
    if not known:
        several = f"Complete: {title or f'{len(results)} datasets'}, no gate"
        return several if len(results) > 1 else CONCLUSIONS["complete"].words
    place, row = known[0]
    # A figure other than a dataset's first one, or one that is no share, is not known by its number alone.
    name = f"{row.metric} " if place or not row.share else ""
    lost = f", {row.bounds.samples:,} without a verdict" if row.bounds is not None else ""
    return f"Complete: {f'{title} ' * bool(title)}{name}{figures.with_unit(row)}{lost}, no gate"


def title(result: Report | Outcome, longest: int = 255) -> str:
    """One line without markup: a check's title (255 characters), a status's description (140)."""
    heading = words(result)
    between = ". " if ":" in heading else ": "
    return markdown.clip(f"{heading}{between}{' '.join(outcome(result).sentence.split())}", longest)
