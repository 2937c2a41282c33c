"""Means over problems, and how sure one can be of them.

Problems are the unit: the n samples of one problem resemble each other, so they do not count as n observations.
"""

from collections.abc import Callable, Sequence
from math import fsum, sqrt
from random import Random
from typing import Any

from model_accuracy_eval.records import Interval

Z95 = 1.959963984540054


def mean(values: Sequence[float]) -> float | None:
    """None for an empty sequence: an unknown figure is never 0."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float:
    """Standard deviation of a sample of two or more."""
    centre = fsum(values) / len(values)
    return sqrt(fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def stderr(values: Sequence[float]) -> float | None:
    """Standard error of the mean; of fewer than two values nothing can be said."""
    return deviation(values) / sqrt(len(values)) if len(values) > 1 else None


_MOST_DRAWN = 5_000_000
"""Values that one bootstrap draws at most: some seconds."""


def bootstrap(figure: Callable[[Sequence[Any]], float | None], values: Sequence[Any], draws: int) -> float | None:
    """Standard error of any figure: how it scatters when the problems are drawn anew, with putting back.

    lm-eval's scheme, seeds included, so that equal values give equal errors: every thousand draws have a generator of
    their own, seeded with their number. Draws of which the figure knows nothing are left out.
    """
    draws = min(draws, _MOST_DRAWN // max(len(values), 1))
    if len(values) < 2 or draws < 2:
        return None
    size = min(1000, draws)
    found = []
    for chunk in range(draws // size):
        chance = Random(chunk)  # noqa: S311 - nothing secret is drawn
        found += [figure(chance.choices(values, k=len(values))) for _ in range(size)]
    known = [one for one in found if one is not None]
    return deviation(known) if len(known) > 1 else None


def interval(values: Sequence[float], samples_per_problem: int = 1) -> Interval | None:
    """95 % interval, 0..100, of the mean of per-problem values in [0, 1].

    Wilson's score interval on the effective number of observations: as many coin flips as would scatter like the
    problems' values do (Kish's design effect). For right-or-wrong values that is the number of problems, and the
    plain Wilson interval; for averages of several samples it lies between problems and samples. Unlike mean ± 1.96
    standard errors it stays inside 0..100 and does not shrink to a point when every problem is solved.
    """
    problems = len(values)
    if problems < 2:
        return None
    p = min(max(fsum(values) / problems, 0.0), 1.0)
    variance_of_mean = fsum((v - p) ** 2 for v in values) / problems**2
    flips = float(problems)
    if 0.0 < p < 1.0:
        most = problems * samples_per_problem
        flips = min(p * (1 - p) / variance_of_mean, most) if variance_of_mean > 0 else most
    low, high = _wilson(p, flips)
    return Interval(low=100 * low, high=100 * high)


def _wilson(p: float, n: float) -> tuple[float, float]:
    spread = Z95**2 / n
    centre = (p + spread / 2) / (1 + spread)
    half = Z95 * sqrt(p * (1 - p) / n + spread / (4 * n)) / (1 + spread)
    # p lies inside; rounding must not push it out where an end touches it.
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between the closest ranks of a sorted, non-empty sequence."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
