"""What stands in place of a value that nobody knows: the sample was rejected, failed or never asked, or its answer
could not be judged."""

from collections.abc import Sequence
from math import inf, isfinite
from numbers import Real
from typing import Any, TypeGuard

import msgspec

Ends = tuple[float | None, float | None]
"""The least and the greatest figure; None: there is none."""


class LostValue(msgspec.Struct, frozen=True):
    """An unknown value of a known problem."""

    low: Any
    high: Any
    counted: Any = None
    """What the figure counts in its place; None: the figure leaves the sample out."""
    samples: int = 1
    """How many lost samples the value depends on."""
    alone: bool = True
    """Whether it depends on no other sample."""


def counted(values: Sequence[Any | None]) -> list[Any | None]:
    """The values as the figure counts them."""
    return [value.counted if isinstance(value, LostValue) else value for value in values]


def fill(values: Sequence[Any], end: str) -> list[Any]:
    """The values with the `low` or the `high` end of each lost one."""
    return [getattr(value, end) if isinstance(value, LostValue) else value for value in values]


def finite(figure: float | None) -> float | None:
    return figure if figure is not None and isfinite(figure) else None


def is_number(value: Any) -> TypeGuard[float]:
    # Nearly every value is a float, and the check of an abstract class is slow.
    return isinstance(value, (float, int, Real))


def mixes_infinities(values: Sequence[Any]) -> bool:
    """Whether a sum of these numbers would be anything."""
    infinite = {value for value in values if is_number(value) and value in (inf, -inf)}
    return len(infinite) > 1
