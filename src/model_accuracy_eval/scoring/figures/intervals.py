"""Means over problems, and how certain they are.

Problems are the unit: the n samples of one problem resemble each other, so they do not count as n observations. Where
problems share a passage or the like, these clusters are.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cache
from itertools import chain, repeat, starmap
from math import fsum, sqrt
from typing import Literal, NamedTuple

import numpy
from numpy.typing import NDArray

from model_accuracy_eval.records import CaseCertainty, Certainty, Interval, Sharing
from model_accuracy_eval.scoring.figures.quantiles import share_limits, t_quantile
from model_accuracy_eval.scoring.figures.reductions import ESTIMATORS

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


def stderr(values: Sequence[float], clusters: Sequence[str] = ()) -> float | None:
    """Standard error of the mean; None for fewer than two values, or clusters of them."""
    sums = ClusterSums(values, clusters)
    if sums.clusters < 2:
        return None
    squares = sums.squares(sums.total / sums.problems)
    return sqrt(squares * sums.independent / (sums.independent - 1)) / sums.problems


def bootstrap(
    figures: Callable[[Places], Floats], problems: int, draws: int, clusters: Sequence[str] = ()
) -> float | None:
    """Standard error of any figure: how it varies when the problems are drawn again, with replacement.

    `figures` takes the places of the drawn problems, one row for each draw, and returns one figure a row. Figures
    that are not finite are unknown and left out. Problems of a cluster are drawn together.
    """
    members: dict[str | int, list[int]] = {}
    for place, cluster in enumerate(clusters):
        members.setdefault(cluster or place, []).append(place)
    units = len(members) or problems
    draws = min(draws, _MAX_DRAWN // max(problems, 1))
    if units < 2 or draws < 2:
        return None
    drawn: Iterable[Places] = _draw(units, draws)
    if units < problems:
        places = [numpy.array(each, dtype=numpy.intp) for each in members.values()]
        drawn = (numpy.concatenate([places[at] for at in row])[None] for rows in _draw(units, draws) for row in rows)
    values = numpy.concatenate([figures(each) for each in drawn])
    known = values[numpy.isfinite(values)]
    return float(numpy.std(known, ddof=1)) if len(known) > 1 else None


def _draw(problems: int, draws: int) -> Iterator[Places]:
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


class ClusterSums:
    """Values in [0, 1], or differences of such, added up with those that they share a passage or the like with.

    A cluster is one observation: how its sum differs from what its size lets expect is what varies. Problems that share
    nothing are clusters of their own. The order of the values never matters, not even in the last digit.
    """

    def __init__(self, values: Sequence[float] = (), clusters: Sequence[str] = ()) -> None:
        """`clusters`: of every value; none, or an empty name: it stands alone."""
        self._alone = Counter(() if clusters else values)
        """How often each value stands alone."""
        self._together: defaultdict[str, list[float]] = defaultdict(list)
        self.problems = self._sizes = self._alone.total()
        """Sizes: the squares of the clusters' sizes."""
        for value, cluster in zip(values, clusters, strict=bool(clusters)):
            self.add(value, cluster)

    def add(self, value: float, cluster: str = "", times: int = 1) -> None:
        """`times`: of values that stand alone."""
        if cluster:
            self._sizes += 2 * len(self._together[cluster])
            self._together[cluster].append(value)
        else:
            self._alone[value] += times
        self._sizes += times
        self.problems += times

    def with_more(self, value: float, times: int) -> "ClusterSums":
        """A copy with values that stand alone."""
        other = copy(self)
        other._alone = self._alone.copy()  # noqa: SLF001 - its own
        other.add(value, times=times)
        return other

    @property
    def clusters(self) -> int:
        return self._alone.total() + len(self._together)

    @property
    def total(self) -> float:
        alone = chain.from_iterable(starmap(repeat, self._alone.items()))
        return fsum(chain(alone, chain.from_iterable(self._together.values())))

    @property
    def size(self) -> float:
        """Of the cluster that a problem is in, on the average."""
        return self._sizes / self.problems

    @property
    def independent(self) -> float:
        """As many problems that share nothing would say as much, if those of a cluster were all alike (Kish)."""
        return self.problems / self.size

    def sharing(self, what: str = "clusters") -> Sharing | None:
        if self.clusters == self.problems:
            return None
        return Sharing(clusters=self.clusters, independent=self.independent, what=what)

    def squares(self, mean: float) -> float:
        """How the clusters' sums differ from those that this mean would give."""
        alone = (repeat((value - mean) ** 2, times) for value, times in self._alone.items())
        together = ((fsum(values) - len(values) * mean) ** 2 for values in self._together.values())
        return fsum(chain(chain.from_iterable(alone), together))

    def flips(self, samples: int = 1) -> float:
        """As many coin flips as would vary like these values do: at most as many as there are samples.

        A variance around the mean of the same values is too small by (n - 1) / n.
        """
        most, total = float(self.problems * samples), self.total
        p = min(max(total / self.problems, 0.0), 1.0)
        if self.clusters == self.problems:
            if not 0.0 < p < 1.0:
                return max(self.problems - 1.0, 1.0)
            variance = self.squares(p) / self.problems**2
            return min((self.problems - 1) / self.problems * p * (1 - p) / variance, most) if variance > 0 else most
        # As if one more cluster had been asked that is all right or all wrong: few clusters often differ too little.
        problems, size, independent = self.problems + self.size, self.size, max(self.independent, 2.0)
        p = min(max((total + size / 2) / problems, 0.0), 1.0)
        squares = self.squares(p) + size**2 * (p**2 + (1 - p) ** 2) / 2
        return min((independent - 1) / independent * self.problems * problems * p * (1 - p) / squares, most)

    def interval(self, samples: int = 1) -> Interval | None:
        """95 % interval, 0..100, of the mean.

        Wilson's score interval for the effective number of observations, as many coin flips as would vary like the
        values do (Kish's design effect), with the quantile of Student's t distribution, because that number is an
        estimate itself. For averages of several samples it lies between problems and samples. Unlike mean ± 1.96
        standard errors it stays inside 0..100 and does not shrink to a point when every problem is solved.
        """
        if self.clusters < 2:
            return None
        p = min(max(self.total / self.problems, 0.0), 1.0)
        low, high = wilson(p, self.flips(samples), t_quantile(0.975, max(self.independent - 1, 1.0)))
        return Interval(low=100 * low, high=100 * high)


