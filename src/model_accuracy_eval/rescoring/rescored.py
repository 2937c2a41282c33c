"""What rescoring a file gives: our figures beside the claimed ones, the counts, and where single samples differ."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import Counts, DatasetResult, Record, SummaryRow, TaskGroup
from model_accuracy_eval.rescoring.claims import ClaimedFigure
from model_accuracy_eval.rescoring.disagreements import Disagreement, DisagreementKind
from model_accuracy_eval.scoring.figures import groups as group_figures


class Rescored(Record, frozen=True, kw_only=True):
    """A file's replies, judged; of a file of lm-eval without a dataset, those of one filter."""

    name: str
    filter: str
    scoring: str
    problems: int
    """How many were judged."""
    samples: int
    """How many the file holds."""
    counts: Counts
    figures: tuple[ClaimedFigure, ...]
    rows: tuple[SummaryRow, ...]
    notes: tuple[str, ...]
    differing: int
    """How many samples have another value in the file."""
    kinds: dict[DisagreementKind, int]
    """The same by class."""
    disagreements: tuple[Disagreement, ...]
    """The first of them."""


def of_groups(groups: Sequence[TaskGroup], results: Sequence[DatasetResult]) -> Iterator[Rescored]:
    """The figures of groups of datasets, as a run has them."""
    for group in groups:
        rows = tuple(row for row in group_figures.all_rows(groups, results) if row.dataset == group.name)
        members = [result for result in results if result.dataset in group.members]
        yield Rescored(
            name=group.name,
            filter="none",
            scoring="the mean of its datasets",
            problems=sum(len(result.problem_results) for result in members),
            samples=sum(result.counts.planned - result.counts.missing for result in members),
            counts=Counts(),
            figures=tuple(ClaimedFigure(metric=row.metric, ours=row.value, claimed=None) for row in rows),
            rows=rows,
            notes=(),
            differing=0,
            kinds={},
            disagreements=(),
        )
