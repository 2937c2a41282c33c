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
