"""The names of columns → what they are. Names are those of benchmarks, hubs and other programs, in any spelling."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from string import ascii_uppercase
from typing import Any

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.records import DataRow
from model_accuracy_eval.records.problem import media_in
from model_accuracy_eval.scoring.answers.own_answers import MATCHES, pattern_of
from model_accuracy_eval.scoring.answers.stated_numbers import as_number
from model_accuracy_eval.tasks.importers import own_cells
from model_accuracy_eval.tasks.importers.own_cells import (
    AnswerIs,
    Columns,
    RowOptions,
    named_places,
    options_of,
    position,
)

QUESTIONS = (
    *("question", "problem", "query", "prompt", "questionstem", "stem", "问题", "题目", "题干", "messages", "input"),
    *("instruction", "ctx", "goal", "sentence", "text", "q"),
)
CONTEXTS = ("context", "passage", "article", "story", "paragraph", "background", "document", "背景", "材料", "文章")
SYSTEMS = ("system", "systemprompt")
ANSWERS = (
    *("answer", "answers", "target", "targets", "gold", "ideal", "label", "expected", "expectedanswer", "reference"),
    *("references", "referenceanswer", "groundtruth", "goldanswer", "goldlabel", "correctanswer", "correctanswers"),
    *("correct", "correctoption", "correctchoice", "rightanswer", "bestanswer", "answerkey", "answerindex"),
    *("answeridx", "correctindex", "answerletter", "finalanswer", "cop", "答案", "正确答案", "标准答案", "参考答案"),
)
REPLIES = ("output", "response", "completion", "solution", "a")
"""Right answers as well, where none of the others is there."""
CHOICES = ("choices", "options", "candidates", "endings", "alternatives", "answerchoices", "answeroptions", "选项")
IDS = (
    *("id", "qid", "questionid", "uid", "uuid", "key", "idx", "taskid", "problemid", "sampleid", "itemid"),
    *("编号", "序号"),
)
CATEGORIES = ("category", "subject", "topic", "subjectname", "学科", "科目", "类别")
ALIASES = ("aliases", "alias", "alternativeanswers", "acceptedanswers", "acceptableanswers", "otheranswers")
MEDIA = ("image", "images", "picture", "pictures", "audio", "video", "figure", "图片", "图像")

_OPTION = re.compile(
    r"(?P<family>option|choice|opt|op|answer|ans|sol|solution|ending|选项)(?P<mark>\d{1,2}|[a-z])|(?P<letter>[a-z])"
)
"""A column with one option: `option_a`, `sol1`, or a letter alone."""

_SEVERAL = ("context", "choices")
"""Roles that several columns may have together, written as `A+B`."""


def normal(name: str) -> str:
    """A name without regard to case, blanks, `_` and `-`."""
    return re.sub(r"[\s_\-]+", "", name).casefold()


def names_of(rows: Iterable[DataRow]) -> tuple[str, ...]:
    """All columns in which some row has something."""
    return tuple(dict.fromkeys(name for row in rows for name, value in row.items() if not own_cells.is_blank(value)))


def columns_by_name(where: str, rows: Sequence[DataRow], given: Mapping[str, str]) -> Columns:
    """What each column is; `given`: what the user has said, by role."""
    taken = {name for role, name in given.items() if role != "cluster"}
    names = [name for name in names_of(rows) if name not in taken]
    roles = tuple(name for name in Columns.__struct_fields__ if name != "also")
    if unknown := [role for role in given if role not in roles]:
        raise UnknownName("role of a column", unknown[0], roles)
    several = {role: tuple(given[role].split("+")) for role in _SEVERAL if role in given}
    columns = Columns(**{**given, **several})  # type: ignore[arg-type]
    _refuse_unknown(where, rows, given)
    named = [name for name in names if normal(name) == "question"]
    inside = {"stem", "choices"}
    nested = next(
        (one for one in named if all(isinstance(row.get(one), dict) and inside <= row[one].keys() for row in rows)), ""
    )
    if nested and not columns.question:  # as in ARC's and CommonsenseQA's own files
        columns = replace(columns, question=f"{nested}.stem", choices=columns.choices or (f"{nested}.choices",))
        names.remove(nested)
    if not columns.choices:
        columns = replace(columns, choices=option_columns(where, names))
    names = [name for name in names if name not in columns.choices]
    if not columns.question:
        columns = _with_question(where, names, columns)
    if not columns.answer:
        found = _named(names, ANSWERS) or _named(names, REPLIES)
        if not found and (empty := _named(list(rows[0]), ANSWERS)):
            raise BadData(f"{where}: the column '{empty[0]}' has no right answer in any row.")
        if not found:
            raise _no_column(where, "right answer", "answer", names_of(rows))
        columns = replace(columns, answer=found[0], also=tuple(found[1:]))
    return replace(
        columns,
        context=columns.context or tuple(_named(names, CONTEXTS)),
        system=columns.system or next(iter(_named(names, SYSTEMS)), ""),
        id=columns.id or next(iter(_named(names, IDS)), ""),
        category=columns.category or next(iter(_named(names, CATEGORIES)), ""),
        match=columns.match or next(iter(_named(names, ("match", "matching"))), ""),
        tolerance=columns.tolerance or next(iter(_named(names, ("tolerance", "tol"))), ""),
        aliases=columns.aliases or next(iter(_named(names, ALIASES)), ""),
        wrong=columns.wrong or next(iter(_named(names, ("incorrectanswers", "wronganswers"))), ""),
    )


def _no_column(where: str, noun: str, role: str, names: Sequence[str]) -> BadData:
    """Names that read like a question or its answer are a first row without a header above it."""
    data = [
        name for name in names if "?" in name or "？" in name or len(name.split()) > 4 or as_number(name) is not None
    ]
    if data and PurePath(where.removesuffix(".gz")).suffix.lower() in {".csv", ".tsv", ".xlsx"}:
        return BadData(
            f"{where}: the first line has {own_cells.short(data[0])}, so it seems to be a question, no header: write a "
            "line with the names of the columns above it, such as question,answer."
        )
    return BadData(
        f"{where}: no column is known to hold the {noun}; there are: {', '.join(names)}. "
        f"Name it with --columns {role}=NAME."
    )


def _refuse_unknown(where: str, rows: Sequence[DataRow], given: Mapping[str, str]) -> None:
    """Refuses a column that no row has: most are slips of the keyboard."""
    for role, value in given.items():
        for column in value.split("+") if role in _SEVERAL else [value]:
            if not any(column in row or own_cells.value_at(row, column) is not None for row in rows):
                raise BadData(
                    f"{where}: there is no column '{column}', which --columns {role}={value} names; there are: "
                    f"{', '.join(names_of(rows))}."
                )


def _with_question(where: str, names: Sequence[str], columns: Columns) -> Columns:
    found = [name for name in _named(names, QUESTIONS) if name != columns.answer]
    plain = [normal(name) for name in found]
    if not found:
        raise _no_column(where, "question", "question", names)
    if sorted(plain) == ["input", "instruction"]:
        return replace(columns, question=found[plain.index("instruction")], more=found[plain.index("input")])
    if len(found) > 1:
        raise BadData(
            f"{where}: {' and '.join(repr(name) for name in found)} could all be the question. Say which is with "
            f"--columns question={found[0]}; what else the model has to see is named with --columns context=NAME."
        )
    return replace(columns, question=found[0])


def _named(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns with known names, in the order in which these are known."""
    return [name for wanted in known for name in names if normal(name) == wanted]


