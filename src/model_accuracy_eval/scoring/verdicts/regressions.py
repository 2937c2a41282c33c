"""When a figure that is measured again and again has fallen: a cumulative sum (CUSUM) of paired z values.

Each run is compared, problem by problem, with the mean of earlier runs. A quiet series gives z values around 0, some of
them low by chance; a fall moves all that follow. The sum of what lies more than half a standard error below, of the run
and of the reference, grows only then, and its limit is one that 60 quiet runs seldom reach (`bench/trends.py`).
"""

from collections.abc import Collection, Sequence
from functools import cache
from math import comb, log, sqrt
from typing import NamedTuple

import msgspec
import numpy
from numpy.typing import NDArray

from model_accuracy_eval.records import Interval
from model_accuracy_eval.scoring.figures.intervals import Z95, Floats

ALLOWANCE, LIMIT = 0.5, 4.5
"""The k and the h of a CUSUM of one series: both in standard errors."""
_LONGEST_REFERENCE = 30
"""Runs back; services and weights of long ago are no measure for today's."""
_LAG = 3
"""Runs just before the one that is judged are not in its reference: a fall must not become its own measure."""
_AS_LIKELY = 9.0
"""Twice the log-likelihood by which another place of the change may be less likely and is possible all the same: the
true one is among them in 95 % of simulated falls."""


def limit_of_one(series: int) -> float:
    """The limit for each of so many series, so that all of them together alarm falsely as seldom as one would: the
    runs between two false alarms grow exponentially with the limit."""
    return LIMIT + log(max(series, 1))


class PairedChange(NamedTuple):
    """The mean change of a problem, 0..1, and its mean and standard error as if two more had been asked, one gained and
    one lost: like the intervals of `compare`, it is no certainty where nothing changed."""

    points: float
    mean: float
    stderr: float

    @property
    def z(self) -> float:
        return self.mean / self.stderr

    @property
    def interval(self) -> Interval:
        """95 %, in points."""
        low, high = (100 * (self.mean + side * Z95 * self.stderr) for side in (-1, 1))
        return Interval(low=max(low, -100.0), high=min(high, 100.0))


class LevelChange(NamedTuple):
    """Where a level ends and another one begins. Runs are places in the series."""

    since: int
    """The first run that the level before is measured by."""
    after: int
    """The last run before the change, as the likeliest place has it."""
    earliest: int
    latest: int
    """The same of the first and the last place that are possible, too (95 %)."""
    points: float
    interval: Interval
    """Of the change, paired by problem; it covers all possible places (95 %)."""


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """A fall between two neighbouring runs."""

    split: LevelChange
    noticed: int
    """The run with which the sum passed its limit."""
    mended: int | None = None
    """The run with which the figure had come back; None: the regression stands."""

    @property
    def first(self) -> int:
        """The first run after the fall."""
        return self.split.after + 1


class Trend(NamedTuple):
    """What the rule makes of a series: its sum at each run (None for the first of a level), and the falls."""

    sums: list[float | None]
    regressions: list[Regression]

    quiet_since: int
    """The first run of the level that the newest run belongs to."""
    shows: float | None
    """Points by which the newest run would have had to fall to be noticed at once; None: it was compared with none."""


def paired_change(before: Floats, after: Floats) -> PairedChange:
    """Of values of the same problems, 0..1. Problems that one side lacks (NaN) are left out."""
    changes = after - before
    changes = changes[numpy.isfinite(changes)]
    total, problems = float(changes.sum()), len(changes) + 2
    mean = total / problems
    variance = (float((changes * changes).sum()) + 2) / problems - mean**2
    return PairedChange(100 * total / max(len(changes), 1), mean, sqrt(max(variance, 0.0) / problems))


def trend(runs: Sequence[Floats], limit: float = LIMIT) -> Trend:
    """`runs` are the problems' values in each run, higher is better, the oldest run first.

    After a fall the runs from its first on are a level of their own. While a regression stands, a second sum looks for
    the way back up; it is mended when that sum has passed its limit, too, and the level before the fall is reached.
    """
    watch = _Watch(runs, limit)
    for place in range(len(runs)):
        watch.see(place)
    return Trend(watch.sums, watch.regressions, watch.start, watch.shows)


class _Watch:
    """The state of the rule between one run and the next."""

    def __init__(self, runs: Sequence[Floats], limit: float) -> None:
        self._runs = runs
        self._limit = limit
        self.sums: list[float | None] = []
        self.regressions: list[Regression] = []
        self.shows: float | None = None
        self._fallen = self._risen = 0.0
        self._begin(0, has_risen=False)

    def see(self, place: int) -> None:
        """Takes the next run in."""
        if place > self.start:
            reference = _reference(self._runs, self.start, place)
            change = paired_change(_mean(reference), self._runs[place])
            # Half a standard error of the run, and half a one of the reference, whose error all these runs share.
            allowance = ALLOWANCE * (1 + 1 / sqrt(len(reference)))
            self.shows = 100 * (self._limit + allowance) * change.stderr
            self._fallen = max(0.0, self._fallen - change.z - allowance)
            self._risen = max(0.0, self._risen + change.z - allowance)
        self.sums.append(self._fallen if place > self.start else None)
        if self._fallen > self._limit:
            split = _split(self._runs, self.start, place + 1, sign=-1)
            self.regressions.append(Regression(split=split, noticed=place))
            self._begin(split.after + 1, has_risen=False)
        elif self._risen > self._limit and any(each.mended is None for each in self.regressions):
            self._begin(_split(self._runs, self.start, place + 1, sign=1).after + 1, has_risen=True)
        if self._has_risen:
            self.regressions = [_mended(self._runs, each, self.start, place) for each in self.regressions]

    def _begin(self, start: int, *, has_risen: bool) -> None:
        """A level, whose first run this is. `has_risen`: whether it began with a rise."""
        self.start, self._has_risen = start, has_risen
        self._fallen = self._risen = 0.0
        self.shows = None


