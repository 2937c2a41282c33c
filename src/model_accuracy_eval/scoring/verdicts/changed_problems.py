"""Which problems a regression is made of, and which flip from run to run without any trend.

A run solves a problem if more than half of its samples are right. A problem has fallen if it was solved in so many runs
before and in so few after that the order of the runs is no coincidence: Fisher's exact test, corrected for the number
of problems that could have shown it (Benjamini and Hochberg 1995, over those that changed at all, after Tarone 1990).
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]

FALSE_NAMES = 0.1
"""Of the problems that are named, so many may be there by chance, on the average."""


class Flaky(NamedTuple):
    """A problem that some runs solve and others do not."""

    place: int
    flips: int
    """How often a run's verdict on it differs from that of the run before."""


def fallen(before: "Sequence[Floats]", after: "Sequence[Floats]") -> list[int]:
    """Places of the problems that the runs `after` solve less often, surely; 1 is solved, 0 is not, NaN unknown."""
    solved, asked = _counts(before)
    solved_after, asked_after = _counts(after)
    chances = [
        (_fisher(*margins), place)
        for place, margins in enumerate(
            zip(solved.tolist(), asked.tolist(), solved_after.tolist(), asked_after.tolist(), strict=True)
        )
        if 0 < margins[0] + margins[2] < margins[1] + margins[3]
    ]
    chances.sort()
    named = 0
    for rank, (chance, _) in enumerate(chances, 1):
        if chance <= FALSE_NAMES * rank / len(chances):
            named = rank
    return sorted(place for _, place in chances[:named])


def flaky(runs: "Sequence[Floats]", without: Collection[int] = ()) -> list[Flaky]:
    """Problems that go and come back, the most unsteady first; `without` those that are named elsewhere."""
    if not runs:
        return []
    values = numpy.asarray(runs)
    solved, asked = _counts(runs)
    found = []
    for place in numpy.flatnonzero((solved > 0) & (solved < asked)).tolist():
        column = values[:, place]
        column = column[numpy.isfinite(column)]
        flips = int((column[1:] != column[:-1]).sum())
        if flips > 1 and place not in without:
            found.append(Flaky(place, flips))
    return sorted(found, key=lambda each: (-each.flips, each.place))


def _counts(runs: "Sequence[Floats]") -> "tuple[NDArray[numpy.int64], NDArray[numpy.int64]]":
    values = numpy.asarray(runs)
    return numpy.nansum(values, axis=0).astype(int), numpy.isfinite(values).sum(axis=0).astype(int)


@lru_cache(maxsize=65536)
def _fisher(solved: int, asked: int, solved_after: int, asked_after: int) -> float:
    """The chance of so few solved runs after, or fewer, if the order of the runs meant nothing.

    >>> round(_fisher(8, 8, 0, 3), 5)
    0.00606
    """
    runs, total = asked + asked_after, solved + solved_after
    ways = sum(comb(total, few) * comb(runs - total, asked_after - few) for few in range(solved_after + 1))
    return ways / comb(runs, asked_after)


# One dataset in several runs: which problems all runs solve, which some of them, and which none.


if TYPE_CHECKING:
    from numpy.typing import NDArray

    RunFloats = NDArray[numpy.float64]


class RunConsistency(NamedTuple):
    """On the problems of which every run has a verdict. Problems are places."""

    runs: int
    problems: int
    every: int
    """How many problems every run solved."""
    sometimes: list[int]
    never: list[int]
    oracle: float | None
    """Share of the problems that at least one run solved, 0..100: the figure of the best run for each problem."""


def consistency(runs: "Sequence[Floats]") -> RunConsistency:
    """`runs` have 1 for a solved problem, 0 for another, NaN where that is not known."""
    values = numpy.asarray(runs)
    known = numpy.isfinite(values).all(axis=0)
    times = numpy.where(known, values, 0.0).sum(axis=0)
    common = int(known.sum())
    never = numpy.flatnonzero(known & (times == 0)).tolist()
    return RunConsistency(
        runs=len(runs),
        problems=common,
        every=int((known & (times == len(runs))).sum()),
        sometimes=numpy.flatnonzero(known & (times > 0) & (times < len(runs))).tolist(),
        never=never,
        oracle=100 * (1 - len(never) / common) if common else None,
    )
