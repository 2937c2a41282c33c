"""Pick typed values out of a JSON object, or refuse with the field's name. Null counts as absent."""

from __future__ import annotations

import math
from typing import Any

from tinyserver.http_errors import RequestError


class Fields:
    """The fields of one request."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._body = body

    def has(self, name: str) -> bool:
        return self._body.get(name) is not None

    def flag(self, name: str) -> bool:
        value = self._body.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise _refused(name, "true or false", value)

    def whole(self, name: str, *, low: int, high: int | None = None) -> int | None:
        value = self._body.get(name)
        if value is None:
            return None
        # `type`, for True is an int to isinstance.
        if type(value) is int and value >= low and (high is None or value <= high):
            return value
        upper = "" if high is None else f" and at most {high}"
        raise _refused(name, f"a whole number of at least {low}{upper}", value)

    def number(
        self, name: str, default: float, *, low: float, high: float = math.inf, open_below: bool = False
    ) -> float:
        value = self._body.get(name)
        if value is None:
            return default
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
            number = float(value)
            if low <= number <= high and not (open_below and number == low):
                return number
        lower = "above" if open_below else "of at least"
        upper = "" if high == math.inf else f" and at most {high:g}"
        raise _refused(name, f"a number {lower} {low:g}{upper}", value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A string or a list of strings; empty ones mean nothing."""
        value = self._body.get(name)
        several = [] if value is None else value if isinstance(value, list) else [value]
        if all(isinstance(text, str) for text in several):
            return tuple(text for text in several if text)
        raise _refused(name, "a string or a list of strings", value)

    def part(self, name: str) -> Fields | None:
        value = self._body.get(name)
        if value is None or isinstance(value, dict):
            return None if value is None else Fields(value)
        raise _refused(name, "an object", value)


def _refused(name: str, wanted: str, value: object) -> RequestError:
    return RequestError(f"{name} must be {wanted}, not {ascii(value)[:80]}.", param=name)