def interval(values: Sequence[float], samples_per_problem: int = 1, clusters: Sequence[str] = ()) -> Interval | None:
    """95 % interval, 0..100, of the mean of per-problem values in [0, 1]."""
    return ClusterSums(values, clusters).interval(samples_per_problem)


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


# How far a figure is known: what it might have been for the same problems asked again, or for others of the kind.
#
# Asked again, each problem's samples are drawn anew. Where enough problems have samples that disagree, their
# disagreement says how much the figure varies. Where few do, it says too little (of 20 problems that all were solved
# each time it would say that nothing can change); then the limits are those that hold whatever the problems' chances
# are, Clopper and Pearson's for all samples together.


Over = Literal["reruns", "problems", "dataset"]
"""These problems asked again, other problems of the kind, or all problems of a dataset of which these are a sample,
asked again."""

_MIXED_ENOUGH = 20
"""Problems with samples that disagree. With fewer, limits from their variance err in up to 82 of 100 runs instead
of 5."""
_WORTH_IT = 0.8
"""Of the variance that coin flips would have; above it, Clopper and Pearson's limits are as narrow, and exact."""


class Noise(NamedTuple):
    """How one problem's value varies from draw to draw."""

    variance: float | None
    """None: the samples do not say."""
    freedom: int
    draws: int
    """Right-or-wrong draws that the value is the mean of."""


def noise(reduction: str, key: str, values: Sequence[float]) -> Noise:
    """Of the value `key` that a reduction makes of these samples."""
    n = len(values)
    if reduction in {"runs", "mean", "avg@n"} and (not key or key.startswith("avg@")):
        centre = fsum(values) / n
        return Noise(fsum((value - centre) ** 2 for value in values) / (n * (n - 1)) if n > 1 else None, n - 1, n)
    kind, _, size = key.partition("@")
    # Which reductions give such keys, they all count right and wrong.
    if kind in ESTIMATORS and int(size) < n:
        return Noise(_jackknife(kind, n, int(sum(values)), int(size)), n - 1, 1)
    return Noise(None, 0, 1)


