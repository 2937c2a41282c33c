"""Right answers as files write them → their texts: numbers with a decimal comma, several between |, the box of a
solution, the letter of an option inside the question."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataRow
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers.own_answers import answer_kind
from model_accuracy_eval.scoring.answers.stated_numbers import as_number
from model_accuracy_eval.tasks.importers import own_cells
from model_accuracy_eval.tasks.importers.own_cells import (
    QuestionShape,
    RowOptions,
    options_inside,
    options_of,
    position,
)
from model_accuracy_eval.tasks.importers.own_columns import normal

BOX = "\\boxed"
_LETTER = re.compile(r"\(?[A-Za-z][).]?")
_EUROPEAN = re.compile(r"[-+−]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?")


def texts_of(texts: Sequence[str], shape: QuestionShape) -> list[str]:
    """The right answers in a cell, without what is written around them."""
    if shape.after == BOX:
        return [", ".join(maths.last_boxes(text)).strip() for text in texts]
    if shape.after:
        return [text.rpartition(shape.after)[2].strip() for text in texts]
    if shape.alternatives:
        texts = [part.strip() for text in texts for part in text.split("|") if part.strip()]
    return [_with_point(text) for text in texts] if shape.decimal_comma else list(texts)


def _with_point(text: str) -> str:
    return text.replace(".", "").replace(",", ".") if _EUROPEAN.fullmatch(text.strip()) else text


def with_kind(where: str, rows: Sequence[DataRow], shape: QuestionShape, *, named: bool) -> QuestionShape:
    """How the answers of rows without options are compared. `named`: the user has named their column."""
    columns = shape.columns
    texts: list[str] = []
    values: dict[str, str] = {}
    are_texts = True
    for number, row in enumerate(rows, start=1):
        at = f"{where}, row {number}"
        value = own_cells.value_at(row, columns.answer)
        if not own_cells.is_blank(value) and not (columns.choices and options_of(at, row, columns)):
            texts += own_cells.answers_of(at, columns.answer, value)
            values[at] = str(value).strip()
            are_texts &= not isinstance(value, (int, float))
    if not texts:
        return shape
    if not columns.choices and (letters := [row for row in rows if _LETTER.fullmatch(_answer(row, shape))]):
        shape = replace(shape, options_inside=all(map(partial(inside, shape=shape), letters)))
    shape = replace(shape, decimal_comma=are_texts and _has_decimal_commas(values))
    _refuse_unclear_values({} if shape.decimal_comma else values)
    numbers = {position(text) for text in texts}
    are_classes = len(numbers) > 1 and numbers == set(range(len(numbers)))
    if not named and normal(columns.answer) == "label" and are_classes:
        raise BadData(
            f"{where}: '{columns.answer}' holds the numbers of {len(set(texts))} classes, and no column says what they "
            f"are called. Name the column with their texts, such as --columns answer=label_text; or, if the numbers "
            f"are the answers, --columns answer={columns.answer}."
        )
    if all("####" in text for text in texts):
        shape = replace(shape, after="####")
    elif all(map(maths.last_boxes, texts)):
        shape = replace(shape, after=BOX)
    texts = texts_of(texts, shape)
    return replace(shape, texts_are="formula" if answer_kind(texts).name == "formula" else "text")


_GROUPED = re.compile(
    r"[-+−]?(?:[1-9]\d{0,2}(?:\.\d{3})+,\d+"  # 1.234,5
    r"|[1-9]\d{0,2}(?:\.\d{3}){2,}"  # 1.234.567
    r"|[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'’_]\d{3})+(?:[.,]\d+)?"  # 1 234, 1'234.5
    r"|[1-9]\d?(?:,\d\d)+,\d{3}(?:\.\d+)?)"  # 1,00,000
)
_NO_VALUES = {"#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "nan", "NaN", "NaT", "<NA>"}
"""What spreadsheets and data frames write where there is no value."""


def _refuse_unclear_values(values: Mapping[str, str]) -> None:
    """Refuses 3,14 where all answers are numbers, and numbers in groups that only some people write: as texts they
    would never be equal to the same numbers in replies. And what stands for no value. `values`: row → right answer."""
    for at, text in values.items():
        if text in _NO_VALUES:
            raise BadData(
                f"{at}: the right answer '{text}' is what spreadsheets and programs write for a "
                "cell without a value: write the answer there, or remove the row."
            )
        if _GROUPED.fullmatch(text):
            raise BadData(f"{at}: write the number '{text}' with a point and without groups.")
    if all(as_number(text.replace(",", ".", 1)) is not None for text in values.values()):
        for at, text in values.items():
            if as_number(text) is None:
                raise BadData(f"{at}: the number '{text}' has a comma: write it with a point.")


def _has_decimal_commas(values: Mapping[str, str]) -> bool:
    """Whether all are numbers, some of which only people read who write 3,14. Refused where another is one for both."""
    unread = [text for text in values.values() if as_number(text) is None]
    if not unread or not all(_EUROPEAN.fullmatch(text) or as_number(text) is not None for text in values.values()):
        return False
    for at, text in values.items():
        if as_number(text) is not None and as_number(_with_point(text)) != as_number(text):
            raise BadData(
                f"{at}: {unread[0]} has a decimal comma, so '{text}' could be {as_number(text)} or "
                f"{as_number(_with_point(text))}: write it with a point and without groups."
            )
    return True


def _answer(row: DataRow, shape: QuestionShape) -> str:
    return str(own_cells.value_at(row, shape.columns.answer)).strip()


def inside(row: DataRow, shape: QuestionShape) -> RowOptions | None:
    """The options that the row's question holds, if its right answer is a letter of them."""
    return options_inside(own_cells.value_at(row, shape.columns.question), _answer(row, shape))
