"""The base class of all records."""

from functools import cache
from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

JSONObject = dict[str, Any]

FREE = msgspec.Meta(extra={"identifies": False})
"""Marks a field that may differ when replies are reused, because it does not decide what the model is asked."""


def identifies(annotation: Any) -> bool:
    """Returns whether a field with this type decides what the model is asked."""
    return all((meta.extra or {}).get("identifies", True) for meta in getattr(annotation, "__metadata__", ()))


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base class of all records. Equal by value; `msgspec.convert(to_builtins(x))` returns an equal one."""


def filled(kind: type[S], *sources: msgspec.Struct, **own: Any) -> S:
    """A record of that kind with all fields that the sources have under the same names; what is given by its name
    counts more, and a later source than an earlier one."""
    fields = {name: getattr(source, name) for source in sources for name in _common(kind, type(source))}
    return kind(**{**fields, **own})


@cache
def _common(kind: type[msgspec.Struct], other: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name in other.__struct_fields__)


# Durations as people read them.


def duration(seconds: float | None) -> str:
    """`1:02:03` or `2:03`; a dash when it is not known yet."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