@cache
def _jackknife(kind: str, n: int, c: int, k: int) -> float:
    """The variance of an estimate from n samples, c of them right, by leaving out one after the other; too large on the
    average rather than too small (Efron and Stein 1981)."""
    estimate = ESTIMATORS[kind]
    without_right, without_wrong = estimate(n - 1, max(c - 1, 0), k), estimate(n - 1, min(c, n - 1), k)
    centre = (c * without_right + (n - c) * without_wrong) / n
    squares = c * (without_right - centre) ** 2 + (n - c) * (without_wrong - centre) ** 2
    return (n - 1) / n * squares


_LIKE_ALL = 2
"""So many more problems, which vary like all do, count: few of a part often resemble each other too much."""


class SampleOf(NamedTuple):
    """What a sample of problems was drawn from."""

    share: float
    """Of all problems that were drawn."""
    parts: Sequence[str]
    """Of every problem."""
    clusters: Sequence[str] = ()
    """Of every problem, where these were drawn as a whole."""


def drawn_flips(values: Sequence[float], sample: SampleOf) -> float:
    """As many coin flips as would vary like the mean of a sample does around that of all problems: what is drawn in
    proportion varies only within its parts, and the more of all problems it has, the less it can miss (finite
    population correction)."""
    if sample.clusters:
        return ClusterSums(values, sample.clusters).flips() / (1 - sample.share)
    sizes = Counter(sample.parts)
    strata: defaultdict[str, list[float]] = defaultdict(list)
    for value, part in zip(values, sample.parts, strict=True):
        strata[part if sizes[part] > 1 else ""].append(value)
    centre = min(max(fsum(values) / len(values), 0.0), 1.0)
    coin = centre * (1 - centre)
    if not coin:
        return max(len(values) - 1.0, 1.0) / (1 - sample.share)
    squares = fsum((value - fsum(each) / len(each)) ** 2 for each in strata.values() for value in each)
    variance = (squares + _LIKE_ALL * coin) / (len(values) - len(strata) + _LIKE_ALL)
    return len(values) * coin / variance / (1 - sample.share)


def sample_interval(values: Sequence[float], sample: SampleOf) -> Interval | None:
    """95 % interval, 0..100, of the mean of all problems, of which those with these values were drawn."""
    if len(values) < 2:
        return None
    centre = min(max(fsum(values) / len(values), 0.0), 1.0)
    low, high = wilson(centre, drawn_flips(values, sample), t_quantile(0.975, len(values) - 1))
    return Interval(low=100 * low, high=100 * high)


def case(
    values: Sequence[float],
    noises: Iterable[Noise],
    samples: int,
    clusters: Sequence[str] = (),
    *,
    sample: SampleOf | None = None,
    is_drawn: bool = True,
) -> CaseCertainty:
    """The certainty of problems with these values, 0..1. `is_drawn`: asked again, they would differ."""
    problems = len(values)
    centre = min(max(fsum(values) / problems, 0.0), 1.0)
    each = list(noises)
    mixed = [(noise.variance, noise.freedom) for noise in each if noise.variance]
    total = fsum(variance for variance, _ in mixed)
    flips = centre * (1 - centre) / sum(noise.draws for noise in each)
    known = len(mixed) >= _MIXED_ENOUGH and all(noise.variance is not None for noise in each)
    variance = total / problems**2
    worth_it = known and variance < _WORTH_IT * flips
    around = None
    if sample is not None:
        # Of the noise of asking, the part of all problems that was asked brings its share; the rest is in the values.
        again = (variance / (centre * (1 - centre)) if worth_it else 1 / sum(noise.draws for noise in each)) * is_drawn
        around = 1 / (1 / drawn_flips(values, sample) + sample.share * again)
    return CaseCertainty(
        mean=centre,
        rerun_variance=variance if worth_it else None,
        # Satterthwaite's.
        freedom=total**2 / fsum(variance**2 / freedom for variance, freedom in mixed) if worth_it else 0.0,
        flips=ClusterSums(values, clusters).flips(samples),
        drawn_flips=around,
    )