def option_columns(where: str, names: Sequence[str]) -> tuple[str, ...]:
    """The column with a list of options, or the columns with one each; several lists are refused."""
    lists = _named(names, CHOICES)
    if len(lists) > 1:
        raise BadData(
            f"{where}: {' and '.join(repr(name) for name in lists)} could all be the options. Say which are with "
            f"--columns choices={lists[0]}."
        )
    if lists:
        return (lists[0],)
    families: dict[tuple[str, bool], dict[str, str]] = {}
    for name in names:
        if match := _OPTION.fullmatch(normal(name)):
            capital = bool(match["letter"]) and name.isupper()  # q, a, A and B are question, answer and options
            families.setdefault((match["family"] or "", capital), {})[match["mark"] or match["letter"]] = name
    for (family, _), members in families.items():
        marks = sorted(members, key=lambda mark: (len(mark), mark))
        if len(marks) < 2 or (not family and marks == ["a", "q"]):  # these are question and answer
            continue
        # Counted in the way of the first: a, b, … or 0, 1, … or 1, 2, …
        first = 0 if marks[0] == "0" else 1
        counted = [str(first + place) for place in range(len(marks))]
        expected = counted if marks[0].isdigit() else list(ascii_uppercase.lower()[: len(marks)])
        if marks != expected:
            wanted = ", ".join(f"{family}{mark}".upper() for mark in expected)
            raise BadData(f"{where}: the options must be called {wanted}, but are {', '.join(members.values())}.")
        return tuple(members[mark] for mark in marks)
    return ()


