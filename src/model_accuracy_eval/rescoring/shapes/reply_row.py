"""One object of a file of replies: its fields by dotted paths, its samples, and what a table says of its shape."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Literal

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Record
from model_accuracy_eval.rescoring.saved_replies import HEADLINE, SavedReply

_ABSENT = object()


class ReplyRow:
    """A path such as `response.body.choices.0.text` leads into objects and lists; `*` stands for each entry."""

    def __init__(self, fields: Mapping[str, object], where: str, key: str = "") -> None:
        self.fields = fields
        self.where = where
        self.key = key
        """The name under which the object stands in a larger one, or its number in a list of lists."""

    def __contains__(self, path: str) -> bool:
        """Whether the row has the field, or one of those that are separated by `|`. It may be null."""
        return self._find(path) is not _ABSENT

    def get(self, path: str) -> object:
        """The value, or None."""
        value = self._find(path)
        return None if value is _ABSENT else value

    def text(self, path: str) -> str:
        """The text; empty where there is none."""
        value = self.get(path)
        if value is None or isinstance(value, str):
            return value or ""
        raise self.wrong(path, "is not a text")

    def plain_texts(self, path: str) -> tuple[str, ...]:
        """A text, a number, or a list of them. What has more structure is given as JSON."""
        value = self.get(path)
        return () if value is None else tuple(map(as_text, value if isinstance(value, list) else [value]))

    def identifier(self, path: str) -> str:
        """The text or the whole number by which a problem is named."""
        value = self.get(path)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise self.wrong(path, f"is {_shortened(value)}, which names no problem")
        return str(value)

    def count(self, path: str) -> int | None:
        """The whole number, if there is one; below 0 it says nothing."""
        value = self.get(path)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return None if value is None or value < 0 else value
        raise self.wrong(path, f"is {_shortened(value)}, not a whole number")

    def _find(self, path: str) -> object:
        if path in self.fields:
            return self.fields[path]
        best: object = _ABSENT
        for steps in _ways(path):
            value = _follow(self.fields, steps)
            if value is not _ABSENT and value is not None:
                return value
            best = best if value is _ABSENT else None
        return best

    def wrong(self, path: str, what: str) -> BadData:
        return BadData(f"{self.where}: the field '{path}' {what}.")

    def leaves(self) -> Iterator[str]:
        """The paths of all values that are no objects; of a list's entries the first stands for all."""
        yield from _leaves(self.fields, "")


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_share(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


@cache
def _ways(path: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one.split(".")) for one in path.split("|"))


def _follow(value: object, path: tuple[str, ...]) -> object:
    for place, step in enumerate(path):
        if isinstance(value, dict):
            # A key may have dots of its own, such as the name of a model.
            if place + 1 < len(path) and (whole := ".".join(path[place:])) in value:
                return value[whole]
            if step == "*":
                return _each(list(value.values()), path[place + 1 :])
            value = value.get(step, _ABSENT)
        elif isinstance(value, list):
            if step == "*":
                return _each(value, path[place + 1 :])
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else _ABSENT
        else:
            return _ABSENT
    return value


def _each(values: list[object], path: tuple[str, ...]) -> object:
    found = [_follow(value, path) for value in values]
    present = [value for value in found if value is not _ABSENT]
    return present or _ABSENT


def _leaves(value: object, path: str) -> Iterator[str]:
    inside = f"{path}." if path else ""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from _leaves(entry, f"{inside}{key}")
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        yield from _leaves(value[0], f"{inside}*")
    else:
        yield path


def _shortened(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


NO_REPLY = "the file has null in the place of the reply"


def samples(reply: SavedReply, row: ReplyRow, field: str) -> Iterator[SavedReply]:
    """The row's samples: `reply` with each text of the field. Null is a sample that failed."""
    value = row.get(field)
    for entry in value if isinstance(value, list) else [value]:
        if entry is None:
            yield replace(reply, failure=NO_REPLY)
        elif isinstance(entry, bool) or not isinstance(entry, str | int | float):
            raise row.wrong(field, "holds something else than texts")
        else:
            yield replace(reply, text=as_text(entry))


def with_values(
    replies: Iterable[SavedReply],
    values: object,
    row: ReplyRow,
    field: str,
    change: Callable[[SavedReply, object], SavedReply],
) -> list[SavedReply]:
    """The samples with what the tool says of each: a list with an entry for each, or one value for the only one."""
    each, listed = list(replies), values if isinstance(values, list) else [values]
    if values is None:
        return each
    if len(listed) != len(each):
        raise row.wrong(field, f"has {len(listed):,} entries for {len(each):,} replies")
    return [reply if value is None else change(reply, value) for reply, value in zip(each, listed, strict=True)]


def with_verdicts(replies: Iterable[SavedReply], verdicts: object, row: ReplyRow, field: str) -> list[SavedReply]:
    def judged(reply: SavedReply, value: object) -> SavedReply:
        share = as_share(value)
        if share is None or not 0 <= share <= 1:
            raise row.wrong(
                field, f"holds {as_text(value)[:60]} for a verdict, which is neither true, false nor a share of 1"
            )
        return replace(reply, claimed={**reply.claimed, HEADLINE: share})

    return with_values(replies, verdicts, row, field, judged)


Arrangement = Literal["rows", "keyed rows", "lists of rows", "lists of texts"]
"""rows: lines, a list, or one object. The others stand in an object, each under its id; lists of texts may also stand
in a list."""


class RowPlace(Record, frozen=True, kw_only=True):
    """A way to read the contents as rows."""

    at: str = ""
    """The field of the outermost object that holds the rows; empty: they are what is outermost."""
    arrangement: Arrangement = "rows"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """One entry of the table."""

    name: str
    tools: str
    """The tools that write it."""
    file: str
    """The file that they write."""
    needs: tuple[str, ...]
    """The fields by which a row is recognised; `a|b`: one of the two. They may be null."""
    replies: Callable[[ReplyRow], Iterable[SavedReply]]
    """Takes a row, with the fields that stand beside the rows."""
    at: str = ""
    arrangement: Arrangement = "rows"
    in_parts: bool = False
    """Whether the tool may have split the file into `<name>_0.json`, `<name>_1.json`, …"""
    gives: str = ""
    """What it tells beside the replies."""

    @property
    def place(self) -> RowPlace:
        return RowPlace(at=self.at, arrangement=self.arrangement)

    def lacks(self, row: ReplyRow) -> list[str]:
        return [field for field in self.needs if field not in row]

    def fields_in(self, row: ReplyRow) -> set[str]:
        """The row's fields by which it is recognised."""
        names = (name for field in self.needs for name in field.split("|"))
        return {f"{self.at}.{name}" for name in names if name in row}
