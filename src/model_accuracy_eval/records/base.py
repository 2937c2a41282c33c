"""The base class of all records."""

from typing import Any

import msgspec

JSONObject = dict[str, Any]

FREE = msgspec.Meta(extra={"identifies": False})
"""Marks a field that may differ when replies are reused, because it does not decide what the model is asked."""


def identifies(annotation: Any) -> bool:
    """Returns whether a field with this type decides what the model is asked."""
    return all((meta.extra or {}).get("identifies", True) for meta in getattr(annotation, "__metadata__", ()))


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base class of all records. Equal by value; `msgspec.convert(to_builtins(x))` returns an equal one."""


# Durations as people read them.


def duration(seconds: float | None) -> str:
    """`1:02:03` or `2:03`; a dash when it is not known yet."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
