"""What rescoring a file gives, as records and as text: our figures, the claimed ones, and where samples differ."""

from collections.abc import Iterator, Sequence

import msgspec

from model_accuracy_eval.records import Counts, DatasetResult, Record, SummaryRow, TaskGroup
from model_accuracy_eval.report import figures
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


_HEAD = ("metric", "ours", "95 %", "claimed", "difference")


def as_json(results: Sequence[Rescored]) -> str:
    return msgspec.json.format(msgspec.json.encode(results), indent=2).decode()


def as_text(results: Sequence[Rescored]) -> str:
    return "\n\n".join("\n".join(_lines(result)) for result in results)


def _lines(result: Rescored) -> Iterator[str]:
    title = result.name if result.filter == "none" else f"{result.name}, filter {result.filter}"
    yield f"{title}: {result.samples:,} samples of {result.problems:,} problems, judged by {result.scoring}"
    yield from _table(_HEAD, list(_cells(result)))
    for row in result.rows:
        if row.bounds:
            limits = figures.range_of(row.bounds)
            yield f"{row.metric}: {limits}, whatever the {row.bounds.samples:,} samples without a verdict would be"
    for figure in result.figures:
        if figure.why:
            yield f"{figure.metric}: {figure.why}"
    if result.counts.missing:
        yield f"{result.counts.missing:,} samples are not in the file and count as not correct."
    yield from result.notes
    yield from _disagreements(result)


def _cells(result: Rescored) -> Iterator[tuple[str, ...]]:
    intervals = {row.metric: row.interval for row in result.rows}
    for figure in result.figures:
        interval = intervals.get(figure.metric)
        both = figure.ours is not None and figure.claimed is not None
        yield (
            figure.metric,
            _number(figure.ours),
            f"{interval.low:.1f} – {interval.high:.1f}" if interval else "",
            _number(figure.claimed),
            f"{round((figure.ours or 0.0) - (figure.claimed or 0.0), 6) + 0.0:+.2f}" if both else "",
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _disagreements(result: Rescored) -> Iterator[str]:
    if not result.differing:
        return
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.kinds.items())
    yield f"{result.differing:,} of {result.samples:,} samples are judged differently ({kinds}), such as:"
    for sample in result.disagreements:
        answer = "nothing was read" if sample.answer is None else f"read {sample.answer[:60]!r}"
        values = f"the file says {sample.claimed:g}, we {sample.ours:g}"
        yield f"  problem {sample.problem}: {values} ({answer}, right is {sample.gold[-60:]!r})"
    if result.differing > len(result.disagreements):
        yield "--diff FILE lists them all, with the ends of the replies."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    for row in [head, *rows]:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([row[0].ljust(widths[0]), *numbers]).rstrip()
