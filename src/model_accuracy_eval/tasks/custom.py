"""A user's own rows → a task. What each column is, and how answers are compared, `own_questions` finds out.

A file of conversations without answers of their own is compared with each conversation's last reply.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.records import DataFile, MetricUse, Pipeline, Prompt, Step, TableFile, TaskSpec
from model_accuracy_eval.scoring.answer_kinds import KINDS
from model_accuracy_eval.table_files import table_rows
from model_accuracy_eval.tasks import conversations, prompt_parts
from model_accuracy_eval.tasks.own_questions import find_columns
from model_accuracy_eval.tasks.own_questions.question_shape import QuestionShape
from model_accuracy_eval.tasks.own_questions.understand import UnderstoodRows, understand
from model_accuracy_eval.tasks.rows import DataRow, parse

_ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".zip", ".xlsx", ".xls", ".ods", *table_rows.ENDINGS)
_LISTED = (
    "{% if choices %}\n"
    "{% for option in choices %}\n{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}. {{ option }}{% endfor %}\n\n"
    "Think it through if you need to, then end with: ANSWER: X (one of "
    "{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[:choices | length] | join(', ') }}).{% endif %}"
)


def looks_like_file(name: str) -> bool:
    """Whether a name has a slash or the ending of a data file, which names of datasets never have."""
    return "/" in name or name.removesuffix(".gz").endswith(_ENDINGS)


def from_file(path: str, data: bytes | TableFile, columns: Mapping[str, str] | None = None) -> TaskSpec:
    """The task of a data file. Its name is the file's stem, as in AISBench."""
    name = PurePath(path.removesuffix(".gz")).stem
    rows = list(parse(path, data, ()))
    if not columns and _are_conversations(rows):
        parse(path, data, ("messages",))  # which names the line
    return from_rows(name, DataFile(name=path), rows, columns)


def from_rows(name: str, data: DataFile, rows: list[DataRow], columns: Mapping[str, str] | None = None) -> TaskSpec:
    """The task of rows, wherever they are from."""
    if not columns and _are_conversations(rows):
        for number, row in enumerate(rows, start=1):
            conversations.check(f"{data.name}, row {number}", conversations.with_messages(row).get("messages"))
        return replace(conversations.task(name, data.name), data=data)
    return task_of(name, data, understand(data.name, rows, columns))


def _are_conversations(rows: list[DataRow]) -> bool:
    answers = {*find_columns.ANSWERS, *find_columns.REPLIES}
    return "messages" in conversations.with_messages(rows[0]) and not any(
        find_columns.normal(name) in answers for name in rows[0]
    )


def task_of(name: str, data: DataFile, understood: UnderstoodRows) -> TaskSpec:
    """The task of rows that have been understood, whatever they come from."""
    shape = understood.shape
    has_options = "letter" in shape.kinds
    return TaskSpec(
        name=name,
        about="Own questions. " + " ".join(understood.said),
        data=data,
        views=(Step(name="own_questions", args=_arguments(shape)),),
        fields=(),
        prompt=Prompt(
            question="{{ question }}" + (_LISTED if has_options else ""),
            dialogue="earlier" if any(row["earlier"] for row in understood.rows) else None,
        ),
        reference="{{ answers[0] }}",
        references="{{ answers | tojson }}",
        choices="{{ choices | tojson }}" if has_options else None,
        category="category" if shape.columns.category else None,
        key=("id",) if shape.columns.id else (),
        extras=("kind",) if len(shape.kinds) > 1 else (),
        max_tokens=1024,
        pipelines=_pipelines(shape),
    )


def _arguments(shape: QuestionShape) -> dict[str, object]:
    """The shape as a user would write it: without what is as usual."""
    fields = msgspec.to_builtins(shape)
    usual = msgspec.to_builtins(QuestionShape(columns=shape.columns))
    columns = {name: value for name, value in fields["columns"].items() if value}
    return {"columns": columns} | {name: value for name, value in fields.items() if value != usual[name]}


def _pipelines(shape: QuestionShape) -> tuple[Pipeline, ...]:
    if shape.kinds == ("letter",):
        return prompt_parts.LETTER_PIPELINES
    if len(shape.kinds) > 1:
        steps = Step(name="answer_in_kind"), MetricUse(name="equal_in_kind", label="accuracy")
    else:
        steps = KINDS[shape.kinds[0]].filter, KINDS[shape.kinds[0]].metric
    return (Pipeline(filters=(Step(name="strip_thoughts"), steps[0]), metrics=(steps[1],)),)


def is_own(task: TaskSpec) -> bool:
    """Whether the task's rows are own questions."""
    return any(view.name == "own_questions" for view in task.views)


def notes(task: TaskSpec) -> tuple[str, ...]:
    """What own questions have been understood as."""
    return (task.about,) if is_own(task) else ()


def all_containing(tasks: Sequence[TaskSpec]) -> tuple[TaskSpec, ...]:
    """The tasks, but where own questions have texts as right answers, a reply need only contain one."""
    return tuple(_containing(task) if is_own(task) else task for task in tasks)


def _containing(task: TaskSpec) -> TaskSpec:
    kinds = task.views[0].args.get("kinds", [])
    if "text" not in kinds:
        return task
    measure = MetricUse(name="contains_words", label="accuracy")
    if len(kinds) > 1:
        measure = MetricUse(name="equal_in_kind", label="accuracy", args={"contains": True})
    (pipeline,) = task.pipelines
    return replace(
        task,
        about=f"{task.about} A reply that contains a right text is right.",
        pipelines=(replace(pipeline, metrics=(measure,)),),
    )
