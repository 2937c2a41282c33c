"""Figures beside those of an earlier run: what changed, and where nothing can be said to have changed."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import Comparison, Report, Row
from model_accuracy_eval.reporting import compared, foreign, summary
from model_accuracy_eval.reporting.figures import Figures
from model_accuracy_eval.reporting.fitting import Part

_ROWS_SEEN = 20


def table(rows: Sequence[Row], before: Figures | None, comparison: Comparison | None = None) -> Part:
    """`comparison` is with the baseline that `before` comes from: its intervals stand beside the changes."""
    head = ["dataset", "metric", "value", "95 % interval"]
    rule = ["---", "---", "--:", "--:"]
    if before:
        word = "baseline" if comparison else "before"
        head += [f"{word}{f' ({foreign.code(before.of[:20])})' if before.of else ''}", "change"]
        rule += ["--:", "--:"]
    lines = tuple(_line(_cells(row, before, comparison)) for row in rows)
    return Part(title="Figures", lines=lines, rank=0, shown=_ROWS_SEEN, head=(_line(head), _line(rule)), heading=False)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, before: Figures | None, comparison: Comparison | None) -> list[str]:
    name = [foreign.text(row.dataset, 100), row.metric if row.metric == "-" else foreign.text(row.metric, 60)]
    value = summary.number(row.value)
    cells = [*name, f"**{value}**" if row.value is not None else value, summary.span(row.interval)]
    return cells if before is None else [*cells, *_change(row, before, comparison)]


def _change(row: Row, before: Figures, comparison: Comparison | None) -> list[str]:
    """Figures of different versions answer different questions, so no difference is told."""
    paired = comparison.find(row.dataset, row.metric) if comparison else None
    if paired is not None and paired.interval is not None:
        return [summary.number(paired.old), f"{compared.points(paired)} ({compared.span(paired)})"]
    old = before.find(row)
    if old is None:
        return ["-", "-"]
    if old.version != row.version or row.value is None:
        return [summary.number(old.value), "-"]
    difference = round(row.value, 2) - round(old.value, 2)
    return [summary.number(old.value), f"{difference:+.2f}" if abs(difference) >= 0.005 else "0.00"]


def remarks(report: Report) -> Iterator[str]:
    """What the comparison with the baseline has to say beside its figures."""
    if report.comparison:
        yield from (f"- {line}" for line in compared.lines(report.comparison))


def other_versions(report: Report, before: Figures | None) -> Iterator[str]:
    for sheet in report.sheets:
        olds = {old.version for old in (before.rows if before else ()) if old.dataset == sheet.dataset}
        if olds and sheet.version not in olds:
            yield (
                f"- {foreign.text(sheet.dataset, 100)} is version {foreign.text(sheet.version, 20)} and was "
                f"{foreign.text(' and '.join(sorted(olds)), 40)}: another question, so there is no change to tell."
            )