def combined(parts: Sequence[Certainty | None], weights: Sequence[float]) -> Certainty | None:
    """The certainty of a weighted mean of figures of problems that share nothing with those of another; None if that of
    one of them is unknown."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    shares = [weight / fsum(weights) * part.factor for weight, part in zip(weights, known, strict=True)]
    factor = fsum(shares)
    shares = [share / factor for share in shares]
    return Certainty(
        problems=sum(part.problems for part in known),
        samples=max(part.samples for part in known),
        draws=sum(part.draws for part in known),
        worst=_combined_case([(part.worst, part.draws) for part in known], shares),
        best=_combined_case([(part.best, part.draws) for part in known], shares),
        factor=factor,
        offset=fsum(weight / fsum(weights) * part.offset for weight, part in zip(weights, known, strict=True)),
        sharing=_combined_sharing(known),
        repeated=max(part.repeated for part in known),
    )


def _combined_sharing(parts: Sequence[Certainty]) -> Sharing | None:
    names = {part.sharing.what for part in parts if part.sharing}
    if not names:
        return None
    return Sharing(
        clusters=sum(part.sharing.clusters if part.sharing else part.problems for part in parts),
        independent=fsum(part.sharing.independent if part.sharing else part.problems for part in parts),
        what=names.pop() if len(names) == 1 and all(part.sharing for part in parts) else "clusters",
    )


def _combined_case(cases: Sequence[tuple[CaseCertainty, int]], shares: Sequence[float]) -> CaseCertainty:
    reruns = [share**2 * _rerun_variance(case, draws) for share, (case, draws) in zip(shares, cases, strict=True)]
    problems = [share**2 * _coin_variance(case, case.flips) for share, (case, _) in zip(shares, cases, strict=True)]
    centre = fsum(share * case.mean for share, (case, _) in zip(shares, cases, strict=True))
    certain = [(variance, case.freedom or draws) for variance, (case, draws) in zip(reruns, cases, strict=True)]
    squares = fsum(variance**2 / freedom for variance, freedom in certain if freedom)
    drawn = [
        again if case.drawn_flips is None else share**2 * _coin_variance(case, case.drawn_flips)
        for again, share, (case, _) in zip(reruns, shares, cases, strict=True)
    ]
    any_drawn = any(case.drawn_flips is not None for case, _ in cases)
    return CaseCertainty(
        mean=centre,
        rerun_variance=fsum(reruns),
        freedom=fsum(reruns) ** 2 / squares if squares else 1.0,
        flips=max(centre * (1 - centre) / fsum(problems), 1.0),
        drawn_flips=max(centre * (1 - centre) / fsum(drawn), 1.0) if any_drawn else None,
    )


def _rerun_variance(case: CaseCertainty, draws: int) -> float:
    if case.rerun_variance is not None or not draws:
        return case.rerun_variance or 0.0
    return _coin_variance(case, draws)


def _coin_variance(case: CaseCertainty, flips: float) -> float:
    """As if there were two more flips, one of them right: where all are right, that does not prove that all will be."""
    share = (case.mean * flips + 1) / (flips + 2)
    return share * (1 - share) / flips


def asked_again(certainty: Certainty | None) -> Interval | None:
    """Between which ends the figure would lie, with 95 %, if the same problems were asked again; None: unknown. Samples
    that are all the same say nothing of that."""
    return None if certainty is None or certainty.repeated else limits(certainty, "reruns", 0.975)


def limits(certainty: Certainty, over: Over, confidence: float) -> Interval:
    """Between which ends the figure lies; each end alone holds with this confidence."""
    ends = {"reruns": _rerun_ends, "problems": _problem_ends, "dataset": _dataset_ends}[over]
    low, high = ends(certainty, certainty.worst, confidence)[0], ends(certainty, certainty.best, confidence)[1]
    return Interval(low=certainty.factor * low + certainty.offset, high=certainty.factor * high + certainty.offset)


def _rerun_ends(certainty: Certainty, case: CaseCertainty, confidence: float) -> tuple[float, float]:
    if not certainty.draws:
        return case.mean, case.mean
    if case.rerun_variance is None:
        return share_limits(case.mean * certainty.draws, certainty.draws, confidence)
    # Half a draw is the step from one possible figure to the middle of the next.
    half = t_quantile(confidence, case.freedom) * sqrt(case.rerun_variance) + 0.5 / certainty.draws
    return max(0.0, case.mean - half), min(1.0, case.mean + half)


def _problem_ends(certainty: Certainty, case: CaseCertainty, confidence: float) -> tuple[float, float]:
    independent = certainty.sharing.independent if certainty.sharing else certainty.problems
    return wilson(case.mean, case.flips, t_quantile(confidence, max(1, independent - 1)))


def _dataset_ends(certainty: Certainty, case: CaseCertainty, confidence: float) -> tuple[float, float]:
    assert case.drawn_flips is not None
    return wilson(case.mean, case.drawn_flips, t_quantile(confidence, max(1, certainty.problems - 1)))
