"""The figures in a comment: the table for readers, and a packed copy in the hidden marker for the next run's comment.

The table shows the figures of an earlier run, read from such a marker or from a baseline, beside the new ones. Anyone
who may edit the comment can edit the marker, so what is read from it is limited, checked and shown as untrusted text.
"""

import base64
import binascii
import hashlib
import math
import re
import zlib
from collections.abc import Iterator, Sequence

import msgspec

from model_accuracy_eval.records import Comparison, DatasetResult, Record, Report, SamplingSetting, SummaryRow
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.report import figures, markdown, page_charts
from model_accuracy_eval.report.comparison import points, points_interval
from model_accuracy_eval.report.figures import VALUE, Column, signed
from model_accuracy_eval.report.markdown import MarkdownPart

_LONGEST_MARKER = 12_000
_LARGEST_UNPACKED = 200_000
_MARKER = re.compile(rf"\A<!-- model-accuracy-eval ([0-9a-f]{{16}})(?: ([A-Za-z0-9+/=]{{1,{_LONGEST_MARKER}}}))? -->")
_ROWS_SHOWN = 20
_PARTS_SHOWN = 3
_VISIBLE = 0.005
"""Smaller changes are shown as 0.00."""


class Figure(Record, frozen=True, kw_only=True):
    """One row's value, and what makes it comparable."""

    dataset: str
    version: str
    metric: str
    value: float
    exact: bool = True
    """Whether every sample has a verdict."""


class Figures(Record, frozen=True, kw_only=True):
    """The figures of one run; `of` names the run for readers, for example by the short form of its commit."""

    of: str = ""
    sampling: SamplingSetting = "server"
    rows: tuple[Figure, ...] = ()

    def find(self, row: SummaryRow) -> Figure | None:
        """The same metric of the same dataset, of whatever version."""
        return next((old for old in self.rows if (old.dataset, old.metric) == (row.dataset, row.metric)), None)


def of_report(report: Report, of: str) -> Figures | None:
    """None when the run has no verdict: later runs must not be compared with incomplete figures."""
    if not is_verdict(report.outcome.conclusion):
        return None
    figures = _figures(
        of,
        (
            (row.dataset, row.version, row.metric, row.value, row.bounds is None)
            for result in report.dataset_results
            for row in result.rows
            if not row.estimated
        ),
    )
    return figures and msgspec.structs.replace(figures, sampling=report.plan.settings.sampling)


def of_baseline(report: Report) -> Figures | None:
    """The baseline's figures, if the run was compared with one."""
    if report.comparison is None:
        return None
    return _figures(
        report.comparison.base[:12],
        (
            (change.dataset, change.old_version, difference.metric, difference.old, difference.bounds is None)
            for change in report.comparison.changes
            for difference in change.differences
        ),
    )


def _figures(of: str, rows: Iterator[tuple[str, str, str, float | None, bool]]) -> Figures | None:
    figures = tuple(
        Figure(
            dataset=markdown.valid_unicode(dataset),
            version=version,
            metric=markdown.valid_unicode(metric),
            value=value,
            exact=exact,
        )
        for dataset, version, metric, value, exact in rows
        if value is not None
    )
    return Figures(of=markdown.valid_unicode(of), rows=figures) if figures else None


