"""Every figure of a report, a row each: its name, its text, and where it is shown.

`COLUMNS` has the figures of a line, which is one metric of one dataset, and `FIGURES` those of a dataset. All that
renders a report goes through them, so a new figure is a field of its record and a row here.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.records import (
    Counts,
    DatasetResult,
    FigureBounds,
    Interval,
    Report,
    RunSpeed,
    SpeedFigure,
    Spread,
    SummaryRow,
)
from model_accuracy_eval.report.languages import say
from model_accuracy_eval.scoring.figures import groups, intervals

_MANY_DIGITS = 1e7
"""Figures that are not shares are shown with three digits from here on."""

# Texts of numbers.


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
    limits = intervals.asked_again(row.certainty)
    return span(limits) if limits else "unknown"


def span(interval: Interval | None) -> str:
    """An interval for people."""
    return "-" if interval is None else f"{interval.low:.2f} .. {interval.high:.2f}"


def signed(points: float) -> str:
    """Two digits with a sign; zero has none."""
    return f"{points:+.2f}" if abs(points) >= 0.005 else "0.00"


def range_of(bounds: FigureBounds | None, number: Callable[[float], str] = number) -> str:
    """The limits of a figure for people; a figure without any is exact."""
    if bounds is None:
        return "-"
    if bounds.low is None:
        return "anything" if bounds.high is None else f"<= {number(bounds.high)}"
    return f">= {number(bounds.low)}" if bounds.high is None else f"{number(bounds.low)} .. {number(bounds.high)}"


# The figures of a line.

Place = Literal["summary", "terminal", "page", "export"]


class TableColumn(NamedTuple):
    """One figure of each line."""

    name: str
    text: Callable[[SummaryRow], str]
    shown: tuple[Place, ...]
    where_telling: tuple[Place, ...] = ()
    """Places that show it only where it says more of a line than `-` or `gen`."""


VALUE = "value"
COLUMNS = (
    TableColumn("dataset", attrgetter("dataset"), ("summary", "terminal", "page")),
    TableColumn("version", attrgetter("version"), ("summary", "page")),
    TableColumn("metric", attrgetter("metric"), ("summary", "terminal", "page")),
    TableColumn("mode", attrgetter("mode"), ("summary", "page"), ("terminal",)),
    TableColumn(VALUE, shown, ("summary", "terminal", "page")),
    # Samples have no verdict. AISBench has no such column, and the page shows it below the value.
    TableColumn("least .. greatest", lambda row: range_of(row.bounds), (), ("summary", "terminal")),
    TableColumn("95 % interval", lambda row: span(row.interval), ("terminal", "page", "export")),
    TableColumn("if asked again", if_asked_again, ("terminal", "page", "export")),
    # Beside the strict figure, which counts replies that were cut as they are.
    TableColumn("uncut", lambda row: number(row.finished), (), ("page", "export")),
    # Rows that nobody has compared with those of a release; said only where there are such.
    TableColumn(
        "rows",
        lambda row: "unpinned" if row.unpinned else "-",
        (),
        ("summary", "terminal", "page", "export"),
    ),
    # Replies of a run whose files are not as it left them, which whoever read them was told.
    TableColumn(
        "replies",
        lambda row: "unverified" if row.unverified else "-",
        (),
        ("summary", "terminal", "page", "export"),
    ),
)


def columns(rows: Sequence[SummaryRow], place: Place) -> list[TableColumn]:
    """Those that a place shows of these lines."""
    telling = (column for column in COLUMNS if place in column.where_telling)
    said = [column for column in telling if any(column.text(row) not in {"-", "gen"} for row in rows)]
    return [column for column in COLUMNS if place in column.shown or column in said]


def table(rows: Sequence[SummaryRow], label: str = VALUE, place: Place = "summary") -> list[tuple[str, ...]]:
    """Header and lines, numbers with two digits, `-` where there is no figure; `label` stands above the values."""
    chosen = columns(rows, place)
    if place == "summary":  # which programs read
        head = tuple(label if column.name == VALUE else column.name for column in chosen)
        return [head, *(tuple(column.text(row) for column in chosen) for row in rows)]
    head = tuple(label if column.name == VALUE != label else say(column.name) for column in chosen)
    return [head, *(tuple(_said(column.text(row)) for column in chosen) for row in rows)]


def _said(cell: str) -> str:
    return say(cell) if cell in {"the same", "unknown", "unpinned", "unverified"} else cell


def all_rows(report: Report) -> list[SummaryRow]:
    """Every dataset's rows, then every group's; a dataset without any figure has one row that says so."""
    rows = [row for result in report.dataset_results for row in (result.rows or (_blank(result),))]
    by_name = {group.name: group for group in report.plan.groups}
    unpinned, unverified = ({row.dataset for row in rows if getattr(row, mark)} for mark in ("unpinned", "unverified"))
    for row in groups.all_rows(report.plan.groups, report.dataset_results):
        members = set(groups.datasets(by_name[row.dataset], by_name))
        rows.append(replace(row, unpinned=bool(members & unpinned), unverified=bool(members & unverified)))
    return rows


def _blank(result: DatasetResult) -> SummaryRow:
    return SummaryRow(dataset=result.dataset, version=result.version, metric="-", mode="-", value=None)


# The figures of a dataset.

FigureUnit = Literal["samples", "answered samples", "seconds", "tokens a reply", "tokens"]
Where = Literal["page", "remarks", "comparison"]


class Figure(NamedTuple):
    """One figure of each dataset, a field of its `Counts` or its `Speed`."""

    unit: FigureUnit
    field: str
    name: str
    """As sentences have it: 3 failed."""
    shown: tuple[Where, ...]
    """`remarks`: on terminal, comment, check and in exports, where it is not 0."""
    tone: Literal["", "loud", "hint"] = ""
    """How the page marks it where it is not 0."""
    title: str = ""
    """Above its column, if that is not the name."""


_EVERYWHERE: tuple[Where, ...] = ("page", "remarks", "comparison")
_IN_SENTENCES: tuple[Where, ...] = ("remarks", "comparison")
FIGURES = (
    Figure("samples", "planned", "planned", ("page",)),
    Figure("samples", "answered", "answered", ("page",)),
    Figure("samples", "rejected", "rejected", _EVERYWHERE, "loud"),
    Figure("samples", "failed", "failed", _EVERYWHERE, "loud"),
    Figure("samples", "missing", "missing", _EVERYWHERE, "loud"),
    Figure("answered samples", "cut", "cut by length", _EVERYWHERE, "hint"),
    Figure("answered samples", "anomalous", "with anomalies", _EVERYWHERE, "loud", title="anomalies"),
    Figure("answered samples", "empty", "empty", _EVERYWHERE, "hint"),
    Figure("answered samples", "reasoning_only", "with a thought only", _EVERYWHERE, "hint", title="thought only"),
    Figure("answered samples", "with_media", "with sound or pictures", ("page",), title="sound or pictures"),
    Figure("answered samples", "audio_only", "answered in audio only", _IN_SENTENCES),
    Figure("answered samples", "not_found", "with no answer found", _EVERYWHERE, "hint", title="no answer found"),
    Figure("answered samples", "unjudged", "not judged", _IN_SENTENCES),
    Figure("answered samples", "cropped", "with a cropped context", _IN_SENTENCES),
    Figure("samples", "unneeded", "not needed", _IN_SENTENCES),
    Figure("answered samples", "unfinished", "still calling tools at the end", _IN_SENTENCES),
    Figure("seconds", "ttft", "First text", ("page", "comparison"), title="time to first text"),
    Figure("seconds", "e2e", "Whole answer", ("page", "comparison"), title="whole answer"),
    Figure("seconds", "gap", "Gap between chunks", ("page",), title="gap between chunks"),
    Figure("tokens a reply", "thought", "Tokens of thought", ("page", "comparison"), title="tokens of thought"),
    Figure("tokens a reply", "answer", "Tokens of answer", ("page", "comparison"), title="tokens of answer"),
    Figure("tokens", "prompt_tokens", "prompt tokens", ("page",)),
    Figure("tokens", "completion_tokens", "completion tokens", ("page",)),
)


RUN_FIGURES = {
    "to the first token {} ms (p50) and {} ms (p95)": ("ttft_p50", "ttft_p95"),
    "between tokens {} and {} ms": ("tpot_p50", "tpot_p95"),
    "to the end {} and {} ms": ("e2e_p50", "e2e_p95"),
    "{} tokens/s": ("tokens_per_s",),
    "{} requests/s": ("requests_per_s",),
}
"""How fast the service was over all datasets: words with a place for each of these `RunSpeed.figures`."""


def run_speed(speed: RunSpeed | None) -> str:
    """What is known, as a sentence; empty where too little was asked to say more than that."""
    if speed is None or all(figure.stderr is None for figure in speed.figures.values()):
        return ""
    told = [
        say(words).format(*(_with_spread(speed.figures[field]) for field in fields))
        for words, fields in RUN_FIGURES.items()
        if all(field in speed.figures for field in fields)
    ]
    sentence = say(
        "Speed ({requests} requests in {seconds} s, {count} at once): {figures}."
        if speed.shards == 1
        else "Speed (mean of {shards} shards; {requests} requests in {seconds} s, {count} at once each): {figures}.",
        shards=speed.shards,
        requests=f"{speed.requests:,}",
        seconds=f"{speed.seconds:,.1f}",
        count=f"{speed.under_way:,.1f}",
        figures=", ".join(told),
    )
    limited = say("No gate is decided on these: {why}.", why=speed.limited) if speed.limited else ""
    return f"{sentence} {limited}".rstrip()


def _with_spread(figure: SpeedFigure) -> str:
    digits = 0 if figure.value >= 100 else 1 if figure.value >= 10 else 2
    reach = "" if figure.stderr is None else f" ± {intervals.Z95 * figure.stderr:,.{digits}f}"
    return f"{figure.value:,.{digits}f}{reach}"


def of_units(where: Where, *units: FigureUnit) -> list[Figure]:
    return [figure for figure in FIGURES if where in figure.shown and figure.unit in units]


def count_remarks(counts: Counts) -> list[str]:
    """What went wrong with a dataset's samples, for example "3 failed"; nothing that is 0."""
    figures = of_units("remarks", "samples", "answered samples")
    return [
        say("{count} {what}", count=count, what=say(figure.name))
        for figure in figures
        if (count := getattr(counts, figure.field))
    ]


