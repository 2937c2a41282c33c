"""When a figure that is measured again and again has fallen: a cumulative sum (CUSUM) of paired z values.

Each run is compared, problem by problem, with the mean of earlier runs. A quiet series gives z values around 0, some of
them low by chance; a fall moves all that follow. The sum of what lies more than half a standard error below, of the run
and of the reference, grows only then, and its limit is one that 60 quiet runs seldom reach (`bench/trends.py`).
"""

from collections.abc import Collection, Sequence
from functools import cache
from math import comb, fsum, log, sqrt
from typing import NamedTuple

import msgspec
import numpy
from numpy.typing import NDArray

from model_accuracy_eval.records import Interval
from model_accuracy_eval.scoring.figures.intervals import Z95, Floats

ALLOWANCE, LIMIT = 0.5, 4.5
"""The k and the h of a CUSUM of one series: both in standard errors."""
FIRST_RUNS = 4
"""So many runs are the reference of those after them, and none of them is judged."""
_LONGEST_REFERENCE = 30
"""Runs back; services and weights of long ago are no measure for today's."""
_LAG = 3
"""Runs just before the one that is judged are not in its reference: a fall must not become its own measure."""


def limit_of_one(series: int) -> float:
    """The limit for each of so many series, so that all of them together alarm falsely as seldom as one would: the
    runs between two false alarms grow exponentially with the limit."""
    return LIMIT + log(max(series, 1))


class PairedChange(NamedTuple):
    """The mean change of a problem, 0..1, and its standard error."""

    mean: float
    stderr: float

    @property
    def z(self) -> float:
        return self.mean / self.stderr

    @property
    def interval(self) -> Interval:
        """95 %, in points."""
        return Interval(low=100 * (self.mean - Z95 * self.stderr), high=100 * (self.mean + Z95 * self.stderr))


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """A fall between two neighbouring runs. Runs are places in the series."""

    after: int
    """The last run before the fall."""
    noticed: int
    """The run with which the sum passed its limit."""
    since: int
    """The first run of the reference before the fall."""
    points: float
    interval: Interval
    """95 %, paired by problem."""
    mended: int | None = None
    """The run with which the figure had come back; None: the regression stands."""

    @property
    def first(self) -> int:
        """The first run after the fall."""
        return self.after + 1


class Trend(NamedTuple):
    """What the rule makes of a series: its sum at each run (None where it is not judged), and the falls."""

    sums: list[float | None]
    regressions: list[Regression]

    quiet_since: int
    """The first run of the level that the newest run belongs to."""


def paired_change(before: Floats, after: Floats) -> PairedChange:
    """Of values of the same problems, 0..1, as if two more had been asked, one gained and one lost: like the intervals
    of `compare`, it is no certainty where nothing changed. Problems that one side lacks (NaN) are left out."""
    changes = after - before
    changes = changes[numpy.isfinite(changes)]
    problems = len(changes) + 2
    mean = float(changes.sum()) / problems
    variance = (float((changes * changes).sum()) + 2) / problems - mean**2
    return PairedChange(mean, sqrt(max(variance, 0.0) / problems))


def trend(runs: Sequence[Floats], limit: float = LIMIT) -> Trend:
    """`runs` are the problems' values in each run, higher is better, the oldest run first.

    After a fall the runs from its first on are a level of their own. While a regression stands, a second sum looks for
    the way back up; it is mended when that sum has passed its limit, too, and the level before the fall is reached.
    """
    watch = _Watch(runs, limit)
    for place in range(len(runs)):
        watch.see(place)
    return Trend(watch.sums, watch.regressions, watch.start)


class _Watch:
    """The state of the rule between one run and the next."""

    def __init__(self, runs: Sequence[Floats], limit: float) -> None:
        self._runs = runs
        self._limit = limit
        self.sums: list[float | None] = []
        self.regressions: list[Regression] = []
        self._begin(0, has_risen=False)

    def see(self, place: int) -> None:
        """Takes the next run in."""
        if place - self.start < FIRST_RUNS:
            self.sums.append(None)
        else:
            reference = _reference(self._runs, self.start, place)
            z = paired_change(_mean(reference), self._runs[place]).z
            # Half a standard error of the run, and half a one of the reference, whose error all these runs share.
            allowance = ALLOWANCE * (1 + 1 / sqrt(len(reference)))
            self.sums.append(self._fallen.add(-z, allowance))
            self._risen.add(z, allowance)
        if self._fallen.total > self._limit:
            first = place + 1 - self._fallen.length
            self.regressions.append(_regression(self._runs, self.start, first - 1, place))
            self._begin(first, has_risen=False)
        elif self._risen.total > self._limit and any(each.mended is None for each in self.regressions):
            self._begin(place + 1 - self._risen.length, has_risen=True)
        if self._has_risen:
            self.regressions = [_mended(self._runs, each, self.start, place) for each in self.regressions]

    def _begin(self, start: int, *, has_risen: bool) -> None:
        """A level, whose first run this is. `has_risen`: whether it began with a rise."""
        self.start, self._has_risen = start, has_risen
        self._fallen, self._risen = _Sum(), _Sum()


class _Sum:
    """One side of the rule."""

    def __init__(self) -> None:
        self.total = 0.0
        self._since_zero: list[float] = []

    def add(self, z: float, allowance: float) -> float:
        self.total = max(0.0, self.total + z - allowance)
        self._since_zero = [*self._since_zero, z] if self.total else []
        return self.total

    @property
    def length(self) -> int:
        """How many runs the change is old: of those since the sum last was zero, the newest ones that together lie
        furthest away for their number. Where a change is large, the sum alone was above zero by chance before it."""
        newest = [(fsum(self._since_zero[-runs:]) / sqrt(runs), runs) for runs in range(1, len(self._since_zero) + 1)]
        return max(newest)[1]


def _reference(runs: Sequence[Floats], start: int, place: int) -> Sequence[Floats]:
    """The runs that the one at `place` is compared with."""
    first = max(start, place - _LONGEST_REFERENCE)
    return runs[first : max(start + FIRST_RUNS, place - _LAG)]


def _mean(runs: Sequence[Floats]) -> Floats:
    values = numpy.asarray(runs)
    known = numpy.isfinite(values)
    counts = known.sum(axis=0)
    mean: Floats = numpy.where(known, values, 0.0).sum(axis=0) / numpy.where(counts, counts, numpy.nan)
    return mean


def _regression(runs: Sequence[Floats], start: int, after: int, noticed: int) -> Regression:
    since = max(start, after + 1 - _LONGEST_REFERENCE)
    change = paired_change(_mean(runs[since : after + 1]), _mean(runs[after + 1 : noticed + 1]))
    return Regression(after=after, noticed=noticed, since=since, points=100 * change.mean, interval=change.interval)


def _mended(runs: Sequence[Floats], regression: Regression, start: int, place: int) -> Regression:
    """It is, if the runs from `start` on can no longer be told from those before the fall."""
    before = _mean(runs[regression.since : regression.after + 1])
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
