"""Figures of groups of rows that count only if all of them are right: the rotations of one question, for example."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from model_accuracy_eval.scoring import stats
from model_accuracy_eval.scoring.lost_values import Ends, LostValue


class GroupedValue(NamedTuple):
    """Whether one row is right, and the group that it belongs to."""

    right: float
    group: str
    rows: int
    """How many rows the group has."""


def share_of_whole_groups(values: Sequence[GroupedValue]) -> float | None:
    """The share of the groups whose rows are all right. A group of which some rows were not asked is left out."""
    return stats.mean(list(_groups(values).values()))


def ends(values: Sequence[Any]) -> Ends:
    """The share if all lost rows are wrong, and if all of them are right."""
    low, high = (
        [value.counted._replace(right=right) if isinstance(value, LostValue) else value for value in values]
        for right in (0.0, 1.0)
    )
    return share_of_whole_groups(low), share_of_whole_groups(high)


def stderr(problems: Sequence[Sequence[Any]]) -> float | None:
    """Of the mean over the runs: a group is one observation, because its rows are not independent."""
    by_group: dict[str, list[float]] = defaultdict(list)
    for run in zip(*problems, strict=True):
        for name, right in _groups(run).items():
            by_group[name].append(right)
    return stats.stderr([value for values in by_group.values() if (value := stats.mean(values)) is not None])


def _groups(values: Iterable[tuple[float, str, int]]) -> dict[str, float]:
    """Complete group → 1 if all of its rows are right, else 0."""
    rights: dict[str, list[bool]] = defaultdict(list)
    sizes: dict[str, int] = {}
    for right, name, size in values:
        rights[name].append(right >= 1.0)
        sizes[name] = size
    return {name: float(all(found)) for name, found in rights.items() if len(found) == sizes[name]}
