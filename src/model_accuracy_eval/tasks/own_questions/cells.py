"""The values of rows as texts and lists: what CSV, spreadsheets and hubs make of them."""

import html
import re
import unicodedata
from decimal import Decimal
from math import isnan
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.rows import DataRow
from model_accuracy_eval.tasks.template_words import as_python

_INNER_ANSWERS = ("text", "texts", "value", "aliases", "answers")
"""Fields of an object that hold the right answers, as in SQuAD and TriviaQA."""
_UNSEEN = "\u200b\u200e\u200f\u2060\ufeff"
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z]{2,8});")


def value_at(row: DataRow, path: str) -> Any:
    """The value of a column; a dot leads into an object. None if there is none."""
    if not path or path in row:
        return row.get(path)
    value: Any = row
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def is_blank(value: Any) -> bool:
    """Whether a cell holds nothing: null, blanks, NaN, an empty list or object."""
    if isinstance(value, float):
        return isnan(value)
    return value is None or (isinstance(value, (str, list, dict)) and not _trimmed(value))


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def text_of(where: str, column: str, value: Any) -> str:
    """The text of a cell. What is no text, such as an object, is not sent as Python would print it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return _as_decimal(value)
    if isinstance(value, int):
        return str(value)
    raise BadData(
        f"{where}: '{column}' holds {_noun(value)} where a text is needed: {short(value)}. Name what holds the text "
        f"with --columns, as in --columns question={column}.{_first_text(value)}."
    )


def _as_decimal(value: float) -> str:
    """All digits of a number: Python writes 0.00001 as 1e-05, as nobody else does."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{Decimal(str(value)):f}"


def _noun(value: Any) -> str:
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "bytes"


def short(value: Any) -> str:
    """A value as messages show it."""
    source = repr(value)
    return source if len(source) <= 80 else f"{source[:77]}…"


def _first_text(value: Any) -> str:
    held = value.items() if isinstance(value, dict) else ()
    return next((str(key) for key, entry in held if isinstance(entry, str)), "text")


def entries(value: Any) -> list[Any] | None:
    """The list that a cell is: a list, or the text of one with quoted entries, as CSV files have it; else None.

    A text such as [1, 2, 3] stays a text, because it may well be the answer itself.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, str) or not re.match(r"\s*\[\s*[\"'].*[\"']\s*\]\s*$", value, re.DOTALL):
        return None
    found = structure(value)
    return found if isinstance(found, list) and all(isinstance(entry, str) for entry in found) else None


def structure(source: str) -> Any:
    """The value of a text in JSON or Python; None for any other. NumPy writes lists without commas, which Python would
    read as one long text."""
    try:
        return msgspec.json.decode(source)
    except msgspec.DecodeError:
        return None if re.search(r"['\"]\s+['\"]", source) else as_python(source.strip())


def answers_of(where: str, column: str, value: Any) -> list[str]:
    """All right answers in a cell: a list means any of them."""
    if isinstance(value, dict):
        inner = [value[name] for name in _INNER_ANSWERS if not is_blank(value.get(name))]
        if not inner:
            raise BadData(
                f"{where}: the right answer '{column}' is an object with {', '.join(map(str, value)) or 'nothing'}: "
                f"name the field that holds it, such as --columns answer={column}.text."
            )
        return list(dict.fromkeys(text for held in inner for text in answers_of(where, column, held)))
    found = entries(value)
    if found is None:
        return [_seen(text_of(where, column, value))]
    texts = [_seen(text_of(where, column, entry)) for entry in found if not is_blank(entry)]
    if not texts or len(texts) < len(found):
        raise BadData(f"{where}: the list of right answers in '{column}' has an empty entry: {short(value)}.")
    return list(dict.fromkeys(texts))


def _seen(text: str) -> str:
    """Without blanks of no width and marks around it, which are copied from web pages: 3 is a number with them, too."""
    return text.strip(_UNSEEN) or text


def with_readings(texts: list[str]) -> list[str]:
    """Right answers with the other spelling that certainly means the same: HTML's entities as their signs."""
    return list(dict.fromkeys(form for text in texts for form in (text, html.unescape(text))))


def has_entity(text: str) -> bool:
    return bool(_ENTITY.search(text)) and html.unescape(text) != text


def plain(text: str) -> str:
    """A text for comparing: full-width signs as plain ones, without regard to case and blanks."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", html.unescape(text))).strip().casefold()