# What the names of columns leave open: from where positions count, and how answers compare.


ANSWER_IS: dict[str, AnswerIs] = {"text": "letter or text", "0": "position from 0", "1": "position from 1"}
"""How a user says it → what it means."""

_Marked = list[tuple[str, str, int | None, RowOptions]]
"""(row, right answer, the same as a whole number, options) of each row with options."""


def answer_is(where: str, rows: Sequence[DataRow], columns: Columns) -> AnswerIs:
    """How right options are written. Only whole numbers leave it open; refused where they could count from 0 and 1."""
    marked: _Marked = []
    for number, row in enumerate(rows, start=1):
        at = f"{where}, row {number}"
        options = options_of(at, row, columns) if columns.choices else None
        value = own_cells.value_at(row, columns.answer)
        if options and not own_cells.is_blank(value):
            for text in own_cells.answers_of(at, columns.answer, value):
                marked.append((at, text, position(text), options))
    if not marked or any(place is None for _, _, place, _ in marked):
        return "letter or text"
    named = [named_places(text, options) for _, text, _, options in marked]
    if all(len(places) == 1 for places in named):
        return _text_unless_unclear(marked, columns.answer)
    from_0, from_1 = _fits(marked, 0), _fits(marked, 1)
    if from_0 and from_1:
        at, text, place, options = marked[0]
        from_0_is, from_1_is = (own_cells.short(options.texts[(place or 0) - first]) for first in (0, 1))
        others = f", and so for {len(marked) - 1:,} more" if len(marked) > 1 else ""
        raise BadData(
            f"{at}: the right answer {text} is {from_0_is} if options count from 0, and {from_1_is} if they count from "
            f"1{others}: no right answer is 0, and none is as many as there are options. Say which with --columns "
            f"answer_is=0 or answer_is=1, or write letters in '{columns.answer}'."
        )
    return "position from 1" if from_1 else "position from 0"


def _fits(marked: _Marked, first: int) -> bool:
    return all(0 <= (number or 0) - first < len(options.texts) for _, _, number, options in marked)


def _text_unless_unclear(marked: _Marked, column: str) -> AnswerIs:
    """Numbers that are options' texts: refused where they could be the positions of other ones."""
    for first in (0, 1):
        if not _fits(marked, first) or all(
            options.are_named and text in options.labels for _, text, _, options in marked
        ):
            continue
        for at, text, number, options in marked:
            by_text, by_position = named_places(text, options)[0], (number or 0) - first
            if by_text != by_position:
                raise BadData(
                    f"{at}: the right answer {text} is the text of option {ascii_uppercase[by_text]}, "
                    f"and counted from {first} the position of option {ascii_uppercase[by_position]} "
                    f"({own_cells.short(options.texts[by_position])}). Say which with --columns answer_is=text, "
                    f"answer_is=0 or answer_is=1, or write letters in '{column}'."
                )
    return "letter or text"


def refuse_what_would_be_dropped(where: str, rows: Sequence[DataRow], columns: Columns) -> None:
    """Refuses pictures, and lists that look like options, in columns that nothing would be made of."""
    for name in unused(rows, columns):
        is_media = any(any(media_in(row.get(name))) for row in rows)
        if is_media or normal(name) in MEDIA:
            raise BadData(
                f"{where}: the column '{name}' holds pictures or sound, and own questions are asked as text. Write a "
                f"task file whose question has {{{{ {name} }}}}, as docs/how-to/pictures.md shows, or remove the "
                "column if the questions can be answered without it."
            )
        for number, row in enumerate(rows, start=1):
            held, answer = own_cells.entries(row.get(name)), own_cells.value_at(row, columns.answer)
            if held and not columns.choices and answer in held:
                raise BadData(
                    f"{where}, row {number}: the right answer {own_cells.short(answer)} is one of the list in "
                    f"'{name}', which would not be shown. Name the options with --columns choices={name}, or remove "
                    "the column."
                )


