"""A user's own rows → a task. What each column is, and how answers are compared, is found out from the rows.

Of conversations without answers of their own the last reply is the right answer; where it is long, its words count.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from string import ascii_uppercase
from typing import Any

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TableFile,
    TaskSpec,
)
from model_accuracy_eval.scoring.answers.own_answers import MATCHES, READINGS, is_number
from model_accuracy_eval.system import table_files
from model_accuracy_eval.tasks import row_formats
from model_accuracy_eval.tasks.importers import own_cells, own_columns, own_rights
from model_accuracy_eval.tasks.importers.own_cells import QuestionShape, options_of, possible_places, right_place
from model_accuracy_eval.tasks.importers.own_columns import columns_by_name
from model_accuracy_eval.tasks.rows import parse
from model_accuracy_eval.tasks.spreadsheets import file_of, is_sheet

# What has been understood of a file, in sentences for the terminal and the page.


def about(raw: Sequence[DataRow], read: Sequence[DataRow], shape: QuestionShape) -> Iterator[str]:
    """`raw` are the rows as they are written, `read` the same rows in the common form."""
    yield _columns(shape)
    yield from _options(raw, read, shape)
    counts = Counter(row["kind"] for row in read)
    kinds = [f"{_rows(count)} by {READINGS[kind]}" for kind, count in counts.items()]
    yield f"Judged: {', '.join(kinds)}."
    several = [place for place, row in enumerate(read, start=1) if len(row["answers"]) > 1]
    if several:
        shown = " or ".join(f"'{text}'" for text in read[several[0] - 1]["answers"][:3])
        yield f"{_rows(len(several))} with several right answers, any of which counts: row {several[0]} takes {shown}."
    yield from _hints(read, shape)
    if unused := own_columns.unused(raw, shape.columns):
        yield f"Not used: {', '.join(unused)}."


def _hints(read: Sequence[DataRow], shape: QuestionShape) -> Iterator[str]:
    """How right answers are written, where that is not plain, or could be meant in another way."""
    if shape.decimal_comma:
        yield "The comma in right answers is a decimal one."
    if shape.options_inside:
        yield "Options are read in the questions, behind their letters."
    texts = [(place, text) for place, row in enumerate(read, 1) if row["kind"] == "text" for text in row["answers"]]
    if letters := [place for place, text in texts if re.fullmatch("[A-J]", text)]:
        yield f"The right answer of row {letters[0]} is a letter, and no options are seen: it is compared as a text."
    if bars := [place for place, text in texts if "|" in text.strip("|")]:
        yield f"The | in row {bars[0]} is a part of its right answer, unless --columns answer_is={_ALTERNATIVES}."
    if slashes := [place for place, text in texts if len(text) > 2 and text[0] == text[-1] == "/"]:
        yield f"The right answer of row {slashes[0]} is compared as a text; with --match regex it is a pattern."


def _columns(shape: QuestionShape) -> str:
    columns = shape.columns
    parts = [f"question from '{columns.question}'"]
    parts += [f"after '{name}'" for name in columns.context]
    parts += [f"with '{columns.more}' below it"] * bool(columns.more)
    parts += [f"system message from '{columns.system}'"] * bool(columns.system)
    answers = " and ".join(f"'{name}'" for name in (columns.answer, *columns.also))
    parts.append(f"right answer from {answers}" + (f" after {shape.after}" if shape.after else ""))
    parts += [f"ids from '{columns.id}'"] * bool(columns.id)
    parts += [f"clusters from '{columns.cluster}'"] * bool(columns.cluster)
    return f"Read: {', '.join(parts)}."


def _options(raw: Sequence[DataRow], read: Sequence[DataRow], shape: QuestionShape) -> Iterator[str]:
    places = [place for place, row in enumerate(read) if row["choices"]]
    if not places:
        return
    counts = sorted({len(read[place]["choices"]) for place in places})
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    from_columns = ", ".join(f"'{name}'" for name in shape.columns.choices or [shape.columns.question])
    first = read[places[0]]
    right = first["choices"][ascii_uppercase.index(first["answers"][0])]
    written = own_cells.short(own_cells.value_at(raw[places[0]], shape.columns.answer))
    yield (
        f"Options: {number} a row from {from_columns}; the right one is written as its {shape.answer_is} "
        f"(row {places[0] + 1}: {written} is '{right}')."
    )


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


_ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".zip", ".xls", ".ods", *table_files.ENDINGS)
_LISTED = "\n{% for option in choices %}\n{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}. {{ option }}{% endfor %}"
_FORM = "\n\nThink it through if you need to, then end with: ANSWER: X (%s)."
_FORMS = {
    "letter": _FORM % "one of {{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[:choices | length] | join(', ') }}",
    "open": _FORM % "the answer alone",
}
_LONGEST_SHORT = 100
"""Characters of right answers for which a form is asked: a longer reply is its answer as it is."""


_ALTERNATIVES = "alternatives"


def _question_template(shape: QuestionShape, *, asks: bool) -> str:
    """The question, its options unless it has them itself, and the form in which its answer is asked for."""
    shown = "" if shape.options_inside else _LISTED
    of_letters = "{% if choices %}" + shown + _FORMS["letter"] * asks + "{% endif %}"
    of_texts = "{% if is_short %}" + _FORMS["open"] + "{% endif %}"
    has_letters, has_texts = "letter" in shape.kinds, shape.kinds != ("letter",)
    return "{{ question }}" + of_letters * has_letters + of_texts * (asks and has_texts)


def looks_like_file(name: str) -> bool:
    """Whether a name has a slash or the ending of a data file, which names of datasets never have."""
    return "/" in name or is_sheet(name) or name.removesuffix(".gz").endswith(_ENDINGS)


def from_file(path: str, data: bytes | TableFile, columns: Mapping[str, str] | None = None) -> TaskSpec:
    """The task of a data file. Its name is the file's stem, as in AISBench."""
    name = PurePath(file_of(path).removesuffix(".gz")).stem
    rows = list(parse(path, data, ()))
    if not columns and _are_conversations(rows):
        parse(path, data, ("messages",))  # which names the line
    return from_rows(name, DataFile(name=path), rows, columns)