def _reference(runs: Sequence[Floats], start: int, place: int) -> Sequence[Floats]:
    """The runs that the one at `place` is compared with: at least the first of its level."""
    first = max(start, place - _LONGEST_REFERENCE)
    return runs[first : max(start + 1, place - _LAG)]


def _mean(runs: Sequence[Floats]) -> Floats:
    values = numpy.asarray(runs)
    known = numpy.isfinite(values)
    counts = known.sum(axis=0)
    mean: Floats = numpy.where(known, values, 0.0).sum(axis=0) / numpy.where(counts, counts, numpy.nan)
    return mean


def _split(runs: Sequence[Floats], start: int, end: int, *, sign: int) -> LevelChange:
    """The likeliest place of a change in this direction in the runs from `start` to before `end`, and how large it is:
    where the figures of both sides differ least from their means. A long level is looked at near its end alone."""
    found: dict[int, tuple[float, int, PairedChange]] = {}
    for after in range(max(start, end - 2 * _LONGEST_REFERENCE), end - 1):
        since = max(start, after + 1 - _LONGEST_REFERENCE)
        before, behind = runs[since : after + 1], runs[after + 1 : end]
        change = paired_change(_mean(before), _mean(behind))
        weight = len(before) * len(behind) / (len(before) + len(behind))
        found[after] = weight * max(sign * change.points, 0.0) ** 2, since, change
    likeliest = max(found, key=lambda after: found[after][0])
    most, since, change = found[likeliest]
    noise = _noise(runs[since : likeliest + 1], runs[likeliest + 1 : end])
    possible = [after for after, (squares, _, _) in found.items() if most - squares <= _AS_LIKELY * noise]
    intervals = [found[after][2].interval for after in possible]
    interval = Interval(low=min(each.low for each in intervals), high=max(each.high for each in intervals))
    return LevelChange(since, likeliest, possible[0], possible[-1], change.points, interval)


def _noise(*sides: Sequence[Floats]) -> float:
    """The variance of a run's figure, in points, when nothing changes; as if one problem more were a coin."""
    squares = sum(float(numpy.nansum((numpy.asarray(side) - _mean(side)) ** 2)) for side in sides)
    freedom = max(sum(map(len, sides)) - 2, 1)
    return (squares / freedom + 1) * (100 / len(sides[0][0])) ** 2


def _mended(runs: Sequence[Floats], regression: Regression, start: int, place: int) -> Regression:
    """It is, if the runs from `start` on can no longer be told from those before the fall."""
    before = _mean(runs[regression.split.since : regression.first])
    is_back = regression.mended is None and paired_change(before, _mean(runs[start : place + 1])).z > -Z95
    return msgspec.structs.replace(regression, mended=start) if is_back else regression


# Which problems a regression is made of, and which flip from run to run without any trend.
#
# A run solves a problem if more than half of its samples are right. A problem has fallen if it was solved in so many
# runs before and in so few after that the order of the runs is no coincidence: Fisher's exact test, corrected for the
# number of problems that could have shown it (Benjamini and Hochberg 1995, over those that changed at all, after Tarone
# 1990).


FALSE_NAMES = 0.1
"""Of the problems that are named, so many may be there by chance, on the average."""


class Flaky(NamedTuple):
    """A problem that some runs solve and others do not."""

    place: int
    flips: int
    """How often a run's verdict on it differs from that of the run before."""


def fallen(before: Sequence[Floats], after: Sequence[Floats]) -> list[int]:
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


def flaky(runs: Sequence[Floats], without: Collection[int] = ()) -> list[Flaky]:
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


def _counts(runs: Sequence[Floats]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    values = numpy.asarray(runs)
    return numpy.nansum(values, axis=0).astype(int), numpy.isfinite(values).sum(axis=0).astype(int)


@cache
def _fisher(solved: int, asked: int, solved_after: int, asked_after: int) -> float:
    """The chance of so few solved runs after, or fewer, if the order of the runs meant nothing.

    >>> round(_fisher(8, 8, 0, 3), 5)
    0.00606
    """
    runs, total = asked + asked_after, solved + solved_after
    ways = sum(comb(total, few) * comb(runs - total, asked_after - few) for few in range(solved_after + 1))
    return ways / comb(runs, asked_after)
