"""The names of columns → what they are. Names are those of benchmarks, hubs and other programs, in any spelling."""

import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.tasks.own_questions import cells
from model_accuracy_eval.tasks.own_questions.question_shape import Columns
from model_accuracy_eval.tasks.rows import DataRow

QUESTIONS = (
    *("question", "problem", "query", "prompt", "questionstem", "stem", "问题", "题目", "题干", "messages", "input"),
    *("instruction", "ctx", "goal", "sentence", "text", "q"),
)
CONTEXTS = ("context", "passage", "article", "story", "paragraph", "background", "document", "背景", "材料", "文章")
SYSTEMS = ("system", "systemprompt")
ANSWERS = (
    *("answer", "answers", "target", "targets", "gold", "ideal", "label", "expected", "expectedanswer", "reference"),
    *("references", "referenceanswer", "groundtruth", "goldanswer", "goldlabel", "correctanswer", "correctanswers"),
    *(
        "correct",
        "correctoption",
        "correctchoice",
        "rightanswer",
        "bestanswer",
        "answerkey",
        "answerindex",
        "answeridx",
    ),
    *("correctindex", "answerletter", "finalanswer", "cop", "答案", "正确答案", "标准答案", "参考答案"),
)
REPLIES = ("output", "response", "completion", "solution", "a")
"""Right answers as well, where none of the others is there."""
CHOICES = ("choices", "options", "candidates", "endings", "alternatives", "answerchoices", "answeroptions", "选项")
IDS = (
    "id",
    "qid",
    "questionid",
    "uid",
    "uuid",
    "key",
    "idx",
    "taskid",
    "problemid",
    "sampleid",
    "itemid",
    "编号",
    "序号",
)
CATEGORIES = ("category", "subject", "topic", "subjectname", "学科", "科目", "类别")
MEDIA = ("image", "images", "picture", "pictures", "audio", "video", "figure", "图片", "图像")

_OPTION = re.compile(r"(?:option|choice|opt|op|answer|ans|sol|solution|ending|选项)(\d{1,2}|[a-z])", re.IGNORECASE)

_SEVERAL = ("context", "choices")
"""Roles that several columns may have together, written as `A+B`."""


def normal(name: str) -> str:
    """A name without regard to case, blanks, `_` and `-`."""
    return re.sub(r"[\s_\-]+", "", name).casefold()


def names_of(rows: Iterable[DataRow]) -> tuple[str, ...]:
    """All columns in which some row has something."""
    return tuple(dict.fromkeys(name for row in rows for name, value in row.items() if not cells.is_blank(value)))


def find_columns(where: str, rows: Sequence[DataRow], given: Mapping[str, str]) -> Columns:
    """What each column is; `given`: what the user has said, by role."""
    names = [name for name in names_of(rows) if name not in given.values()]
    columns = _given(given)
    _refuse_unknown(where, rows, given)
    nested = next((name for name in names if normal(name) == "question" and _is_nested(rows, name)), None)
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
            raise BadData(
                f"{where}: no column is known to hold the right answer; there are: {', '.join(names_of(rows))}. "
                "Name it with --columns answer=NAME."
            )
        columns = replace(columns, answer=found[0], also=tuple(found[1:]))
    return replace(
        columns,
        context=columns.context or tuple(_named(names, CONTEXTS)),
        system=columns.system or next(iter(_named(names, SYSTEMS)), ""),
        id=columns.id or next(iter(_named(names, IDS)), ""),
        category=columns.category or next(iter(_named(names, CATEGORIES)), ""),
    )


def _given(given: Mapping[str, str]) -> Columns:
    roles = ("question", "more", "context", "system", "answer", "choices", "labels", "id", "category")
    for role in given:
        if role not in roles:
            raise UnknownName("role of a column", role, roles)
    several = {role: tuple(given[role].split("+")) for role in _SEVERAL if role in given}
    return Columns(**{**given, **several})  # type: ignore[arg-type]


def _refuse_unknown(where: str, rows: Sequence[DataRow], given: Mapping[str, str]) -> None:
    """Refuses a column that no row has: most are slips of the keyboard."""
    for role, value in given.items():
        for column in value.split("+") if role in _SEVERAL else [value]:
            if not any(column in row or cells.value_at(row, column) is not None for row in rows):
                raise BadData(
                    f"{where}: there is no column '{column}', which --columns {role}={value} names; there are: "
                    f"{', '.join(names_of(rows))}."
                )


def _is_nested(rows: Sequence[DataRow], name: str) -> bool:
    return all(isinstance(row.get(name), dict) and {"stem", "choices"} <= row[name].keys() for row in rows)


def _with_question(where: str, names: Sequence[str], columns: Columns) -> Columns:
    found = [name for name in _named(names, QUESTIONS) if name != columns.answer]
    plain = [normal(name) for name in found]
    if not found:
        raise BadData(
            f"{where}: no column is known to hold the question; there are: {', '.join(names)}. "
            "Name it with --columns question=NAME."
        )
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
    for alphabet in (ascii_uppercase, ascii_uppercase.lower()):
        letters = sorted(name for name in names if len(name) == 1 and name in alphabet)
        if len(letters) > 1 and letters != ["a", "q"]:  # these are question and answer
            return _consecutive(where, letters, list(alphabet))
    families: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _OPTION.fullmatch(normal(name)):
            families.setdefault(normal(name)[: -len(match[1])], {})[match[1].lower()] = name
    for family in families.values():
        if len(family) > 1:
            marks = sorted(family, key=lambda mark: (len(mark), mark))
            expected = _counted(marks)
            if marks != expected:
                raise BadData(f"{where}: the options are in {', '.join(family.values())}, and one between them lacks.")
            return tuple(family[mark] for mark in marks)
    return ()


def _counted(marks: Sequence[str]) -> list[str]:
    """Marks of as many options, counted in the way of the first: a, b, … or 0, 1, … or 1, 2, …"""
    if marks[0].isdigit():
        first = 0 if marks[0] == "0" else 1
        return [str(first + place) for place in range(len(marks))]
    return list(ascii_uppercase.lower()[: len(marks)])


def _consecutive(where: str, letters: list[str], alphabet: list[str]) -> tuple[str, ...]:
    expected = alphabet[: len(letters)]
    if letters != expected:
        raise BadData(
            f"{where}, line 1: the options must be called {', '.join(expected)}, but are {', '.join(letters)}."
        )
    return tuple(letters)
