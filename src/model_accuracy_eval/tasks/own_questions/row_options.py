"""The options of a row, and which of them is right: by its letter, its label, its text or its position."""

import re
import unicodedata
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.own_questions import cells
from model_accuracy_eval.tasks.own_questions.question_shape import AnswerIs, Columns
from model_accuracy_eval.tasks.rows import DataRow

_LETTER = re.compile(r"\(?\s*([A-Za-z])\s*[).:]?")
_LABELLED = re.compile(r"\s*[(\[]?([A-Za-z])[)\].:、．]\s*(.*\S)\s*", re.DOTALL)
_BASES: dict[AnswerIs, int] = {"position from 0": 0, "position from 1": 1}


class RowOptions(msgspec.Struct, frozen=True):
    """The options of one row and their labels, which are letters unless the row has others."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    are_named: bool
    """Whether the row itself has the labels, as columns A, B, C have."""

    def place_of(self, label: str) -> int | None:
        names = [name.upper() for name in self.labels]
        return names.index(label.upper()) if label.upper() in names else None


def options_of(where: str, row: DataRow, columns: Columns) -> RowOptions | None:
    """None for a row without options."""
    if len(columns.choices) == 1:
        column = columns.choices[0]
        texts, labels = _from_list(where, column, cells.value_at(row, column), cells.value_at(row, columns.labels))
    else:
        texts, labels = _from_cells(where, columns.choices, row), []
    if not texts:
        return None
    if not 2 <= len(texts) <= len(ascii_uppercase):
        raise BadData(f"{where}: there must be 2 to 26 options, but {len(texts)} {'is' if len(texts) == 1 else 'are'}.")
    letters = ascii_uppercase[: len(texts)]
    are_named = bool(labels) or [name.upper() for name in columns.choices[: len(texts)]] == list(letters)
    return RowOptions(tuple(texts), tuple(labels or letters), are_named)


def _from_cells(where: str, names: Sequence[str], row: DataRow) -> list[str]:
    """Rows may have fewer options than there are columns, but no gap between them."""
    values = [cells.value_at(row, name) for name in names]
    count = max((place + 1 for place, value in enumerate(values) if not cells.is_blank(value)), default=0)
    for name, value in zip(names[:count], values, strict=False):
        if cells.is_blank(value):
            raise BadData(f"{where}: the option '{name}' is empty, but '{names[count - 1]}' is not.")
    return [cells.text_of(where, name, value) for name, value in zip(names[:count], values, strict=False)]


def _from_list(where: str, column: str, value: Any, labels: Any) -> tuple[list[str], list[str]]:
    if cells.is_blank(value):
        return [], []
    if isinstance(value, str):
        value = _split(where, column, value)
    if isinstance(value, dict):
        if isinstance(value.get("text"), list):
            return _from_list(where, f"{column}.text", value["text"], value.get("label"))
        labels, value = list(value), list(value.values())
    elif all(isinstance(entry, dict) and {"text", "label"} <= entry.keys() for entry in value):
        labels, value = [entry["label"] for entry in value], [entry["text"] for entry in value]
    if blank := [place for place, entry in enumerate(value, start=1) if cells.is_blank(entry)]:
        raise BadData(f"{where}: option {blank[0]} of '{column}' is empty.")
    texts = _without_letters([cells.text_of(where, column, entry) for entry in value])
    names = [cells.text_of(where, column, label) for label in labels] if isinstance(labels, list) else []
    if names and (len(names) != len(texts) or len(set(names)) != len(names)):
        raise BadData(f"{where}: {len(texts)} options have the labels {', '.join(names)}.")
    return texts, names


def _split(where: str, column: str, source: str) -> Any:
    """The options in a cell of text: a list or object in JSON or Python, lines, or texts between | or ;."""
    if (found := cells.entries(source)) is not None:
        return found
    value = cells.structure(source)
    if isinstance(value, (list, dict)) and value:
        return value
    for mark in ("\n", "|", ";"):
        parts = [part.strip() for part in source.split(mark)]
        if len(parts) > 1:
            return [part for part in parts if part] if mark == "\n" else parts
    raise BadData(
        f"{where}: the options in '{column}' cannot be told apart: {cells.short(source)}. Write them as a JSON list, "
        "or between | signs."
    )


def _without_letters(texts: list[str]) -> list[str]:
    """The options without letters in front, where each has its own."""
    found = [_LABELLED.fullmatch(text) for text in texts]
    letters = [match[1].upper() for match in found if match]
    if letters != list(ascii_uppercase[: len(texts)]):
        return texts
    return [match[2] for match in found if match]


def position(answer: str) -> int | None:
    """The whole number that an answer is; spreadsheets make 2.0 of 2."""
    match = re.fullmatch(r"\s*(-?\d+)(?:\.0+)?\s*", answer)
    return int(match[1]) if match else None


def named_places(answer: str, options: RowOptions) -> list[int]:
    """The places of the options that an answer names by label or letter, in either case, or by text.

    Labels that the row gives come first; where letters are only counted, an option's text may be another's letter.
    """
    wanted = unicodedata.normalize("NFKC", answer).strip()
    letter = _LETTER.fullmatch(wanted)
    by_label = options.place_of(wanted)
    if by_label is None and letter:
        by_label = options.place_of(letter[1])
    if by_label is not None and options.are_named:
        return [by_label]
    found = {place for place, text in enumerate(options.texts) if cells.plain(text) == cells.plain(answer)}
    if by_label is not None:
        found.add(by_label)
    elif not found and (stated := _LABELLED.fullmatch(wanted)):  # "B. Paris"
        place = options.place_of(stated[1])
        if place is not None and cells.plain(options.texts[place]) == cells.plain(stated[2]):
            found.add(place)
    return sorted(found)


def possible_places(answer: str, options: RowOptions) -> set[int]:
    """The places of all options that an answer names in any way of writing."""
    number = position(answer)
    counted = set() if number is None else {number, number - 1} & set(range(len(options.texts)))
    return counted | set(named_places(answer, options))


def right_place(where: str, column: str, answer: str, options: RowOptions, answer_is: AnswerIs) -> int:
    """The place of the right option; refused if the answer is none of them, or could be two."""
    count = len(options.texts)
    if answer_is in _BASES:
        number = position(answer)
        if number is not None and 0 <= number - _BASES[answer_is] < count:
            return number - _BASES[answer_is]
        first = _BASES[answer_is]
        raise BadData(
            f"{where}: the right answer '{answer}' is no position from {first} to {first + count - 1} among "
            f"{count} options{_no_answer(number)}."
        )
    places = named_places(answer, options)
    if len(places) == 1:
        return places[0]
    letters = ", ".join(options.labels)
    if places:
        both = " and ".join(f"{options.labels[place]} ({cells.short(options.texts[place])})" for place in places)
        raise BadData(f"{where}: the right answer '{answer}' could be option {both}: write its letter in '{column}'.")
    raise BadData(
        f"{where}: the field '{column}' must be one of {letters}, or the text of that option, not '{answer}'"
        f"{_strange(answer)}{_no_answer(position(answer))}."
    )


def _no_answer(number: int | None) -> str:
    return "; -1 stands for an answer that is kept secret, as in test splits of hubs" if number == -1 else ""


def _strange(answer: str) -> str:
    sign = answer.strip()
    if len(sign) == 1 and not sign.isascii():
        return f", which is {unicodedata.name(sign, 'an unknown sign')} (U+{ord(sign):04X})"
    return ""
