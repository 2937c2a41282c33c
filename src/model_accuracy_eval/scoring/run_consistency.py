"""One dataset in several runs: which problems all runs solve, which some of them, and which none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]


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
