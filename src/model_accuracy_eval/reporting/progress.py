"""A run that is under way, as its check shows it: a title for the list of checks, a summary for its page."""

from collections.abc import Mapping

from model_accuracy_eval.records import Counts, Record
from model_accuracy_eval.reporting import foreign
from model_accuracy_eval.reporting.summary import remarkable

_STAGES = {
    "prepare": "Preparing",
    "preflight": "Checking the data, the adapter and the weights",
    "weights": "Fetching the weights",
    "deploy": "Deploying the adapter",
    "infer": "Asking",
    "score": "Scoring",
}


class Standing(Record, frozen=True, kw_only=True):
    """How far one dataset is."""

    counts: Counts
    rate: float = 0.0
    """Samples a second, of this run alone."""


def title(stage: str, standings: Mapping[str, Standing]) -> str:
    """One line without markup."""
    if stage != "infer" or not standings:
        return _STAGES.get(stage, stage.capitalize())
    name = next(iter(standings)) if len(standings) == 1 else f"{len(standings)} datasets"
    sums = {field: sum(getattr(one.counts, field) for one in standings.values()) for field in Counts.__struct_fields__}
    return f"{foreign.sound(name)}: {_answered(Counts(**sums))}"


def summary(stage: str, standings: Mapping[str, Standing]) -> str:
    """Every dataset, with its rate."""
    lines = [
        f"- {foreign.text(name, 100)}: {_answered(standing.counts)}, {standing.rate:,.1f}/s"
        for name, standing in standings.items()
    ]
    return "\n".join([f"The evaluation is under way. Stage: {stage}.\n", *lines])


def _answered(counts: Counts) -> str:
    told = "".join(f", {part}" for part in remarkable(counts))
    return f"{counts.answered:,} of {counts.planned:,} answered{told}"
