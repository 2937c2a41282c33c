"""Rows of any understood shape → rows of one form, as a view of tasks.

Each gets `question`, `earlier` (messages before it), `choices`, `answers` (for options the right one's letter), `kind`
(letter, number, formula or text), and `id` and `category` if the file has them.
"""

from string import ascii_uppercase
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataRow
from model_accuracy_eval.scoring.answers.maths_answers import is_number
from model_accuracy_eval.tasks.importers import own_cells
from model_accuracy_eval.tasks.importers.own_cells import QuestionShape, options_of, possible_places, right_place

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
}
_YES = {"true": ["true", "yes"], "false": ["false", "no"]}


def own_questions(rows: list[DataRow], **shape: Any) -> list[DataRow]:
    """The view: the shape's fields are its arguments."""
    understood = msgspec.convert(shape, QuestionShape)
    return [read_row(f"row {number}", row, understood) for number, row in enumerate(rows, start=1)]


def read_row(where: str, row: DataRow, shape: QuestionShape) -> DataRow:
    """One row in the common form; refused with its place if it is not of the shape."""
    columns = shape.columns
    question, earlier = _question(where, row, shape)
    options = options_of(where, row, columns) if columns.choices else None
    value = own_cells.value_at(row, columns.answer)
    texts = _right_answers(where, columns.answer, value)
    found: DataRow = {"question": question, "earlier": earlier, "choices": list(options.texts) if options else []}
    if options:
        places = {right_place(where, columns.answer, text, options, shape.answer_is) for text in texts}
        if len(places) > 1:
            raise BadData(
                f"{where}: '{columns.answer}' names {len(places)} options as right, and a reply names one: "
                "keep one of them, or ask an open question."
            )
        right = places.pop()
        for column, others in _further(where, row, shape):
            if not any(right in possible_places(text, options) for text in others):
                raise _contradiction(where, columns.answer, texts, column, others)
        found |= {"answers": [ascii_uppercase[right]], "kind": "letter"}
    else:
        answers = _open_answers(texts, value, shape)
        for column, others in _further(where, row, shape):
            if not {own_cells.plain(text) for text in others} & {own_cells.plain(text) for text in texts}:
                raise _contradiction(where, columns.answer, texts, column, others)
            answers = list(dict.fromkeys([*answers, *others]))
        found |= {"answers": answers, "kind": _kind(answers, shape)}
    for role in ("id", "category"):
        if name := getattr(columns, role):
            cell = own_cells.value_at(row, name)
            found[role] = "" if own_cells.is_blank(cell) else own_cells.text_of(where, name, cell)
    return found


def _right_answers(where: str, column: str, value: Any) -> list[str]:
    if own_cells.is_blank(value):
        raise BadData(f"{where}: the field '{column}' is empty.")
    texts = own_cells.answers_of(where, column, value)
    for text in texts:
        if "<think>" in text or "</think>" in text:
            raise BadData(
                f"{where}: the right answer holds a thought, and replies lose theirs: {own_cells.short(text)}."
            )
    return texts


def _further(where: str, row: DataRow, shape: QuestionShape) -> list[tuple[str, list[str]]]:
    """What the other columns with the right answer say."""
    pairs = [(column, own_cells.value_at(row, column)) for column in shape.columns.also]
    return [(name, own_cells.answers_of(where, name, value)) for name, value in pairs if not own_cells.is_blank(value)]


def _contradiction(where: str, column: str, texts: list[str], other: str, others: list[str]) -> BadData:
    return BadData(
        f"{where}: '{column}' says {own_cells.short(texts[0])}, but '{other}' says {own_cells.short(others[0])}. Say "
        f"which is the right answer with --columns answer={column}."
    )


def _open_answers(texts: list[str], value: Any, shape: QuestionShape) -> list[str]:
    if shape.after:
        return [text.rpartition(shape.after)[2].strip() for text in texts]
    if len(texts) == 1 and (word := texts[0].strip().lower()) in _YES and not isinstance(value, list):
        return _YES[word]  # as JSON, and as spreadsheets write it
    return own_cells.with_readings(texts)


def _kind(answers: list[str], shape: QuestionShape) -> str:
    if shape.texts_are == "text" and all(map(is_number, answers)):
        return "number"
    return shape.texts_are


def _question(where: str, row: DataRow, shape: QuestionShape) -> tuple[str, list[dict[str, str]]]:
    """The question with what belongs to it, and the messages before it."""
    columns = shape.columns
    value = own_cells.value_at(row, columns.question)
    if own_cells.is_blank(value):
        raise BadData(f"{where}: the field '{columns.question}' is empty.")
    earlier: list[dict[str, str]] = []
    if isinstance(value, list):
        *earlier, last = _messages(where, columns.question, value)
        value = last["content"]
    text = own_cells.text_of(where, columns.question, value)
    before = [text for name in columns.context for text in _texts(where, name, own_cells.value_at(row, name))]
    more = row.get(columns.more)
    after = [] if own_cells.is_blank(more) else [own_cells.text_of(where, columns.more, more)]
    system = row.get(columns.system)
    if not own_cells.is_blank(system):
        earlier = [{"role": "system", "content": own_cells.text_of(where, columns.system, system)}, *earlier]
    return "\n\n".join([*before, text, *after]), earlier


def _texts(where: str, column: str, value: Any) -> list[str]:
    """The text of a cell, or those of a list; none of an empty one."""
    held = value if isinstance(value, list) else [value]
    return [own_cells.text_of(where, column, entry) for entry in held if not own_cells.is_blank(entry)]


def _messages(where: str, column: str, value: list[Any]) -> list[dict[str, str]]:
    """A conversation that ends with the question, in OpenAI's form or ShareGPT's."""
    found = []
    for number, entry in enumerate(value, start=1):
        fields = entry if isinstance(entry, dict) else {}
        role, content = fields.get("role", fields.get("from")), fields.get("content", fields.get("value"))
        if role not in _ROLES or not isinstance(content, str) or not content.strip():
            raise BadData(f"{where}: message {number} of '{column}' needs a role and a text as its content.")
        found.append({"role": _ROLES[role], "content": content})
    if found[-1]["role"] != "user":
        raise BadData(f"{where}: the last message of '{column}' must be of user, but is of {found[-1]['role']}.")
    return found