def key_of(*parts: str) -> str:
    """Names a comment among several of ours on one pull request: the same parts, the same comment."""
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def marker(key: str, figures: Figures | None) -> str:
    """The first line of the comment. Base64 has no dash, so nothing in it can end an HTML comment."""
    rows = figures.rows if figures else ()
    while figures and rows:
        packed = zlib.compress(msgspec.json.encode(msgspec.structs.replace(figures, rows=rows)), 9)
        encoded = base64.b64encode(packed).decode()
        if len(encoded) <= _LONGEST_MARKER:
            return f"<!-- model-accuracy-eval {key} {encoded} -->"
        rows = rows[: len(rows) // 2]
    return f"<!-- model-accuracy-eval {key} -->"


def is_ours(body: str, key: str) -> bool:
    """Whether the body starts with the marker of this key. Check the author as well: anyone can write a marker."""
    match = _MARKER.match(body)
    return match is not None and match[1] == key


def read(body: str) -> Figures | None:
    """The figures in a comment's marker; None when there are none, or when they are damaged or impossible."""
    match = _MARKER.match(body)
    if not match or not match[2]:
        return None
    try:
        packed = base64.b64decode(match[2], validate=True)
        unpacker = zlib.decompressobj()
        source = unpacker.decompress(packed, _LARGEST_UNPACKED)
        figures = msgspec.json.decode(source, type=Figures)
    except (binascii.Error, zlib.error, msgspec.DecodeError, ValueError, RecursionError):
        return None
    possible = unpacker.eof and all(math.isfinite(row.value) and -1e9 < row.value < 1e9 for row in figures.rows)
    return figures if possible else None


def table(
    rows: Sequence[SummaryRow], label: str, before: Figures | None, comparison: Comparison | None = None
) -> MarkdownPart:
    """The summary's table with intervals, and the change to the figures of `before`.

    `comparison` is the one with the baseline, if `before` is the baseline's; it adds the intervals of the changes.
    """
    columns = figures.columns(rows, "comment")
    head = [markdown.text(label, 60) if column.name == VALUE else column.name for column in columns]
    rule = ["---" if column.longest else "--:" for column in columns]
    if before:
        word = "baseline" if comparison else "before"
        head += [f"{word}{f' ({markdown.code(before.of[:20])})' if before.of else ''}", "change"]
        rule += ["--:", "--:"]
    lines = tuple(
        _line([*(_cell(column, row) for column in columns), *_change(row, before, comparison)]) for row in rows
    )
    return MarkdownPart(
        title="Figures", lines=lines, rank=0, shown=_ROWS_SHOWN, head=(_line(head), _line(rule)), heading=False
    )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(column: Column, row: SummaryRow) -> str:
    cell = column.text(row)
    if column.longest and cell != "-":
        return markdown.text(cell, column.longest)
    if column.name != VALUE or row.value is None:
        return cell
    return f"**{cell}**{f' ({figures.range_of(row.bounds)})' if row.bounds else ''}"


def _change(row: SummaryRow, before: Figures | None, comparison: Comparison | None) -> list[str]:
    """Figures of different versions answer different questions, so there is no difference between them."""
    if before is None:
        return []
    paired = comparison.find(row.dataset, row.metric) if comparison else None
    if paired is not None and paired.interval is not None:
        return [figures.number(paired.old), f"{points(paired)} ({points_interval(paired)})"]
    if paired is not None and paired.bounds is not None:
        return [figures.number(paired.old), points(paired)]
    old = before.find(row)
    if old is None:
        return ["-", "-"]
    points_since = _points(row, before, comparison)
    return [figures.number(old.value), "-" if points_since is None else signed(points_since)]


def changed(rows: Sequence[SummaryRow], before: Figures | None, comparison: Comparison | None) -> str:
    """One line on what changed; empty where nothing can be compared."""
    differences = [(row, points) for row in rows if before and (points := _points(row, before, comparison)) is not None]
    if not before or not differences:
        return ""
    rose = sum(points >= _VISIBLE for _, points in differences)
    fell = sum(points <= -_VISIBLE for _, points in differences)
    against = f"the {'baseline' if comparison else 'run before'} {markdown.code(before.of[:20])}".rstrip()
    line = f"Against {against}: {rose} of {len(differences)} figures rose and {fell} fell"
    row, points = max(differences, key=lambda difference: abs(difference[1]))
    if abs(points) < _VISIBLE:
        return f"{line}."
    name, metric = markdown.text(row.dataset, 100), markdown.text(row.metric, 60)
    return f"{line}, most of all {name} {metric}: {signed(points)}."


def _points(row: SummaryRow, before: Figures, comparison: Comparison | None) -> float | None:
    """The change that the table shows; None where it shows none."""
    paired = comparison.find(row.dataset, row.metric) if comparison else None
    if paired is not None and (paired.interval is not None or paired.bounds is not None):
        return paired.points if paired.bounds is None else None
    old = before.find(row)
    if old is None or old.version != row.version or row.value is None or row.estimated or row.bounds or not old.exact:
        return None
    return round(row.value, 2) - round(old.value, 2)


def lowest_parts(results: Sequence[DatasetResult]) -> MarkdownPart:
    """The parts of all datasets with the lowest figures."""
    parts = [(chart.dataset, part) for chart in page_charts.parts(results) for part in chart.shown]
    lowest = sorted(parts, key=lambda item: item[1].value)[:_PARTS_SHOWN]
    lines = tuple(
        f"- {markdown.text(dataset, 100)}, {markdown.text(part.name, 100)}: "
        f"**{figures.number(part.value)}** ({figures.span(part.interval)}), "
        f"{part.problems} problem{'' if part.problems == 1 else 's'}"
        for dataset, part in lowest
    )
    return MarkdownPart(title="Lowest parts", lines=lines, rank=2, shown=_PARTS_SHOWN)


def comparable(report: Report, before: Figures | None) -> Figures | None:
    """The earlier figures, unless their samples were drawn in another way."""
    return before if before and before.sampling == report.plan.settings.sampling else None


def other_sampling(report: Report, before: Figures | None) -> Iterator[str]:
    """A line that says why the earlier figures are not shown."""
    if before and not comparable(report, before):
        yield (
            f"- The earlier run had --sampling {before.sampling}, and this one has --sampling "
            f"{report.plan.settings.sampling}, so its figures are not comparable and no change is shown."
        )


def other_versions(report: Report, before: Figures | None) -> Iterator[str]:
    """Lines that say which datasets had another version in the earlier run."""
    for result in report.dataset_results:
        versions = {old.version for old in (before.rows if before else ()) if old.dataset == result.dataset}
        if versions and result.version not in versions:
            name, version = markdown.text(result.dataset, 100), markdown.text(result.version, 20)
            earlier = markdown.text(" and ".join(sorted(versions)), 40)
            yield f"- {name} is version {version} and was {earlier}: the questions differ, so no change is shown."
