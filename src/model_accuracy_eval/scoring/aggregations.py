"""The values of all problems → one figure."""

from collections.abc import Callable, Sequence
from typing import Any

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring.stats import mean

Aggregation = Callable[[Sequence[Any]], float | None]


def median(values: Sequence[float]) -> float | None:
    """The upper one of the two middle values, where there are two."""
    return sorted(values)[len(values) // 2] if values else None


AGGREGATIONS: dict[str, Aggregation] = {"mean": mean, "median": median}


def aggregation(name: str) -> Aggregation:
    """The function of that name; an unknown one is answered with the nearest."""
    if name not in AGGREGATIONS:
        raise UnknownName("aggregation", name, AGGREGATIONS)
    return AGGREGATIONS[name]
