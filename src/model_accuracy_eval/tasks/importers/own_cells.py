"""The values of rows as texts and lists: what CSV, spreadsheets and hubs make of them."""

import html
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from math import isnan
from string import ascii_uppercase
from typing import Any, Literal

import msgspec

from model_accuracy_eval.benchmarks.prompt_parts import as_python
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataRow
from model_accuracy_eval.records.base import Record

_INNER_ANSWERS = ("text", "texts", "value", "aliases", "answers")
"""Fields of an object that hold the right answers, as in SQuAD and TriviaQA."""
_UNSEEN = "\u200b\u200e\u200f\u2060\ufeff"


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
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, (list, dict)) and not value)


def text_of(where: str, column: str, value: Any) -> str:
    """The text of a cell. What is no text, such as an object, is not sent as Python would print it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        # All digits of a number: Python writes 0.00001 as 1e-05, as nobody else does.
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{Decimal(str(value)):f}"
    if isinstance(value, int):
        return str(value)
    noun = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "bytes"
    raise BadData(
        f"{where}: '{column}' holds {noun} where a text is needed: {short(value)}. Name what holds the text "
        f"with --columns, as in --columns question={column}.text."
    )


def short(value: Any) -> str:
    """A value as messages show it."""
    source = repr(value)
    return source if len(source) <= 80 else f"{source[:77]}…"


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


def plain(text: str) -> str:
    """A text for comparing: full-width signs as plain ones, without regard to case and blanks."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", html.unescape(text))).strip().casefold()


# What has been understood of a file's rows. It is data, so a task can hold it and a user can change it.


AnswerIs = Literal["letter or text", "position from 0", "position from 1"]
"""How right options are written. Letters and texts need no decision; numbers do."""


class Columns(Record, frozen=True, kw_only=True):
    """Which column is what. A dot leads into an object: `choices.text`."""

    question: str = ""
    """A text, or messages."""
    more: str = ""
    """A text that follows the question, such as the `input` of an instruction."""
    context: tuple[str, ...] = ()
    """Texts that precede the question."""
    system: str = ""
    answer: str = ""
    also: tuple[str, ...] = ()
    """Further columns with the right answer, which must say the same."""
    choices: tuple[str, ...] = ()
    """One column with a list of options, or one column for each option."""
    labels: str = ""
    """The names of the options, such as A or 1, if the rows have a list of them."""
    id: str = ""
    category: str = ""
    cluster: str = ""
    """What questions share that are not independent; it may be the context."""
    match: str = ""
    """How the row is judged: exact, contains, regex, number, choice, text or formula."""
    tolerance: str = ""
    """How far a number may be off: 0.5, or 5%."""
    aliases: str = ""
    """Further right answers."""
    wrong: str = ""
    """Answers that are wrong whatever else they are."""


class QuestionShape(Record, frozen=True, kw_only=True):
    """How each row of a file is read."""

    columns: Columns
    answer_is: AnswerIs = "letter or text"
    after: str = ""
    r"""The mark that the right answer follows, such as #### of GSM8K, or \boxed, which holds it."""
    alternatives: bool = False
    """Whether a right answer a|b means either."""
    decimal_comma: bool = False
    """Whether a right answer 3,14 is a number."""
    options_inside: bool = False
    """Whether questions hold their options, each behind its letter, where the right answer is a letter."""
    texts_are: Literal["text", "formula"] = "text"
    """How answers are compared that are neither numbers nor options."""
    kinds: tuple[str, ...] = ()
    """The kinds of the rows' answers, in the order in which they come first."""


# The options of a row, and which of them is right: by its letter, its label, its text or its position.


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
        texts, labels = _from_list(where, column, value_at(row, column), value_at(row, columns.labels))
    else:
        texts, labels = _from_cells(where, columns.choices, row), []
    if not texts:
        return None
    if not 2 <= len(texts) <= len(ascii_uppercase):
        raise BadData(f"{where}: there must be 2 to 26 options, but {len(texts)} {'is' if len(texts) == 1 else 'are'}.")
    letters = ascii_uppercase[: len(texts)]
    are_named = bool(labels) or [name.upper() for name in columns.choices[: len(texts)]] == list(letters)
    return RowOptions(tuple(texts), tuple(labels or letters), are_named)


