"""Tables of figures that fit a terminal: long names get lines of their own, and no figure is left out."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import east_asian_width

WIDTH = 80
Cells = Sequence[Sequence[str]]


def fitted(cells: Cells, width: int = WIDTH) -> str:
    """A head and lines; the first two columns are the dataset and its metric.

    Where they are too wide, each dataset stands above its lines, and a metric that is still too long above its figures.
    """
    head, *lines = ([*line] for line in cells)
    whole = _aligned([head, *lines])
    if _widest(whole) <= width:
        return "\n".join([whole[0], _rule([head, *lines]), *whole[1:]])
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
        return "  ".join([*padded, blanks[-1] + line[-1]]).rstrip()

    return [spread(line) for line in cells]


def _rule(cells: Cells) -> str:
    return "  ".join("-" * width for width in _widths(cells))


def _widest(lines: Sequence[str]) -> int:
    return max(map(shown_width, lines))
