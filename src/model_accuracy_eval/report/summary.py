"""`summary/summary_<stamp>.{csv,md,txt}` as AISBench writes them, except that CSV cells are quoted where needed."""

import csv
import io
from collections.abc import Iterable, Sequence

from model_accuracy_eval.records import Counts, DatasetResult, FigureBounds, Interval, Report, SummaryRow
from model_accuracy_eval.scoring.figures import groups, intervals

HEAD = ("dataset", "version", "metric", "mode")
BOUNDS = "least .. greatest"
"""The title of the limits of figures of which samples have no verdict."""
_MANY_DIGITS = 1e7
"""Figures that are not shares are shown with three digits from here on."""


def table(rows: Sequence[SummaryRow], label: str) -> list[tuple[str, ...]]:
    """Header and lines, numbers with two digits, `-` where there is no figure.

    AISBench has no column for the limits of a figure; there is one only where samples have no verdict.
    """
    lines = [(row.dataset, row.version, row.metric, row.mode, shown(row)) for row in rows]
    if not any(row.bounds for row in rows):
        return [(*HEAD, label), *lines]
    return [(*HEAD, label, BOUNDS), *((*line, range_of(row.bounds)) for line, row in zip(lines, rows, strict=True))]


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def shown(row: SummaryRow) -> str:
    """A figure with two digits; an estimate from a part of the dataset is marked."""
    return f"≈ {number(row.value)}" if row.estimated and row.value is not None else number(row.value)


def with_unit(row: SummaryRow) -> str:
    """A figure; shares are per cent, and nothing else is."""
    if row.value is not None and not row.share and abs(row.value) >= _MANY_DIGITS:
        return f"{row.value:.3g}"
    return shown(row) + (" %" if row.share and row.value is not None else "")


def if_asked_again(row: SummaryRow) -> str:
    """Between what the figure would lie, with 95 %, if the same problems were asked again; the interval beside it is
    that of other problems of the kind."""
    if row.value is None or row.estimated or (row.certainty is None and row.drawn):
        return "-"
    if row.certainty is None or not row.drawn:
        return "the same"
    return span(intervals.limits(row.certainty, "reruns", 0.975))


def span(interval: Interval | None) -> str:
    """An interval for people."""
    return "-" if interval is None else f"{interval.low:.2f} .. {interval.high:.2f}"


def range_of(bounds: FigureBounds | None) -> str:
    """The limits of a figure for people; a figure without any is exact."""
    if bounds is None:
        return "-"
    if bounds.low is None and bounds.high is None:
        return "anything"
    if bounds.high is None:
        return f">= {number(bounds.low)}"
    return f"<= {number(bounds.high)}" if bounds.low is None else f"{bounds.low:.2f} .. {bounds.high:.2f}"


def bounds(rows: Iterable[SummaryRow]) -> dict[str, FigureBounds]:
    """Figure → its limits, where samples have no verdict."""
    return {row.metric: row.bounds for row in rows if row.bounds is not None}


def estimates(rows: Iterable[SummaryRow]) -> dict[str, float]:
    """Figure → its estimate from a part of the dataset."""
    return {row.metric: row.value for row in rows if row.estimated and row.value is not None}


def chances(rows: Iterable[SummaryRow]) -> dict[str, float]:
    """Figure → what guessing would give, where it can be said."""
    return {row.metric: row.chance for row in rows if row.chance is not None}


COUNTED_TROUBLE = {
    "rejected": "rejected",
    "failed": "failed",
    "missing": "missing",
    "cut": "cut by length",
    "empty": "empty",
    "not_found": "with no answer found",
    "unjudged": "not judged",
    "cropped": "with a cropped context",
    "unneeded": "not needed",
    "unfinished": "still calling tools at the end",
}
"""Fields of `Counts` that a reader of figures must know if they are not 0, and how they are called."""


def count_remarks(counts: Counts) -> list[str]:
    """What went wrong with a dataset's samples, for example "3 failed"; nothing that is 0."""
    return [f"{number} {what}" for field, what in COUNTED_TROUBLE.items() if (number := getattr(counts, field))]


def all_rows(report: Report) -> list[SummaryRow]:
    """Every dataset's rows, then every group's; a dataset without any figure has one row that says so."""
    rows = [row for result in report.dataset_results for row in (result.rows or (_blank(result),))]
    return [*rows, *groups.all_rows(report.plan.groups, report.dataset_results)]


def _blank(result: DatasetResult) -> SummaryRow:
    return SummaryRow(dataset=result.dataset, version=result.version, metric="-", mode="-", value=None)


def as_csv(cells: Sequence[Sequence[str]]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(cells)
    return target.getvalue()


def as_markdown(cells: Sequence[Sequence[str]]) -> str:
    head, *lines = [[cell.replace("|", "\\|") for cell in line] for line in cells]
    rule = "|" + "|".join(["----- "] + [" ----- "] * (len(head) - 2) + [" -----"]) + "|"
    return "\n".join([_markdown_line(head), rule, *map(_markdown_line, lines)]) + "\n"


def _markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_plain(cells: Sequence[Sequence[str]]) -> str:
    """Columns with two blanks between them, above a dashed rule; the last column is aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    head, *lines = cells

    def spread(line: Sequence[str]) -> str:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        return "  ".join([*padded[:-1], line[-1].rjust(widths[-1])])

    return "\n".join([spread(head), "  ".join("-" * width for width in widths), *map(spread, lines)])


def as_text(report: Report) -> str:
    """The three formats one below the other, and the raw figures."""
    cells = table(all_rows(report), report.plan.settings.label)
    raw = [f"{'-' * 31}\nModel: {report.plan.settings.label}"]
    raw += [
        f"{result.dataset}: { ({row.metric: row.value for row in result.rows}) }" for result in report.dataset_results
    ]
    parts = {
        "tabulate format": as_plain(cells),
        "csv format": as_csv(cells).rstrip("\n"),
        "markdown format": as_markdown(cells).rstrip("\n"),
        "raw format": "\n".join(raw),
    }
    divider = f"\n{'-' * 128} THIS IS A DIVIDER {'-' * 128}\n\n"
    blocks = [f"{name}\n{'^' * 128}\n{body}\n{'$' * 128}\n" for name, body in parts.items()]
    return f"{report.plan.stamp}\n{divider.join(blocks)}"
