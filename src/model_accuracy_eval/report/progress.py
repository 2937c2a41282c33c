"""The progress of a run as its check shows it: a title for the list of checks, a summary for the check's page."""

from model_accuracy_eval.records import Counts
from model_accuracy_eval.report import markdown
from model_accuracy_eval.report.figures import count_remarks
from model_accuracy_eval.report.run_pace import RunPace

_STAGES = {
    "prepare": "Preparing",
    "preflight": "Checking the data, the adapter and the weights",
    "weights": "Fetching the weights",
    "deploy": "Deploying the adapter",
    "infer": "Asking",
    "score": "Scoring",
}


def title(stage: str, pace: RunPace, group: str = "") -> str:
    """One line without markup. `group`: what all datasets are of."""
    if stage != "infer" or not pace.datasets:
        return _STAGES.get(stage, stage.capitalize())
    name = group or (next(iter(pace.datasets)) if len(pace.datasets) == 1 else f"{len(pace.datasets)} datasets")
    return f"{markdown.valid_unicode(name)}: {_answered(pace.counts)}"


def summary(stage: str, pace: RunPace, now: float) -> str:
    """Every dataset, with its rate."""
    lines = [
        f"- {markdown.text(name, 100)}: {_answered(one.counts)}, {one.rate(now)}"
        + (f", {markdown.text(figure, 200)}" if (figure := one.figure()) else "")
        for name, one in list(pace.datasets.items())
    ]
    return "\n".join([f"The evaluation is under way. Stage: {stage}.\n", *lines])


def _answered(counts: Counts) -> str:
    remarks = "".join(f", {remark}" for remark in count_remarks(counts))
    return f"{counts.answered:,} of {counts.planned:,} answered{remarks}"
