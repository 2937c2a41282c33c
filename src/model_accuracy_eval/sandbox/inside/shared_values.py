"""The values that a program and its tests both know, by numbers, so that identity and changes in place cross, too."""

from collections.abc import Callable
from sys import getrefcount
from typing import Any, NamedTuple

PartsOf = Callable[[Any], list[Any]]


class _Seen(NamedTuple):
    """What a container held when the other side last heard of it."""

    contents: PartsOf
    parts: list[Any]

    def is_still_in(self, value: object) -> bool:
        now = self.contents(value)
        return len(now) == len(self.parts) and all(map(_same, now, self.parts))


_LEAVES = frozenset({bytes, str, int, float, bool})


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and type(one) in _LEAVES and one == other)


class SharedValues:
    """One side counts its numbers up, and the other one down."""

    def __init__(self, step: int) -> None:
        self._step, self._last = step, 0
        self._values: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        """By `id()`."""
        self._seen: dict[int, _Seen] = {}

    def add_own(self, value: object) -> int:
        """The new number of a value of this side."""
        self._last += self._step
        self._add(self._last, value)
        return self._last

    def add_foreign(self, number: object, value: object) -> None:
        """Takes over the number that the other side has given a value."""
        if type(number) is not int or number * self._step >= 0 or number in self._values:
            raise ValueError(f"{number!r} is no new number")
        self._add(number, value)

    def value(self, number: object) -> Any:
        if type(number) is not int or number not in self._values:
            raise ValueError(f"{number!r} stands for nothing")
        return self._values[number]

    def note(self, number: int, contents: PartsOf, parts: list[Any]) -> None:
        """Remembers content that both sides know."""
        self._seen[number] = _Seen(contents, parts)

    def changed(self) -> list[int]:
        """The containers whose content the other side does not know."""
        return [number for number, seen in self._seen.items() if not seen.is_still_in(self._values[number])]

    def drop_unused(self) -> list[int]:
        """Forgets what nobody but this holds, containers before their items, so that the other side may do so, too."""
        return [number for number in tuple(self._values) if self._is_dropped(number)]

    def forget(self, numbers: list[int]) -> None:
        for number in numbers:
            self._seen.pop(number, None)
            if number in self._values:
                del self.numbers[id(self._values[number])]
                del self._values[number]

    def _is_dropped(self, number: int) -> bool:
        """What is changed stays until the other side knows."""
        if getrefcount(self._values[number]) > _ALONE:
            return False
        seen = self._seen.get(number)
        unused = seen is None or seen.is_still_in(self._values[number])
        if unused:
            self.forget([number])
        return unused

    def _add(self, number: int, value: object) -> None:
        self._values[number], self.numbers[id(value)] = value, number


_PROBE = {0: object()}
_ALONE = getrefcount(_PROBE[0])
"""What Python counts for a value that only the table holds."""
