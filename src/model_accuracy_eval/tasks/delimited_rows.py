"""Rows of CSV and TSV files, as programs and spreadsheets write them: with commas, semicolons or tabs between cells, a
`sep=` line before the header, empty lines and columns at the end."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from model_accuracy_eval.errors import BadData

_MARKS = ",;\t|"


def read(name: str, lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with the number of its line. `lines` have their ends."""
    first = next(lines, "")
    announced = first.rstrip("\r\n")[4:] if re.fullmatch(r"sep=[^\r\n][\r\n]*", first) else ""
    mark = announced or ("\t" if name.removesuffix(".gz").endswith(".tsv") else _mark(first))
    skipped = 1 if announced else 0
    reader = csv.reader(lines if announced else chain([first], lines), delimiter=mark, strict=True)
    try:
        header = _header(name, next(reader, []))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                where = f"line {reader.line_num + skipped}"
                yield where, dict(zip(header, _of_width(f"{name}, {where}", header, cells), strict=True))
    except csv.Error as error:
        raise BadData(f"{name}, line {reader.line_num + skipped}: {error}.") from error


def _mark(header: str) -> str:
    """What stands between the names of columns: of several signs outside quotes the most frequent, then the comma."""
    bare = "".join(header.split('"')[::2])
    counts = Counter({mark: bare.count(mark) for mark in _MARKS})
    return counts.most_common(1)[0][0]


def _header(name: str, cells: Sequence[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    while header and not header[-1]:
        header.pop()
    if twice := [column for column, count in Counter(header).items() if count > 1]:
        shown = f"the column '{twice[0]}' is there twice" if twice[0] else "a column in the middle has no name"
        raise BadData(f"{name}, line 1: {shown}, so nobody knows which of its cells counts.")
    return header


def _of_width(where: str, header: Sequence[str], cells: Sequence[str]) -> Sequence[str]:
    """As many cells as there are names: what is empty behind them is no cell."""
    end = len(cells)
    while end > len(header) and not cells[end - 1].strip():
        end -= 1
    if end != len(header):
        raise BadData(f"{where}: the header names {len(header)} columns, but this row has another number of them.")
    return cells[:end]