def from_rows(name: str, data: DataFile, rows: list[DataRow], columns: Mapping[str, str] | None = None) -> TaskSpec:
    """The task of rows, wherever they are from."""
    if not columns and _are_conversations(rows):
        talks = list(map(row_formats.with_messages, rows))
        for number, row in enumerate(talks, start=1):
            row_formats.check(f"{data.name}, row {number}", row.get("messages"))
        split = row_formats.last_replies(talks)
        if all(len(row["reply"]) <= _LONGEST_SHORT and "\n" not in row["reply"] for row in split):
            asked = [{"earlier": row["earlier"], "reply": row["reply"]} for row in split]
            task = _understood(name, data, asked, {"question": "earlier", "answer": "reply"})
            about = f"{task.about} Each conversation's last reply is its right answer."
            return replace(task, views=(Step(name="last_replies"), *task.views), fields=("messages",), about=about)
        return replace(row_formats.task(name, data.name), data=data)
    return _understood(name, data, rows, dict(columns or {}))


def _are_conversations(rows: list[DataRow]) -> bool:
    answers = {*own_columns.ANSWERS, *own_columns.REPLIES}
    return "messages" in row_formats.with_messages(rows[0]) and not any(
        own_columns.normal(name) in answers for name in rows[0]
    )


def _understood(name: str, data: DataFile, rows: list[DataRow], roles: dict[str, str]) -> TaskSpec:
    """How rows are to be read. This is the one place that decides it: what is not certain is refused with its row, or
    decided by a rule that is told.

    `roles`: role → column where the user has said it (`question`, `answer`, `choices`, `context`, …), and `answer_is`
    for how right options are written.
    """
    where = data.name
    stated, asks = roles.pop("answer_is", None), _asks(roles.pop("ask", "form"))
    columns = columns_by_name(where, rows, roles)
    own_columns.refuse_what_would_be_dropped(where, rows, columns)
    if stated in {None, _ALTERNATIVES}:
        way = own_columns.answer_is(where, rows, columns)
    elif stated in own_columns.ANSWER_IS:
        way = own_columns.ANSWER_IS[stated]
    else:
        raise UnknownName("way of writing right options", stated, (*own_columns.ANSWER_IS, _ALTERNATIVES))
    shape = QuestionShape(columns=columns, answer_is=way, alternatives=stated == _ALTERNATIVES)
    shape = own_rights.with_kind(where, rows, shape, named="answer" in roles)
    read = [read_row(f"{where}, row {number}", row, shape) for number, row in enumerate(rows, start=1)]
    shape = replace(shape, kinds=tuple(dict.fromkeys(row["kind"] for row in read)))
    has_options, is_exam = "letter" in shape.kinds, shape.kinds == ("letter",)
    fields, usual = msgspec.to_builtins(shape), msgspec.to_builtins(QuestionShape(columns=columns))
    said = {name: value for name, value in fields.items() if value != usual[name]}  # as a user would write it
    return TaskSpec(
        name=name,
        about=" ".join(
            [
                "Own questions.",
                *about(rows, read, shape),
                *([] if asks else ["Asked without a word about the form of the answer."]),
            ]
        ),
        data=data,
        views=(
            Step(
                name="own_questions",
                args={"columns": {name: value for name, value in fields["columns"].items() if value}} | said,
            ),
        ),
        fields=(),
        prompt=Prompt(
            question=_question_template(shape, asks=asks),
            dialogue="earlier" if any(row["earlier"] for row in read) else None,
        ),
        reference="{{ answers[0] }}",
        references="{{ answers | tojson }}",
        choices="{{ choices | tojson }}" if has_options else None,
        category="category" if columns.category else None,
        cluster="cluster" if columns.cluster else "",
        key=("id",) if columns.id else (),
        extras=() if is_exam else ("kind", *(name for name in ("tolerance", "wrong") if getattr(columns, name))),
        max_tokens=1024,
        pipelines=prompt_parts.LETTER_PIPELINES if is_exam else (_PIPELINE,),
    )


