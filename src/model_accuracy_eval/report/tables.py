"""`summary/summary_<stamp>.{csv,md,txt}` as AISBench writes them, except that CSV cells are quoted where needed."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import east_asian_width

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
    head, *lines = _aligned(cells)
    return "\n".join([head, _rule(cells), *lines])


def summary_as_text(report: Report) -> str:
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


# Tables of figures that fit a terminal: long names get lines of their own, and no figure is left out.


WIDTH = 80
Cells = Sequence[Sequence[str]]


def fitted(cells: Cells, width: int = WIDTH) -> str:
    """A head and lines; the first two columns are the dataset and its metric.

    Where they are too wide, each dataset stands above its lines, and a metric that is still too long above its figures.
    """
    head, *lines = ([*line] for line in cells)
    if _widest(_aligned([head, *lines])) <= width:
        return as_plain([head, *lines])
    indented = [["", *line[2:]] for line in (head, *lines)]
    room = width - _widest(_aligned(indented))
    return "\n".join(_folded(head, lines, max(room, len(head[1]) + 2)))


def _folded(head: Sequence[str], lines: Cells, room: int) -> Iterator[str]:
    """`room`: the columns that a metric may take, with two blanks before it."""
    below = [[f"  {line[1]}" if shown_width(line[1]) + 2 <= room else "", *line[2:]] for line in (head, *lines)]
    first, *aligned = _aligned(below)
    yield head[0]
    yield first
    yield _rule(below)
    place = 0
    for dataset, group in groupby(lines, key=lambda line: line[0]):
        yield dataset
        for line in group:
            if not below[place + 1][0]:
                yield f"  {line[1]}"
            yield aligned[place]
            place += 1


def shown_width(text: str) -> int:
    """Columns of a terminal: Chinese characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _widths(cells: Cells) -> list[int]:
    return [max(map(shown_width, column)) for column in zip(*cells, strict=True)]


def _aligned(cells: Cells) -> list[str]:
    """Two blanks between the columns; the last one is aligned to the right."""
    widths = _widths(cells)

    def spread(line: Sequence[str]) -> str:
        blanks = [" " * (width - shown_width(cell)) for cell, width in zip(line, widths, strict=True)]
        padded = [cell + blank for cell, blank in zip(line[:-1], blanks[:-1], strict=True)]
        return "  ".join([*padded, blanks[-1] + line[-1]])

    return [spread(line) for line in cells]


def _rule(cells: Cells) -> str:
    return "  ".join("-" * width for width in _widths(cells))


def _widest(lines: Sequence[str]) -> int:
    return max(map(shown_width, lines))
