"""Whatever `--datasets` may name → tasks: a task or group in the user's folders, a task file, a data file, or a name of
the table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from model_accuracy_eval import tasks
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import TaskGroup, TaskSpec
from model_accuracy_eval.tasks import custom, formats

if TYPE_CHECKING:  # most runs name tasks of the table, and the importers are a tenth of their start
    from model_accuracy_eval.tasks.lm_eval.groups import Collection
    from model_accuracy_eval.tasks.lm_eval.reading import Files
    from model_accuracy_eval.tasks.lm_eval.shelf import Shelf

ReadFile = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Found:
    """What a name stands for. `ignored`: fields of task files that were left aside, each with its task."""

    tasks: tuple[TaskSpec, ...]
    groups: tuple[TaskGroup, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """All tasks that can be had by name. The user's folders come first, because the user named them."""

    read_file: ReadFile
    """Brings the bytes of a data file."""
    files: "Files"
    folders: tuple[str, ...] = ()
    trusted: bool = False
    """Whether Python that belongs to task files may be run."""

    def find_all(self, names: Iterable[str]) -> Found:
        """Everything that the names stand for; what two of them share is there once."""
        found = [self.find(name) for name in dict.fromkeys(names)]
        specs: list[TaskSpec] = []
        for task in [task for one in found for task in one.tasks]:
            if task not in specs:
                specs.append(task)
        called = [task.name for task in specs]
        if twice := [name for name in called if called.count(name) > 1]:
            raise BadValue(
                f"Two of the datasets are called '{twice[0]}', and their reports would overwrite each other."
            )
        return Found(tuple(specs), tuple(dict.fromkeys(group for one in found for group in one.groups)))

    def find(self, name: str) -> Found:
        """What the name stands for, asked in the format that may stand behind it."""
        whole, _, form = name.rpartition("@")
        if not whole or form not in formats.FORMATS:
            return self._find(name)
        found = self._find(whole)
        asked = tuple(formats.asked(task, form) for task in found.tasks)
        return Found(asked, tuple(formats.grouped(group, form) for group in found.groups), found.ignored)

    def _find(self, name: str) -> Found:
        if name.endswith((".yaml", ".yml")):
            return self._task_file(name)
        if custom.looks_like_file(name):
            return self._data_file(name)
        if self.folders and (collection := self._imported(name)):
            return _found(collection)
        if group := tasks.GROUPS.get(name):
            return Found(tuple(map(tasks.find, group.members)), (group,))
        return Found((tasks.find(name),))

    def _imported(self, name: str) -> "Collection | None":
        """The task of that name in the user's folders, whoever's format it has."""
        from model_accuracy_eval.tasks.lm_eval import groups  # noqa: PLC0415
        from model_accuracy_eval.tasks.ultraeval import finding  # noqa: PLC0415

        return groups.from_name(self._shelf, name, trusted=self.trusted) or finding.from_name(
            self.files, self.folders, name, trusted=self.trusted
        )

    @cached_property
    def _shelf(self) -> "Shelf":
        from model_accuracy_eval.tasks.lm_eval.shelf import Shelf  # noqa: PLC0415

        return Shelf(self.files, self.folders)

    def _task_file(self, path: str) -> Found:
        from model_accuracy_eval.tasks import declared  # noqa: PLC0415
        from model_accuracy_eval.tasks.lm_eval import groups, reading  # noqa: PLC0415

        fields = reading.load(self.files, path)
        if fields.keys() & {"task", "group"}:
            return _found(groups.from_file(self.files, path, folders=self.folders, trusted=self.trusted))
        if "parts" in fields:
            fields = {**declared.IN_PARTS, **fields, "parts": [self._part(path, one) for one in fields["parts"]]}
        return Found((declared.from_fields(path, fields),))

    def _part(self, path: str, name: Any) -> Any:
        """A part is a name that stands for one task, or the task itself."""
        if not isinstance(name, str):
            return name
        found = self.find(name).tasks
        if len(found) != 1:
            raise BadValue(f"{path}: '{name}' stands for {len(found)} datasets, but a part is one.")
        return msgspec.to_builtins(found[0])

    def _data_file(self, name: str) -> Found:
        data = self.read_file(name)
        if name.endswith(".json"):
            from model_accuracy_eval.tasks.ultraeval import configs, finding  # noqa: PLC0415

            if configs.is_config(data):
                return _found(finding.from_file(self.files, name, data, trusted=self.trusted))
        return Found((custom.from_file(name, data),))


def _found(collection: "Collection") -> Found:
    ignored = tuple(f"{one.task.name}: {field}" for one in collection.tasks for field in one.ignored)
    return Found(tuple(one.task for one in collection.tasks), tuple(collection.groups), ignored)
