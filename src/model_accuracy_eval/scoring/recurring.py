"""One dataset in several runs: which problems all of them solve, some of them, or none."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from model_accuracy_eval.scoring.comparing import Side


class Solved(NamedTuple):
    """One run of a dataset: the problems it was judged on, and those that it solved."""

    dataset: str
    version: str
    problems: frozenset[int]
    right: frozenset[int]


class Recurring(msgspec.Struct, frozen=True, kw_only=True):
    """Only runs of the same version are counted together, on the problems that all of them have."""

    dataset: str
    version: str
    runs: int
    problems: int
    every: int
    """How many problems every run solved."""
    sometimes: tuple[int, ...]
    never: tuple[int, ...]
    oracle: float | None
    """The share that some run solved, 0..100: what choosing the best run for each problem would bring."""


def solved(side: Side) -> Solved | None:
    """A problem is solved by more than half of its samples; None where being right is no yes-or-no matter."""
    if any(mark.c is None for mark in side.marks):
        return None
    right = frozenset(mark.id for mark in side.marks if 2 * (mark.c or 0) > mark.n)
    return Solved(side.dataset, side.version, frozenset(mark.id for mark in side.marks), right)


def recurring(runs: Iterable[Solved]) -> list[Recurring]:
    """One for each dataset and version, in the order of their first runs."""
    groups: dict[tuple[str, str], list[Solved]] = {}
    for one in runs:
        groups.setdefault((one.dataset, one.version), []).append(one)
    return [_together(group) for group in groups.values()]


def _together(runs: Sequence[Solved]) -> Recurring:
    common = sorted(frozenset.intersection(*(one.problems for one in runs)))
    times = Counter(number for one in runs for number in one.right)
    never = tuple(number for number in common if not times[number])
    return Recurring(
        dataset=runs[0].dataset,
        version=runs[0].version,
        runs=len(runs),
        problems=len(common),
        every=sum(times[number] == len(runs) for number in common),
        sometimes=tuple(number for number in common if 0 < times[number] < len(runs)),
        never=never,
        oracle=100 * (1 - len(never) / len(common)) if common else None,
    )
