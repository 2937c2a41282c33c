"""`tasks show` and `tasks prepare`: a dataset looked at, or fetched, without a run."""

from collections.abc import Iterator

import msgspec

from model_accuracy_eval import tasks
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import Hub
from model_accuracy_eval.records import DataFile, TaskSpec
from model_accuracy_eval.tasks import custom, exam, rows


def show(name: str, data_dir: str | None, hub: Hub) -> str:
    """The TaskSpec as JSON, and its first problem as it is sent, if the rows are on this machine."""
    task = _task(name, data_dir, hub)
    definition = msgspec.json.format(msgspec.json.encode(task), indent=2).decode()
    try:
        sent = _first_problem(task, data_dir, hub)
    except BadData as error:
        sent = error.sentence
    return f"{definition}\n\n{sent}"


def prepare(names: tuple[str, ...], hub: Hub) -> Iterator[str]:
    """One line a file: what it is and where it lies."""
    for task in [tasks.find(name) for name in names]:
        for file in _files(task):
            yield f"{task.name}: {file.name} is at {hub.prepare(file)}"


def _task(name: str, data_dir: str | None, hub: Hub) -> TaskSpec:
    if custom.looks_like_file(name):
        return custom.from_file(name, hub.read(DataFile(name=name), data_dir)[1])
    return tasks.find(name)


def _files(task: TaskSpec) -> list[DataFile]:
    fewshot = task.prompt.fewshot
    return [task.data, *([fewshot.data] if fewshot and fewshot.data else [])]


def _first_problem(task: TaskSpec, data_dir: str | None, hub: Hub) -> str:
    questions, *examples = [rows.parse(*hub.read(file, data_dir), task.fields) for file in _files(task)]
    ready = exam.build(task, questions, examples[0] if examples else [], limit=1)
    problem = ready.problems[0]
    turns = [f"── {message.role} ──\n{message.content}" for message in problem.messages]
    return "\n".join(
        [*turns, f"── right answer ──\n{problem.references[0]}", "", f"version {ready.version} (of this one problem)"]
    )