def answered(counts: Counts) -> str:
    return say("{answered} of {planned} samples answered", answered=counts.answered, planned=counts.planned)


def counts_compared(old: Counts, new: Counts) -> str:
    """The numbers of samples before and now, where they are not the same."""
    pairs = [
        (getattr(old, figure.field), getattr(new, figure.field), figure.name)
        for figure in of_units("comparison", "samples", "answered samples")
    ]
    pairs = [(old.planned, new.planned, "planned"), *pairs]
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    return ", ".join(say("{count} {what}", count=f"{old} → {new}", what=say(name)) for old, new, name in changed)


def spreads(result: DatasetResult) -> list[tuple[str, Spread | None, FigureUnit]]:
    """The page's table of durations and lengths: names and what is known. Replies without thoughts have no lengths."""
    known = [
        (figure.title, getattr(result.speed, figure.field), figure.unit)
        for figure in of_units("page", "seconds", "tokens a reply")
    ]
    return [each for each in known if each[1] is not None or each[2] == "seconds"]


def tokens(result: DatasetResult) -> str:
    """What the service has counted; a sum that lacks requests says so."""
    numbers = [(getattr(result.speed, figure.field), figure.name) for figure in of_units("page", "tokens")]
    counted = ", ".join(
        say("{count} {what}", count="–" if count is None else f"{count:,}", what=say(name)) for count, name in numbers
    )
    if not (uncounted := result.speed.uncounted):
        return counted
    return say(
        "{counted} without those of {count} requests, of which the service counted none, or one choice of several",
        counted=counted,
        count=f"{uncounted:,}",
    )
