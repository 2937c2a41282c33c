"""Disagreements as lines of JSON, rows of CSV or a table in Markdown."""

import csv
import io
from collections.abc import Callable, Mapping

import msgspec

from model_accuracy_eval.report import markdown
from model_accuracy_eval.rescoring.disagreements import Disagreement

COLUMNS = Disagreement.__struct_fields__
_LONGEST_CELL = 1000


def _as_json(disagreement: Disagreement) -> str:
    return msgspec.json.encode(disagreement).decode() + "\n"


def _as_csv(disagreement: Disagreement) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(_cells(disagreement))
    return text.getvalue()


def _as_markdown(disagreement: Disagreement) -> str:
    return f"| {' | '.join(markdown.text(cell, _LONGEST_CELL) for cell in _cells(disagreement))} |\n"


def _cells(disagreement: Disagreement) -> list[str]:
    values = (getattr(disagreement, column) for column in COLUMNS)
    return ["" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values]


_FORMATS: Mapping[str, tuple[str, Callable[[Disagreement], str]]] = {
    ".csv": (",".join(COLUMNS) + "\r\n", _as_csv),
    ".md": (f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n", _as_markdown),
}


def text_format(suffix: str) -> tuple[str, Callable[[Disagreement], str]]:
    """What a file of that suffix begins with, and how it shows a disagreement; any other has lines of JSON."""
    return _FORMATS.get(suffix.lower(), ("", _as_json))
