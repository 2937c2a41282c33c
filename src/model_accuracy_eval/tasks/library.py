"""What `--datasets` names → tasks: a task or group in the user's folders, a task file, a data file, or a known name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import DataFile, DataRow, TableFile, TaskGroup, TaskSpec
from model_accuracy_eval.tasks import addresses, task_file
from model_accuracy_eval.tasks.importers import (
    lm_eval_files,
    lm_eval_tasks,
    own_questions,
    ultraeval_replies,
    ultraeval_tasks,
)
from model_accuracy_eval.tasks.importers.lm_eval_files import TaskFileReader
from model_accuracy_eval.tasks.importers.lm_eval_tasks import ImportedTasks, TaskIndex

ReadFile = Callable[[str], bytes | TableFile]
ReadSplit = Callable[[DataFile], tuple[tuple[str, ...], list[DataRow]]]


class NamedTasks(msgspec.Struct, frozen=True):
    """The tasks and groups that a name stands for."""

    tasks: tuple[TaskSpec, ...]
    groups: tuple[TaskGroup, ...] = ()
    ignored: tuple[str, ...] = ()
    """Fields of task files that the import ignores, each with its task's name."""
    formed: bool = False
    """Whether the tasks are asked in the format that was asked for."""

    def understood(self, names: Iterable[str]) -> str:
        """Which of the names, that were asked for, are other spellings of these."""
        return dataset_table.NAMES.understood(
            names, {*(task.name for task in self.tasks), *(group.name for group in self.groups)}
        )