def options_inside(question: Any, answer: str) -> RowOptions | None:
    """The options that a question holds behind A), B), …, if the right answer is the letter of one of them."""
    letter = _LETTER.fullmatch(answer)
    texts: list[str] = []
    for alphabet in (ascii_uppercase, ascii_uppercase.lower()) if letter and isinstance(question, str) else ():
        texts = texts or _behind(alphabet, question)
    letters = tuple(ascii_uppercase[: len(texts)])
    is_one = len(texts) > 1 and letter is not None and letter[1].upper() in letters
    return RowOptions(tuple(texts), letters, are_named=True) if is_one else None


def _behind(alphabet: str, question: str) -> list[str]:
    marks: list[re.Match[str]] = []
    for wanted in alphabet:
        found = re.compile(rf"(?:^|[\s(\[]){wanted}[).:、．]\s*").search(question, marks[-1].end() if marks else 0)
        if found is None:
            break
        marks.append(found)
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    texts = [question[mark.end() : end].strip().partition("\n")[0] for mark, end in zip(marks, ends, strict=False)]
    return texts if len(texts) > 1 else []


def _from_cells(where: str, names: Sequence[str], row: DataRow) -> list[str]:
    """Rows may have fewer options than there are columns, but no gap between them."""
    values = [value_at(row, name) for name in names]
    count = max((place + 1 for place, value in enumerate(values) if not is_blank(value)), default=0)
    for name, value in zip(names[:count], values, strict=False):
        if is_blank(value):
            raise BadData(f"{where}: the option '{name}' is empty, but '{names[count - 1]}' is not.")
    return [text_of(where, name, value) for name, value in zip(names[:count], values, strict=False)]


def _from_list(where: str, column: str, value: Any, labels: Any) -> tuple[list[str], list[str]]:
    if is_blank(value):
        return [], []
    if isinstance(value, str):
        value = _split(where, column, value)
    if isinstance(value, dict):
        if isinstance(value.get("text"), list):
            return _from_list(where, f"{column}.text", value["text"], value.get("label"))
        labels, value = list(value), list(value.values())
    elif all(isinstance(entry, dict) and {"text", "label"} <= entry.keys() for entry in value):
        labels, value = [entry["label"] for entry in value], [entry["text"] for entry in value]
    if blank := [place for place, entry in enumerate(value, start=1) if is_blank(entry)]:
        raise BadData(f"{where}: option {blank[0]} of '{column}' is empty.")
    texts = _without_letters([text_of(where, column, entry) for entry in value])
    names = [text_of(where, column, label) for label in labels] if isinstance(labels, list) else []
    if names and (len(names) != len(texts) or len(set(names)) != len(names)):
        raise BadData(f"{where}: {len(texts)} options have the labels {', '.join(names)}.")
    return texts, names


def _split(where: str, column: str, source: str) -> Any:
    """The options in a cell of text: a list or object in JSON or Python, lines, or texts between | or ;."""
    if (found := entries(source)) is not None:
        return found
    value = structure(source)
    if isinstance(value, (list, dict)) and value:
        return value
    for mark in ("\n", "|", ";"):
        parts = [part.strip() for part in source.split(mark)]
        if len(parts) > 1:
            return [part for part in parts if part] if mark == "\n" else parts
    raise BadData(
        f"{where}: the options in '{column}' cannot be told apart: {short(source)}. Write them as a JSON list, "
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
    found = {place for place, text in enumerate(options.texts) if plain(text) == plain(answer)}
    if by_label is not None:
        found.add(by_label)
    elif not found and (stated := _LABELLED.fullmatch(wanted)):  # "B. Paris"
        place = options.place_of(stated[1])
        if place is not None and plain(options.texts[place]) == plain(stated[2]):
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
        both = " and ".join(f"{options.labels[place]} ({short(options.texts[place])})" for place in places)
        raise BadData(f"{where}: the right answer '{answer}' could be option {both}: write its letter in '{column}'.")
    raise BadData(
        f"{where}: the field '{column}' must be one of {letters}, or the text of that option, not '{answer}'"
        f"{_no_answer(position(answer))}."
    )


def _no_answer(number: int | None) -> str:
    return "; -1 stands for an answer that is kept secret, as in test splits of hubs" if number == -1 else ""
