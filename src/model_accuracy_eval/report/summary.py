"""`summary/summary_<stamp>.{csv,md,txt}` as AISBench writes them, except that CSV cells are quoted where needed."""

import csv
import io
from collections.abc import Sequence

from model_accuracy_eval.records import Report
from model_accuracy_eval.report.figures import all_rows, table


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