@dataclass(frozen=True)
class Library:
    """All tasks that can be named. The user's folders come before the table."""

    read_file: ReadFile
    """Brings what a data file holds."""
    files: TaskFileReader
    folders: tuple[str, ...] = ()
    trusted: bool = False
    """Whether Python that belongs to task files may be run."""
    read_split: ReadSplit | None = None
    """Brings the rows of a hub's dataset, and the addresses of their files."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What the user says about the columns of own questions: role → name."""

    def find_all(self, names: Iterable[str]) -> NamedTasks:
        """Everything that the names stand for, without repetitions."""
        names = tuple(dict.fromkeys(names))
        if self.columns and not any(
            addresses.is_address(name) or own_questions.looks_like_file(name) for name in names
        ):
            raise BadValue(
                f"--columns says what the columns of own questions are, but {', '.join(names)} "
                f"{'has its' if len(names) == 1 else 'have their'} own prompt and answers: leave it out."
            )
        matches = [self.find(name) for name in names]
        specs: list[TaskSpec] = []
        for task in [task for match in matches for task in match.tasks]:
            if task not in specs:
                specs.append(task)
        task_names = [task.name for task in specs]
        if repeated := [name for name in task_names if task_names.count(name) > 1]:
            raise BadValue(
                f"Two of the datasets are called '{repeated[0]}', and their reports would overwrite each other."
            )
        return NamedTasks(tuple(specs), tuple(dict.fromkeys(group for match in matches for group in match.groups)))

    def find(self, name: str) -> NamedTasks:
        """What the name stands for; `name@prompt` asks it in other words, `name@format` in that format, and
        `name@from..to` takes the rows of a time, `name@tiny` a sample of them."""
        base, _, form = name.rpartition("@")
        if base and (rows := addresses.some_rows(form)):
            change, match = rows, self.find(base)
        elif (
            not base
            or form not in addresses.FORMATS
            # The table may have a prompt of that name.
            or (dataset_table.canonical(name) is not None and not (self.folders and self._imported(base)))
        ):
            return self._find(name)
        else:
            match = self._find(base, form)
            change = partial(_called if match.formed else addresses.task_in_format, form=form)
        groups = tuple(addresses.group_in_format(group, form) for group in match.groups)
        return NamedTasks(tuple(map(change, match.tasks)), groups, match.ignored)

    def _find(self, name: str, form: str = "") -> NamedTasks:
        """`form`: the format in which tasks of lm-eval's files are asked; others are asked in their own."""
        if name.endswith((".yaml", ".yml")):
            return self._task_file(name, form)
        if addresses.is_address(name) and self.read_split:
            return self._hub_dataset(name, self.read_split)
        if own_questions.looks_like_file(name):
            return self._data_file(name)
        if self.folders and (imported := self._imported(name, form)):
            return _named(imported)
        if group := dataset_table.GROUPS.get(dataset_table.canonical(name) or name):
            return NamedTasks(tuple(map(dataset_table.find, group.members)), (group,))
        return NamedTasks((dataset_table.find(name),))

    def _imported(self, name: str, form: str = "") -> ImportedTasks | None:
        """The task of that name in the user's folders, in lm-eval's format or UltraEval's."""
        found = lm_eval_tasks.from_name(self._index, name, trusted=self.trusted, form=form)
        return found or ultraeval_tasks.from_name(self.files, self.folders, name, trusted=self.trusted)

    @cached_property
    def _index(self) -> TaskIndex:
        return TaskIndex(self.files, self.folders)

    def _task_file(self, path: str, form: str = "") -> NamedTasks:
        fields = lm_eval_files.load(self.files, path)
        if fields.keys() & {"task", "group"}:
            found = lm_eval_tasks.from_file(self.files, path, folders=self.folders, trusted=self.trusted, form=form)
            return _named(found)
        if "parts" in fields:
            parts = [self._part(path, part) for part in fields["parts"]]
            fields = {**task_file.FIELDS_OF_PARTS, **fields, "parts": parts}
        task = task_file.from_fields(path, fields).with_data(partial(self._beside, path))
        return NamedTasks((task_file.beside(path, task, self.files.holds),))

    def _beside(self, path: str, data: DataFile) -> DataFile:
        place = str(PurePath(path).parent / data.name)
        is_local = data.name and not (data.source or data.recipe)
        if not is_local or place == data.name or not self.files.holds(place):
            return data
        return replace(data, name=place)

    def _part(self, path: str, part: Any) -> Any:
        """The fields of a part, which is written as them or as the name of one task."""
        if isinstance(part, dict):
            own = {"about": f"A part of {path}.", "fields": (), **part}
            if "parts" in own:
                own = {**task_file.FIELDS_OF_PARTS, **own, "parts": [self._part(path, inner) for inner in own["parts"]]}
            return own
        if not isinstance(part, str):
            raise BadValue(f"{path}: a part is the name of a dataset, or its fields, but one is {part!r}.")
        matches = self.find(part).tasks
        if len(matches) != 1:
            raise BadValue(f"{path}: '{part}' stands for {len(matches)} datasets, but a part is one.")
        return msgspec.to_builtins(matches[0])

    def _data_file(self, name: str) -> NamedTasks:
        data = self.read_file(name)
        if name.endswith(".json") and isinstance(data, bytes) and ultraeval_replies.is_config(data):
            return _named(ultraeval_tasks.from_file(self.files, name, data, trusted=self.trusted))
        return NamedTasks((own_questions.from_file(name, data, self.columns),))

    def _hub_dataset(self, name: str, read_split: ReadSplit) -> NamedTasks:
        """Rows of a hub are read as own questions are."""
        called, file = addresses.data_file(name)
        places, found = read_split(file)
        task = own_questions.from_rows(called, file, found, self.columns)
        more = f" and {len(places) - 1} more files" if len(places) > 1 else ""
        about = f"{len(found):,} rows of {places[0]}{more}. {task.about.removeprefix('Own questions. ')}"
        return NamedTasks((msgspec.structs.replace(task, about=about),))


def columns_by_role(pairs: Iterable[str]) -> dict[str, str]:
    """`question=problem` and the like: role → column."""
    columns: dict[str, str] = {}
    for pair in pairs:
        role, equals, column = pair.partition("=")
        if not (role and equals and column) or role in columns:
            raise BadValue(f"--columns says what a column is, as in question=problem,answer=solution, not '{pair}'.")
        columns[role] = column
    return columns


def _called(task: TaskSpec, form: str) -> TaskSpec:
    return replace(task, name=f"{task.name}@{form}")


def _named(imported: ImportedTasks) -> NamedTasks:
    ignored = tuple(f"{entry.task.name}: {field}" for entry in imported.tasks for field in entry.ignored)
    return NamedTasks(tuple(entry.task for entry in imported.tasks), tuple(imported.groups), ignored, imported.formed)
