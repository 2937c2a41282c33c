"""What a file or a name stands for → its tasks, and the groups that they form."""

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from model_accuracy_eval.errors import UnknownName, Unsupported
from model_accuracy_eval.records import GroupMean, TaskGroup
from model_accuracy_eval.tasks.lm_eval.converting import Imported, convert
from model_accuracy_eval.tasks.lm_eval.reading import Fields, Files, load
from model_accuracy_eval.tasks.lm_eval.shelf import Shelf

_GROUP_FIELDS = {"group", "group_alias", "task", "aggregate_metric_list", "metadata", "tag"}


@dataclass(slots=True)
class Collection:
    """What was asked for, in order."""

    tasks: list[Imported] = field(default_factory=list)
    groups: list[TaskGroup] = field(default_factory=list)


def from_file(files: Files, path: str, *, folders: tuple[str, ...] = (), trusted: bool = False) -> Collection:
    """Members of a group are looked for in the file's own folder and then in `folders`."""
    fields = load(files, path)
    shelf = Shelf(files, (str(PurePath(path).parent), *folders) if "group" in fields else ())
    return _Unfolding(shelf, trusted=trusted).whole(str(fields.get("group") or fields.get("task")), fields)


def from_name(shelf: Shelf, name: str, *, trusted: bool = False) -> Collection | None:
    """The task, group or tag of that name; None where the folders know it not."""
    unfolding = _Unfolding(shelf, trusted=trusted)
    fields = shelf.fields(name)
    if fields is not None:
        return unfolding.whole(name, fields)
    tagged = shelf.tagged(name)
    return unfolding.whole(name, {"group": name, "task": tagged, "tag": name}) if tagged else None


class _Unfolding:
    """One walk through a group and its members; what cannot be imported is told of all members at once."""

    def __init__(self, shelf: Shelf, *, trusted: bool) -> None:
        self._shelf = shelf
        self._trusted = trusted
        self._found = Collection()
        self._refused: list[Unsupported] = []

    def whole(self, name: str, fields: Fields) -> Collection:
        self._add(fields)
        if len(self._refused) == 1 and "group" not in fields:
            raise self._refused[0]
        if self._refused:
            raise Unsupported(name, [error.sentence.rstrip(".") for error in self._refused])
        return self._found

    def _add(self, fields: Fields) -> str | None:
        """The name under which a group knows what was added."""
        if "group" in fields and "class" not in fields:
            return self._group(str(fields["group"]), fields, {})
        try:
            imported = convert(fields, trusted=self._trusted)
        except Unsupported as error:
            self._refused.append(error)
            return None
        if imported not in self._found.tasks:
            self._found.tasks.append(imported)
        return imported.task.name

    def _group(self, name: str, fields: Fields, overrides: Fields) -> str:
        """Whatever is no field of groups overrides the fields of the members."""
        passed = {key: value for key, value in fields.items() if key not in _GROUP_FIELDS} | overrides
        given = fields.get("task") or []
        added = [
            one for item in ([given] if isinstance(given, str) else given) for one in self._member(name, item, passed)
        ]
        if fields.get("tag") != name:  # a tag is many names in one word, no group with a figure of its own
            self._found.groups.append(TaskGroup(name=name, members=tuple(added), means=self._means(name, fields)))
        return name

    def _member(self, group: str, item: Any, overrides: Fields) -> list[str]:
        if isinstance(item, str):
            return self._named(group, item, overrides)
        own = {key: value for key, value in item.items() if key not in {"task", "group"}}
        if "group" in item:
            name = str(item["group"])
            if isinstance(item.get("task"), list) or self._shelf.fields(name) is None:
                return [self._group(f"{group}::{name}", item, overrides)]
            return self._named(group, name, overrides | own)
        name = str(item.get("task"))
        if self._shelf.fields(name) is None and "dataset_path" in item:
            return self._kept(self._add({**overrides, **own, "task": f"{group}::{name}"}))
        return self._named(group, name, overrides | own)

    def _named(self, group: str, name: str, overrides: Fields) -> list[str]:
        fields = self._shelf.fields(name)
        if fields is not None and "group" in fields and "class" not in fields:
            return [self._group(name, fields, overrides)]
        if fields is not None:
            return self._kept(self._add({**fields, **overrides}))
        members = self._shelf.tagged(name)
        if not members:
            raise UnknownName("task, group or tag", name, self._shelf.names(), where=f" for the group '{group}'")
        return [one for member in members for one in self._named(group, member, overrides)]

    @staticmethod
    def _kept(name: str | None) -> list[str]:
        return [] if name is None else [name]

    def _means(self, name: str, fields: Fields) -> tuple[GroupMean, ...]:
        given = fields.get("aggregate_metric_list") or []
        return tuple(self._mean(name, one) for one in ([given] if isinstance(given, dict) else given))

    def _mean(self, name: str, given: Fields) -> GroupMean:
        if given.get("aggregation", "mean") != "mean":
            self._refused.append(Unsupported(name, [f"its members are aggregated by {given['aggregation']}"]))
        filters = given.get("filter_list") or ()
        return GroupMean(
            metric=str(given["metric"]),
            pipelines=(filters,) if isinstance(filters, str) else tuple(filters),
            weight_by_size=bool(given.get("weight_by_size", True)),
        )
