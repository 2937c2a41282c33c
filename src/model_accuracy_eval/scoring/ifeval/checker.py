"""What a checker of instructions is, and how it compares what it counts with what it is asked for."""

from collections.abc import Callable
from typing import Literal

Checker = Callable[..., bool]
"""(reply, the instruction's arguments under the names that the data has) → whether the reply follows it."""

Relation = Literal["less than", "at least"]


def fits(count: int, relation: Relation, wanted: int) -> bool:
    return count < wanted if relation == "less than" else count >= wanted
