"""What every noun is made of."""

from typing import Any

import msgspec

JSONObject = dict[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every noun: equal by value, and `msgspec.convert(to_builtins(x))` gives it back."""
