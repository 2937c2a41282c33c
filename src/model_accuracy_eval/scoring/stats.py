"""Means over problems, and how certain they are.

Problems are the unit: the n samples of one problem resemble each other, so they do not count as n observations.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum, sqrt
from typing import TYPE_CHECKING

import numpy

from model_accuracy_eval.records import Interval
from model_accuracy_eval.scoring.distributions import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]
    Places = NDArray[numpy.intp]

Z95 = 1.959963984540054

_MAX_DRAWN = 5_000_000
"""Values that one bootstrap draws at most."""
_BATCH = 500_000
"""Values that are drawn at once: some megabytes."""


def mean(values: Sequence[float]) -> float | None:
    """None for an empty sequence: an unknown figure is never 0."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float:
    """Standard deviation of a sample of two or more."""
    centre = fsum(values) / len(values)
    return sqrt(fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def stderr(values: Sequence[float]) -> float | None:
    """Standard error of the mean; None for fewer than two values."""
    return deviation(values) / sqrt(len(values)) if len(values) > 1 else None


def bootstrap(figures: "Callable[[Places], Floats]", problems: int, draws: int) -> float | None:
    """Standard error of any figure: how it varies when the problems are drawn again, with replacement.

    `figures` takes the places of the drawn problems, one row for each draw, and returns one figure a row. Figures
    that are not finite are unknown and left out.
    """
    draws = min(draws, _MAX_DRAWN // max(problems, 1))
    if problems < 2 or draws < 2:
        return None
    values = numpy.concatenate([figures(drawn) for drawn in _draw(problems, draws)])
    known = values[numpy.isfinite(values)]
    return float(numpy.std(known, ddof=1)) if len(known) > 1 else None


def _draw(problems: int, draws: int) -> Iterator["Places"]:
    """lm-eval's draws, so that equal values give equal errors: every thousand draws are `random.Random(number)`'s.

    Seeded with a list, `RandomState` gives the same random numbers as `random.Random`, but as arrays.
    """
    size = min(1000, draws)
    rows = max(1, _BATCH // problems)
    for chunk in range(draws // size):
        generator = numpy.random.RandomState([chunk])
        for start in range(0, size, rows):
            shares = generator.random_sample((min(rows, size - start), problems))
            yield (shares * problems).astype(numpy.intp)


def interval(values: Sequence[float], samples_per_problem: int = 1) -> Interval | None:
    """95 % interval, 0..100, of the mean of per-problem values in [0, 1].

    Wilson's score interval for the effective number of observations, as many coin flips as would vary like the
    problems' values do (Kish's design effect), with the quantile of Student's t distribution, because that number is an
    estimate itself. For averages of several samples it lies between problems and samples. Unlike mean ± 1.96 standard
    errors it stays inside 0..100 and does not shrink to a point when every problem is solved.
    """
    if len(values) < 2:
        return None
    p = min(max(fsum(values) / len(values), 0.0), 1.0)
    low, high = wilson(p, coin_flips(values, samples_per_problem), t95(len(values)))
    return Interval(low=100 * low, high=100 * high)


def interval_of_samples(problems: Sequence[Sequence[float]]) -> Interval | None:
    """The same of the mean of all samples of problems that have unlike numbers of them: the samples of one problem
    resemble each other."""
    samples = sum(map(len, problems))
    if len(problems) < 2:
        return None
    p = min(max(fsum(map(fsum, problems)) / samples, 0.0), 1.0)
    variance = fsum(fsum(value - p for value in values) ** 2 for values in problems) / samples**2
    varied = 0.0 < p < 1.0 and variance > 0
    flips = min(_without_bias(len(problems)) * p * (1 - p) / variance, samples) if varied else len(problems) - 1.0
    low, high = wilson(p, flips, t95(len(problems)))
    return Interval(low=100 * low, high=100 * high)


def t95(problems: int) -> float:
    """How many standard errors a two-sided 95 % interval reaches, where these are estimated from so many problems."""
    return t_quantile(0.975, problems - 1)


def _without_bias(problems: int) -> float:
    """A variance around the mean of the same values is too small by so much."""
    return (problems - 1) / problems


def coin_flips(values: Sequence[float], samples_per_problem: int = 1) -> float:
    """As many coin flips as would vary like these values do: at most as many as there are samples."""
    problems = len(values)
    p = min(max(fsum(values) / problems, 0.0), 1.0)
    if not 0.0 < p < 1.0:
        return max(problems - 1.0, 1.0)
    variance_of_mean = fsum((v - p) ** 2 for v in values) / problems**2
    return _flips(p, variance_of_mean, problems, problems * samples_per_problem)


def _flips(p: float, variance_of_mean: float, problems: int, samples: int) -> float:
    return min(_without_bias(problems) * p * (1 - p) / variance_of_mean, samples) if variance_of_mean > 0 else samples


def interval_of_sums(problems: int, total: float, squares: float, samples_per_problem: int = 1) -> Interval | None:
    """`interval` of values that were only counted and added up, and their squares."""
    if problems < 2:
        return None
    p = min(max(total / problems, 0.0), 1.0)
    flips = max(problems - 1.0, 1.0)
    if 0.0 < p < 1.0:
        variance_of_mean = max(squares / problems - p * p, 0.0) / problems
        flips = _flips(p, variance_of_mean, problems, problems * samples_per_problem)
    low, high = wilson(p, flips, t95(problems))
    return Interval(low=100 * low, high=100 * high)


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """Limits of a share p of n coin flips; z: the quantile of the normal distribution, or of Student's."""
    spread = z**2 / n
    centre = (p + spread / 2) / (1 + spread)
    half = z * sqrt(p * (1 - p) / n + spread / (4 * n)) / (1 + spread)
    # p lies inside; rounding must not push it out where it touches an end.
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between the closest ranks of a sorted, non-empty sequence."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