def unused(rows: Sequence[DataRow], columns: Columns) -> list[str]:
    """The columns of which nothing is made."""
    paths = [columns.question, columns.more, columns.system, columns.answer, columns.labels, columns.id]
    paths += [*columns.context, *columns.also, *columns.choices, columns.category, columns.cluster]
    paths += [columns.match, columns.tolerance, columns.aliases, columns.wrong]
    used = {*paths, *(path.partition(".")[0] for path in paths)}
    return [name for name in names_of(rows) if name not in used]


# How a row is judged, where the row itself or the user says so.


_OWN_MATCHES = (*MATCHES, "number", "formula", "text", "choice", "auto")


def judged(where: str, row: DataRow, columns: Columns, answers: list[str], usual: str) -> dict[str, Any]:
    """The kind of a row without options, its right answers, its tolerance, and what is wrong in any case."""
    stated = _stated_match(where, row, columns)
    kind = usual if stated in {"", "auto"} else stated
    if kind == "choice":
        raise BadData(f"{where}: '{columns.match}' is choice, but the row has no options.")
    answers = list(dict.fromkeys([*answers, *_texts_of(where, row, columns.aliases)]))
    if kind == "number" and (others := [text for text in answers if as_number(text) is None]):
        raise BadData(f"{where}: it is judged as a number, but the right answer {own_cells.short(others[0])} is none.")
    for text in answers if kind == "regex" else ():
        pattern(where, text)
    tolerance = "".join(_texts_of(where, row, columns.tolerance)).replace(" ", "")
    if tolerance and kind != "number":
        raise BadData(f"{where}: '{columns.tolerance}' is {tolerance}, but the right answer is no number.")
    if tolerance and (as_number(tolerance) is None or tolerance.startswith("-")):
        raise BadData(
            f"{where}: '{columns.tolerance}' must be a number such as 0.5, or a share such as 5%, not "
            f"{own_cells.short(tolerance)}."
        )
    return {"answers": answers, "kind": kind, "tolerance": tolerance, "wrong": _texts_of(where, row, columns.wrong)}


def refuse_with_options(where: str, row: DataRow, columns: Columns) -> None:
    """Refuses what cannot count where a row has options."""
    stated = _stated_match(where, row, columns)
    if stated not in {"", "auto", "choice"}:
        raise BadData(f"{where}: '{columns.match}' is {stated}, but the row has options, and its letter is compared.")
    for name in (columns.tolerance, columns.aliases):
        if _texts_of(where, row, name):
            raise BadData(f"{where}: the row has options, and its letter is compared, so '{name}' cannot count.")


def _stated_match(where: str, row: DataRow, columns: Columns) -> str:
    stated = "".join(_texts_of(where, row, columns.match)).strip().lower()
    if stated == "judge":
        raise BadData(
            f"{where}: a judge model is asked by a task file of your own, not by a row: see judge_grade in "
            f"docs/reference/steps-and-metrics.md, or leave '{columns.match}' empty."
        )
    if stated and stated not in _OWN_MATCHES:
        raise BadData(
            f"{where}: '{columns.match}' says how a row is judged, so it must be one of {', '.join(_OWN_MATCHES)}, not "
            f"{own_cells.short(stated)}; rename the column if it means something else."
        )
    return stated


def _texts_of(where: str, row: DataRow, column: str) -> list[str]:
    value = own_cells.value_at(row, column) if column else None
    return [] if own_cells.is_blank(value) else own_cells.answers_of(where, column, value)


def pattern(where: str, text: str) -> None:
    """Refuses a right answer that is no pattern."""
    try:
        pattern_of(text)
    except re.error as error:
        raise BadData(f"{where}: the right answer {own_cells.short(text)} is no pattern: {error}.") from error
