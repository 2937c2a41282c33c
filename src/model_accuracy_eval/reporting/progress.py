"""The progress of a run as its check shows it: a title for the list of checks, a summary for the check's page."""

from collections.abc import Mapping

from model_accuracy_eval.records import Counts, Record
from model_accuracy_eval.reporting import untrusted_text
from model_accuracy_eval.reporting.summary import count_remarks

_STAGES = {
    "prepare": "Preparing",
    "preflight": "Checking the data, the adapter and the weights",
    "weights": "Fetching the weights",
    "deploy": "Deploying the adapter",
    "infer": "Asking",
    "score": "Scoring",
}


class DatasetProgress(Record, frozen=True, kw_only=True):
    """The samples of one dataset so far."""

    counts: Counts
    rate: float = 0.0
    """Samples a second, those of an earlier run not counted."""
    figure: str = ""
    """As far as there is one."""


def title(stage: str, datasets: Mapping[str, DatasetProgress], group: str = "") -> str:
    """One line without markup. `group`: what all datasets are of."""
    if stage != "infer" or not datasets:
        return _STAGES.get(stage, stage.capitalize())
    name = group or (next(iter(datasets)) if len(datasets) == 1 else f"{len(datasets)} datasets")
    sums = {
        field: sum(getattr(progress.counts, field) for progress in datasets.values())
        for field in Counts.__struct_fields__
    }
    return f"{untrusted_text.valid_unicode(name)}: {_answered(Counts(**sums))}"


def summary(stage: str, datasets: Mapping[str, DatasetProgress]) -> str:
    """Every dataset, with its rate."""
    lines = [
        f"- {untrusted_text.text(name, 100)}: {_answered(progress.counts)}, {progress.rate:,.1f}/s"
        + (f", {untrusted_text.text(progress.figure, 200)}" if progress.figure else "")
        for name, progress in datasets.items()
    ]
    return "\n".join([f"The evaluation is under way. Stage: {stage}.\n", *lines])


def _answered(counts: Counts) -> str:
    remarks = "".join(f", {remark}" for remark in count_remarks(counts))
    return f"{counts.answered:,} of {counts.planned:,} answered{remarks}"