def _asks(stated: str) -> bool:
    if stated not in {"form", "bare"}:
        raise UnknownName("way of asking", stated, ("form", "bare"))
    return stated == "form"


_PIPELINE = Pipeline(
    filters=(Step(name="own_answer"),),
    metrics=(MetricUse(name="own_equal", label="accuracy"),),
)


def is_own(task: TaskSpec) -> bool:
    """Whether the task's rows are own questions."""
    return any(view.name == "own_questions" for view in task.views)


def notes(task: TaskSpec) -> tuple[str, ...]:
    """What own questions have been understood as."""
    return (task.about,) if is_own(task) else ()


def matched(tasks: Sequence[TaskSpec], match: str) -> tuple[TaskSpec, ...]:
    """The tasks; answers to own questions that are numbers, formulas or texts are compared in this way."""
    return tuple(_matched(task, match) if is_own(task) and match != "auto" else task for task in tasks)


def _matched(task: TaskSpec, match: str) -> TaskSpec:
    (pipeline, *others) = task.pipelines
    if others:  # options alone
        return task
    if [use.name for use in pipeline.metrics] != ["own_equal"]:
        raise BadValue(f"--match {match}: the task file of {task.name} says itself how its answers are judged.")
    filters = tuple(replace(step, args={"match": match}) for step in pipeline.filters)
    metrics = tuple(replace(use, args={"match": match}) for use in pipeline.metrics)
    return replace(
        task,
        about=f"{task.about} With --match {match}, {MATCHES[match]}.",
        pipelines=(replace(pipeline, filters=filters, metrics=metrics),),
    )


# Rows of any understood shape → rows of one form, as a view of tasks.
#
# Each gets `question`, `earlier` (messages before it), `choices`, `answers` (for options the right one's letter),
# `kind` (letter, number, formula, text, or what `match` says), and `id` and `category` if the file has them.


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
    inside = own_rights.inside(row, shape) if shape.options_inside else None
    options = options_of(where, row, columns) if columns.choices else inside
    value = own_cells.value_at(row, columns.answer)
    texts = _right_answers(where, columns.answer, value)
    found: DataRow = {"question": question, "earlier": earlier, "choices": list(options.texts) if options else []}
    found["is_short"] = False  # an option's form is asked for with the options
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
        own_columns.refuse_with_options(where, row, columns)
        found |= {"answers": [ascii_uppercase[right]], "kind": "letter"}
    else:
        texts = own_rights.texts_of(texts, shape)
        answers = _open_answers(texts, value, shape)
        for column, others in _further(where, row, shape):
            if not {own_cells.plain(text) for text in others} & {own_cells.plain(text) for text in texts}:
                raise _contradiction(where, columns.answer, texts, column, others)
            answers = list(dict.fromkeys([*answers, *others]))
        is_plain = shape.texts_are == "text"
        usual = "number" if is_plain and all(map(is_number, answers)) else shape.texts_are
        found |= own_columns.judged(where, row, columns, answers, usual)
        found["is_short"] = all(len(text) <= _LONGEST_SHORT and "\n" not in text for text in found["answers"])
    for role in ("id", "category", "cluster"):
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
        return texts
    if len(texts) == 1 and (word := texts[0].strip().lower()) in _YES and not isinstance(value, list):
        return _YES[word]  # as JSON, and as spreadsheets write it
    return own_cells.with_readings(texts)


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
