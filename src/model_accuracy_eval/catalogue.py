"""`tasks show` and `tasks prepare`: shows a dataset, or fetches its files, without a run."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadData, BadValue, Unfetched
from model_accuracy_eval.ports import DataHub, MakeRows
from model_accuracy_eval.records import DataFile, DataRow, TaskSpec
from model_accuracy_eval.tasks import preparation, rows, task_file
from model_accuracy_eval.tasks.importers import own_questions
from model_accuracy_eval.tasks.library import Library


def show(name: str, data_dir: str | None, hub: DataHub, make_rows: MakeRows, library: Library) -> str:
    """The dataset as a task file and, if the rows are on this machine, its first problem as it is sent.

    For a group, its members' names and the first of them."""
    named = library.find(name)
    parts = [f"Ignored: {field}" for field in named.ignored]
    if named.groups or len(named.tasks) > 1:
        parts.append(f"{name}: {', '.join(task.name for task in named.tasks)}")
    parts.append(task_file.shown(named.tasks[0]))
    try:
        parts.append(_first_problem(named.tasks[0], data_dir, hub, make_rows))
    except BadData as error:
        parts.append(error.sentence)
    return "\n\n".join(parts)


def init(name: str, library: Library) -> tuple[str, str]:
    """The path of the task file for a file of own questions, and its text."""
    if not own_questions.looks_like_file(name):
        raise BadValue(f"A task file is made for a file of questions, such as questions.csv; '{name}' is none.")
    (task,) = library.find(name).tasks
    path = PurePath(name.removesuffix(".gz")).with_suffix(".yaml")
    return str(path), task_file.text(task, name)


def prepare(names: tuple[str, ...], hub: DataHub, library: Library) -> Iterator[str]:
    """For each file one line with its name and its place on this machine."""
    for task in [task for name in names for task in library.find(name).tasks]:
        for file in _files(task):
            yield f"{task.name}: {file.name} is at {_place(task, file, hub)}"


def _place(task: TaskSpec, file: DataFile, hub: DataHub) -> str:
    """Where the file is now, or the one that has the same rows elsewhere. The rows of a split are noted, or compared
    with what is noted of them, as a run would do it."""
    try:
        place = hub.prepare(file)
    except Unfetched:
        if file.instead is None:
            raise
        return _place(task, file.instead, hub)
    if file.split:
        fields = () if file.recipe else [field for field in task.fields if field not in file.adds]
        places, found, is_known = rows.whole(file, fields, None, hub)
        rows.check(file, found, fields, places, hub.pins, is_known=is_known)
    return place


def with_a_source() -> tuple[str, ...]:
    """The names of all datasets whose files can all be fetched."""
    return tuple(
        name for name, task in dataset_table.TASKS.items() if all(file.hub or file.split for file in _files(task))
    )


def _files(task: TaskSpec) -> list[DataFile]:
    """All files of a task, those of its parts included, each once."""
    if task.parts:
        files = [file for part in task.parts for file in _files(part)]
        return [file for place, file in enumerate(files) if file not in files[:place]]
    fewshot = task.prompt.fewshot
    return [*_fetched(task.data), *(_fetched(fewshot.data) if fewshot and fewshot.data else [])]


def _fetched(file: DataFile) -> list[DataFile]:
    """The files that have the rows where nothing lies under --data-dir."""
    if file.instead and not file.hub:
        return _fetched(file.instead)
    return [file, *(one for other in file.more for one in _fetched(other))]


def _first_problem(task: TaskSpec, data_dir: str | None, hub: DataHub, make_rows: MakeRows) -> str:
    def read(file: DataFile, fields: tuple[str, ...]) -> Sequence[DataRow]:
        return rows.read(file, fields, data_dir, hub, make_rows)

    ready = preparation.assemble(task, read, limit=1)
    problem = ready.problems[0]
    turns = [f"── {message.role} ──\n{message.shown}" for message in problem.messages]
    judged = list(own_questions.told(ready))
    return "\n".join(
        [
            *judged,
            *turns,
            f"── right answer ──\n{problem.right[0]}",
            "",
            f"version {ready.version} (of this one problem)",
        ]
    )
