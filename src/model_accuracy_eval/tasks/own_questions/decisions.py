"""What the names of columns leave open: from where positions count, whether there is a header, how answers compare."""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.records.media import media_in
from model_accuracy_eval.scoring.answer_kinds import answer_kind
from model_accuracy_eval.scoring.numbers import as_number
from model_accuracy_eval.tasks.own_questions import cells, find_columns
from model_accuracy_eval.tasks.own_questions.question_shape import AnswerIs, Columns, QuestionShape
from model_accuracy_eval.tasks.own_questions.row_options import RowOptions, named_places, options_of, position
from model_accuracy_eval.tasks.rows import DataRow

ANSWER_IS: dict[str, AnswerIs] = {"text": "letter or text", "0": "position from 0", "1": "position from 1"}
"""How a user says it → what it means."""

_Marked = list[tuple[str, int | None, RowOptions]]
"""(right answer, the same as a whole number, options) of each row with options."""


def stated(value: str) -> AnswerIs:
    if value not in ANSWER_IS:
        raise UnknownName("way of writing right options", value, ANSWER_IS)
    return ANSWER_IS[value]


def missing_header(rows: Sequence[DataRow]) -> tuple[str, ...]:
    """The names of the columns, if the first line is a question already, as in MMLU's own CSV files."""
    names = list(rows[0])
    letters = list(ascii_uppercase[: len(names) - 2])
    if len(letters) < 2 or names[-1] not in letters:
        return ()
    known = {*find_columns.QUESTIONS, *find_columns.ANSWERS}
    is_row = not any(find_columns.normal(name) in known for name in names)
    if is_row and all(list(row) == names and row[names[-1]] in letters for row in rows):
        return ("question", *letters, "answer")
    return ()


def answer_is(where: str, rows: Sequence[DataRow], columns: Columns) -> tuple[AnswerIs, bool]:
    """How right options are written, and whether the rows themselves show it. Only whole numbers leave it open."""
    marked: _Marked = []
    for number, row in enumerate(rows, start=1):
        options = options_of(f"{where}, row {number}", row, columns) if columns.choices else None
        value = cells.value_at(row, columns.answer)
        if options and not cells.is_blank(value):
            for text in cells.answers_of(f"{where}, row {number}", columns.answer, value):
                marked.append((text, position(text), options))
    if not marked or any(number is None for _, number, _ in marked):
        return "letter or text", True
    named = [named_places(text, options) for text, _, options in marked]
    if all(len(places) == 1 for places in named):
        return _text_unless_unclear(where, marked, columns.answer), True
    from_0, from_1 = _fits(marked, 0), _fits(marked, 1)
    if any(number == 0 for _, number, _ in marked):
        return "position from 0", True
    return ("position from 1" if from_1 and not from_0 else "position from 0"), not (from_0 and from_1)


def _fits(marked: _Marked, first: int) -> bool:
    return all(0 <= (number or 0) - first < len(options.texts) for _, number, options in marked)


def _text_unless_unclear(where: str, marked: _Marked, column: str) -> AnswerIs:
    """Numbers that are options' texts: refused where they could be the positions of other ones."""
    for first in (0, 1):
        if not _fits(marked, first) or all(options.are_named and text in options.labels for text, _, options in marked):
            continue
        for place, (text, number, options) in enumerate(marked, start=1):
            by_text, by_position = named_places(text, options)[0], (number or 0) - first
            if by_text != by_position:
                raise BadData(
                    f"{where}, row {place}: the right answer {text} is the text of option {ascii_uppercase[by_text]}, "
                    f"and counted from {first} the position of option {ascii_uppercase[by_position]} "
                    f"({cells.short(options.texts[by_position])}). Say which with --columns answer_is=text, "
                    f"answer_is=0 or answer_is=1, or write letters in '{column}'."
                )
    return "letter or text"


def with_kind(where: str, rows: Sequence[DataRow], shape: QuestionShape, *, named: bool) -> QuestionShape:
    """How the answers of rows without options are compared. `named`: the user has named their column."""
    columns = shape.columns
    texts: list[str] = []
    values: dict[str, str] = {}
    for number, row in enumerate(rows, start=1):
        at = f"{where}, row {number}"
        value = cells.value_at(row, columns.answer)
        if not cells.is_blank(value) and not (columns.choices and options_of(at, row, columns)):
            texts += cells.answers_of(at, columns.answer, value)
            values[at] = str(value).strip()
    if not texts:
        return shape
    _refuse_unclear_values(values)
    if not named and find_columns.normal(columns.answer) == "label" and _are_classes(texts):
        raise BadData(
            f"{where}: '{columns.answer}' holds the numbers of {len(set(texts))} classes, and no column says what they "
            f"are called. Name the column with their texts, such as --columns answer=label_text; or, if the numbers "
            f"are the answers, --columns answer={columns.answer}."
        )
    if all("####" in text for text in texts):
        shape = replace(shape, after="####")
        texts = [text.rpartition("####")[2].strip() for text in texts]
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


def _are_classes(texts: Sequence[str]) -> bool:
    numbers = {position(text) for text in texts}
    return len(numbers) > 1 and numbers == set(range(len(numbers)))


def refuse_what_would_be_dropped(where: str, rows: Sequence[DataRow], columns: Columns) -> None:
    """Refuses pictures, and lists that look like options, in columns that nothing would be made of."""
    for name in unused(rows, columns):
        is_media = any(any(media_in(row.get(name))) for row in rows)
        if is_media or find_columns.normal(name) in find_columns.MEDIA:
            raise BadData(
                f"{where}: the column '{name}' holds pictures or sound, and own questions are asked as text. Write a "
                f"task file whose question has {{{{ {name} }}}}, as docs/how-to/pictures.md shows, or remove the "
                "column if the questions can be answered without it."
            )
        for number, row in enumerate(rows, start=1):
            held, answer = cells.entries(row.get(name)), cells.value_at(row, columns.answer)
            if held and not columns.choices and answer in held:
                raise BadData(
                    f"{where}, row {number}: the right answer {cells.short(answer)} is one of the list in '{name}', "
                    f"which would not be shown. Name the options with --columns choices={name}, or remove the column."
                )


def unused(rows: Sequence[DataRow], columns: Columns) -> list[str]:
    """The columns of which nothing is made."""
    paths = [columns.question, columns.more, columns.system, columns.answer, columns.labels, columns.id]
    paths += [*columns.context, *columns.also, *columns.choices, columns.category]
    used = {*paths, *(path.partition(".")[0] for path in paths)}
    return [name for name in find_columns.names_of(rows) if name not in used]
