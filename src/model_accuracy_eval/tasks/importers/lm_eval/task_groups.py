"""A file or a name → its tasks, and the groups that they form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from model_accuracy_eval.errors import UnknownName, Unsupported
from model_accuracy_eval.records import GroupMean, TaskGroup
from model_accuracy_eval.tasks.importers.lm_eval.convert_task import ImportedTask, convert
from model_accuracy_eval.tasks.importers.lm_eval.yaml_files import TaskFields, TaskFileReader, load

_NAME = re.compile(rb"""^["']?(?:task|group)["']?[ ]*:[ ]*["']?([^\s"'#\[{]+)""", re.MULTILINE)
_INCLUDE = re.compile(rb"""^["']?include["']?[ ]*:((?:[ ]*\S+)|(?:\s*-[ ]*\S+)+)""", re.MULTILINE)
_GROUP_FIELDS = {"group", "group_alias", "task", "aggregate_metric_list", "metadata", "tag"}


class TaskIndex:
    """Finds tasks, groups and tags in folders. Files are read once, as bytes; only those that are needed are parsed."""

    def __init__(self, files: TaskFileReader, folders: Sequence[str]) -> None:
        self._files = files
        self._texts = {path: files.read(path) for folder in folders for path in files.under(folder)}
        self._paths: dict[str, str] = {}
        for path, text in self._texts.items():
            for name in _NAME.findall(text):
                self._paths.setdefault(name.decode("utf-8", "replace"), path)

    def names(self) -> list[str]:
        return sorted(self._paths)

    def fields(self, name: str) -> TaskFields | None:
        """The fields of the task or group of that name."""
        return load(self._files, self._paths[name]) if name in self._paths else None

    def tagged(self, tag: str) -> list[str]:
        """Names of the tasks that have the tag, their own or an included one."""
        names: set[str] = set()
        for path in self._mentioning(tag):
            fields = load(self._files, path)
            tags = fields.get("tag") or []
            if isinstance(fields.get("task"), str) and tag in (tags if isinstance(tags, list) else [tags]):
                names.add(fields["task"])
        return sorted(names)

    def _mentioning(self, word: str) -> list[str]:
        """Files that contain the word, and those that include them, directly or not."""
        pattern = re.compile(rb"(?<![\w.-])" + re.escape(word.encode()) + rb"(?![\w.-])")
        hits = {path for path, text in self._texts.items() if pattern.search(text)}
        while including := {path for path in self._texts if path not in hits and self._includes(path) & hits}:
            hits |= including
        return sorted(hits)

    def _includes(self, path: str) -> set[str]:
        match = _INCLUDE.search(self._texts[path])
        names = re.findall(r"[^\s\"'\[\],]+", match[1].decode("utf-8", "replace")) if match else []
        return {str(PurePath(path).parent / name) for name in names if name != "-"}


@dataclass(slots=True)
class ImportedTasks:
    """The tasks in the order of the file, and the groups that they form."""

    tasks: list[ImportedTask] = field(default_factory=list)
    groups: list[TaskGroup] = field(default_factory=list)


def from_file(
    files: TaskFileReader, path: str, *, folders: tuple[str, ...] = (), trusted: bool = False
) -> ImportedTasks:
    """The tasks of a file. Members of a group are searched in the file's own folder and then in `folders`."""
    fields = load(files, path)
    index = TaskIndex(files, (str(PurePath(path).parent), *folders) if "group" in fields else ())
    return _GroupImport(index, trusted=trusted).run(str(fields.get("group") or fields.get("task")), fields)


def from_name(index: TaskIndex, name: str, *, trusted: bool = False) -> ImportedTasks | None:
    """The task, group or tag of that name, or None if the folders have none."""
    fields = index.fields(name)
    if fields is None and (tagged := index.tagged(name)):
        fields = {"group": name, "task": tagged, "tag": name}
    return None if fields is None else _GroupImport(index, trusted=trusted).run(name, fields)


def refuse(name: str, errors: Sequence[Unsupported], *, alone: bool) -> None:
    """Raises one error with the reasons of all tasks that cannot be imported, if there are any."""
    if len(errors) == 1 and alone:
        raise errors[0]
    if errors:
        raise Unsupported(name, [error.sentence.rstrip(".") for error in errors])


class _GroupImport:
    """Imports a task, or a group with its members."""

    def __init__(self, index: TaskIndex, *, trusted: bool) -> None:
        self._index = index
        self._trusted = trusted
        self._imported = ImportedTasks()
        self._errors: list[Unsupported] = []

    def run(self, name: str, fields: TaskFields) -> ImportedTasks:
        self._add(fields)
        refuse(name, self._errors, alone="group" not in fields)
        return self._imported

    def _add(self, fields: TaskFields) -> list[str]:
        """Adds a task or group and returns its name, by which a group lists it; nothing if it cannot be imported."""
        if _is_group(fields):
            return self._group(str(fields["group"]), fields, {})
        try:
            task = convert(fields, trusted=self._trusted)
        except Unsupported as error:
            self._errors.append(error)
            return []
        if task not in self._imported.tasks:
            self._imported.tasks.append(task)
        return [task.task.name]

    def _group(self, name: str, fields: TaskFields, overrides: TaskFields) -> list[str]:
        """Fields that are not those of groups override the fields of the members."""
        overrides = {key: value for key, value in fields.items() if key not in _GROUP_FIELDS} | overrides
        entries = fields.get("task") or []
        if isinstance(entries, str):
            entries = [entries]
        members = tuple(member for entry in entries for member in self._members(name, entry, overrides))
        if fields.get("tag") != name:  # a tag stands for many tasks, but has no figure of its own
            self._imported.groups.append(TaskGroup(name=name, members=members, means=self._means(name, fields)))
        return [name]

    def _members(self, group: str, entry: Any, overrides: TaskFields) -> list[str]:
        if isinstance(entry, str):
            return self._named(group, entry, overrides)
        own = {key: value for key, value in entry.items() if key not in {"task", "group"}}
        name = str(entry.get("group") or entry.get("task"))
        known = self._index.fields(name) is not None
        if "group" in entry and (isinstance(entry.get("task"), list) or not known):
            return self._group(f"{group}::{name}", entry, overrides)
        if "group" not in entry and not known and "dataset_path" in entry:
            return self._add({**overrides, **own, "task": f"{group}::{name}"})
        return self._named(group, name, overrides | own)

    def _named(self, group: str, name: str, overrides: TaskFields) -> list[str]:
        """Adds the task or group of that name, or all tasks that have it as their tag."""
        fields = self._index.fields(name)
        if fields is not None:
            return self._group(name, fields, overrides) if _is_group(fields) else self._add({**fields, **overrides})
        tagged = self._index.tagged(name)
        if not tagged:
            raise UnknownName("task, group or tag", name, self._index.names(), where=f" for the group '{group}'")
        return [member for task in tagged for member in self._named(group, task, overrides)]

    def _means(self, name: str, fields: TaskFields) -> tuple[GroupMean, ...]:
        entries = fields.get("aggregate_metric_list") or []
        return tuple(self._mean(name, entry) for entry in ([entries] if isinstance(entries, dict) else entries))

    def _mean(self, name: str, entry: TaskFields) -> GroupMean:
        if entry.get("aggregation", "mean") != "mean":
            self._errors.append(Unsupported(name, [f"its members are aggregated by {entry['aggregation']}"]))
        filters = entry.get("filter_list") or ()
        return GroupMean(
            metric=str(entry["metric"]),
            pipelines=(filters,) if isinstance(filters, str) else tuple(filters),
            weight_by_size=bool(entry.get("weight_by_size", True)),
        )


def _is_group(fields: TaskFields) -> bool:
    return "group" in fields and "class" not in fields
