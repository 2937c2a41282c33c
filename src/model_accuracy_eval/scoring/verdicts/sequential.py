"""Whether the mean of a finite number of values reaches a line, decided while the values are read one by one; which
line that is for a gate; and what a run of a size can show.

The values stand in an order drawn uniformly at random, and are read in that order. A bet on each value can, in the
long run, only lose as long as the mean lies below the line; so once the stake has grown by 1/error, the mean is proven
to reach it, and the proof is wrong in at most that share of orders, whenever it comes (Ville's inequality; sampling
without replacement after Waudby-Smith and Ramdas 2020, and Stark's ALPHA). Only the order's randomness is used: the
values may depend on each other in any way.
"""

from bisect import bisect_left
from collections.abc import Iterator
from math import exp, floor, log, log1p, sqrt
from typing import NamedTuple

from model_accuracy_eval.records import Decision, Gate
from model_accuracy_eval.scoring.figures.quantiles import normal_quantile, share_limits, t_quantile
from model_accuracy_eval.scoring.verdicts.gates import GateRule, holds, is_floor

_STAKES = (1.0, 2.5)
"""Of a careful and of a bold bettor; half of the stake is on each."""
_PRIOR = 8.0
"""As many values count as known beforehand."""
_CAP = 0.99
"""Of the stake that could be lost: a factor is never negative."""
_LEAST_VARIANCE = 1e-3
_TINY = 1e-12
_EXACT = 1e-9
"""Sums of ratios are compared with this tolerance."""


class MeanAtLeast:
    """Proves that the mean of all values, each in 0..1, is at least `line`."""

    def __init__(self, units: int, line: float, error: float, *, binary: bool) -> None:
        """`error`: how often the proof may be wrong. `binary`: each value is 0 or 1."""
        self._units = units
        self._line = line
        self._needed = -log(error)
        self._binary = binary
        self._logs = [0.0] * len(_STAKES)
        self._read = 0
        self._sum = 0.0
        self._x = self._xx = 0.0
        """Sums of the values' distances from the line, and of their squares."""
        self.is_proven = self._is_certain()

    def tell(self, value: float) -> bool:
        """Reads the next value; returns whether the mean is proven to reach the line."""
        self._bet(value)
        self._read += 1
        self._sum += value
        top = max(self._logs)
        has_won = top + log(sum(exp(one - top) for one in self._logs) / len(self._logs)) >= self._needed
        self.is_proven = self.is_proven or self._is_certain() or has_won
        return self.is_proven

    def _is_certain(self) -> bool:
        return self._units * self._line - self._sum <= _EXACT

    def _bet(self, value: float) -> None:
        left = self._units - self._read
        mean_left = (self._units * self._line - self._sum) / left
        """Of what is left, if the mean of all lies exactly on the line."""
        out_of_reach = mean_left > 1
        mean_left = min(max(mean_left, _TINY), 1 - _TINY)
        variance = self._variance()
        spread = self._line * (1 - self._line) if self._binary else variance
        ahead = sqrt(max(0.0, 2 * spread * self._needed / self._units)) * self._units / left
        gain = value - mean_left
        cap = _CAP / mean_left
        for place, stake in enumerate(_STAKES):
            distance = stake * ahead
            share = distance / (mean_left * (1 - mean_left) if self._binary else variance + distance * distance)
            if not out_of_reach:
                self._logs[place] += log1p(min(share, cap) * gain)
        x = value - self._line
        self._x += x
        self._xx += x * x

    def _variance(self) -> float:
        """How the values vary in what was read."""
        squares = self._xx - (self._x * self._x / self._read if self._read else 0.0)
        return max((squares + _PRIOR * self._line * (1 - self._line)) / (self._read + _PRIOR), _LEAST_VARIANCE)


class MeanDecider:
    """Whether the mean of all values reaches the upper line, or stays down to the lower one; perhaps neither."""

    def __init__(
        self,
        units: int,
        lines: tuple[float, float],
        errors: tuple[float, float],
        *,
        binary: bool,
    ) -> None:
        """`lines`: the lower and the upper; `errors`: of a proof that the mean is at most, and at least, these."""
        (lower, upper), (error_below, error_above) = lines, errors
        self._above = MeanAtLeast(units, upper, error_above, binary=binary)
        self._below = MeanAtLeast(units, 1.0 - lower, error_below, binary=binary)

    def tell(self, low: float, high: float) -> None:
        """Reads the next unit's value, or its ends where a sample is lost: neither proof profits from a loss."""
        self._above.tell(low)
        self._below.tell(1.0 - high)

    @property
    def is_above(self) -> bool:
        return self._above.is_proven

    @property
    def is_below(self) -> bool:
        return self._below.is_proven

    @property
    def is_decided(self) -> bool:
        return self.is_above or self.is_below


# Which figure of the whole run would pass a gate, and which would fail it: what a run that stops early has to prove.
#
# Half of the error that a gate may make is spent on the proof, the other half on the noise of the whole run: so a gate
# that is decided early is wrong no more often than one that is decided at the end.


class BaselineFigure(NamedTuple):
    """A baseline's figure, 0..1, lost samples at their worst and at their best, and how far reruns move it."""

    low: float
    high: float
    variance: float | None
    """Of the figure, if the same problems were asked again; None: its samples do not say."""
    freedom: float
    is_drawn_alike: bool
    """Whether its samples were drawn as this run's are, so that they say how this run's vary."""


class StopLines(NamedTuple):
    """A gate, and what has to be proven to decide it: as `above` says once its figure is at least `upper`, as `below`
    says at most `lower`."""

    gate: Gate
    lower: float
    upper: float
    below: Decision
    above: Decision
    errors: tuple[float, float]
    """Of a proof that the figure is at most the lower line, and at least the upper one."""


def stop_lines(gate: Gate, draws: int, rule: GateRule, *, drawn: bool, base: BaselineFigure | None) -> StopLines | None:
    """Lines in 0..1; None for a gate that needs the whole run. `draws`: right-or-wrong draws that the figure is the
    mean of. `drawn`: asked again, the service would give other values."""
    if gate.comparison == "==" or rule.over == "problems" or (gate.from_baseline and base is None):
        return None
    error_above, error_below = (1 - each for each in rule.confidences(gate))
    noisy = drawn and rule.over == "reruns"
    if noisy:
        error_above, error_below = error_above / 2, error_below / 2
    if gate.from_baseline and base is not None:
        lower, upper = _lines_of_change(gate, draws, base, (error_below, error_above), noisy=noisy)
    else:
        lower, upper = _lines_of_figure(gate, draws, base, (error_below, error_above), noisy=noisy)
    above: Decision = "passed" if is_floor(gate) else "failed"
    below: Decision = "failed" if is_floor(gate) else "passed"
    return StopLines(gate, lower, upper, below, above, (error_below, error_above))


def _lines_of_figure(
    gate: Gate, draws: int, base: BaselineFigure | None, errors: tuple[float, float], *, noisy: bool
) -> tuple[float, float]:
    """The least and the greatest whole number of right draws whose limits clear the threshold."""
    sure = [1 - error for error in errors]

    def first_above(end: int) -> int:
        """The first number of right draws whose low (0) or high (1) limit is above the line; `draws + 1`: none is."""

        def is_above(right: int) -> bool:
            limit = share_limits(right, draws, sure[1 - end])[end] if noisy else right / draws
            return holds(gate, 100 * limit) == is_floor(gate)

        return bisect_left(range(draws + 1), True, key=is_above)

    upper, lower = first_above(0) / draws, (first_above(1) - 1) / draws
    if noisy and base is not None and base.is_drawn_alike and base.variance:
        threshold = gate.threshold / 100
        halves = [t_quantile(each, base.freedom) * sqrt(base.variance) + 0.5 / draws for each in sure]
        lower, upper = max(lower, threshold - halves[0]), min(upper, threshold + halves[1])
    return lower, upper


def _lines_of_change(
    gate: Gate, draws: int, base: BaselineFigure, errors: tuple[float, float], *, noisy: bool
) -> tuple[float, float]:
    """Both runs have noise. The baseline's lost samples help neither side."""
    upper, lower = base.high + gate.threshold / 100, base.low + gate.threshold / 100
    if not noisy:
        # `>= baseline` holds for the baseline's figure itself, and `> baseline` does not.
        step = 0.5 / draws
        return (lower - step, upper) if gate.comparison in {">=", "<"} else (lower, upper + step)
    centre = (base.low + base.high) / 2
    coins = (centre * draws + 1) / (draws + 2)
    alone = base.variance if base.is_drawn_alike and base.variance else coins * (1 - coins) / draws
    halves = [normal_quantile(1 - error) * sqrt(2 * alone) + 0.5 / draws for error in errors]
    return lower - halves[0], upper + halves[1]


# What a run of a size can show about its gates, and which size a number of requests is best spent on.

_CORRELATION = 0.5
"""Of the samples of one problem, where nothing is known of the service: maths and code benchmarks have about that."""
_TWO_SIDED_95 = 0.975
_COMPARED = (1, 2, 5, 10)


class PlannedSize(NamedTuple):
    """How much is asked of a dataset."""

    problems: int
    n: int
    of: int | None = None
    """Of how many problems these are a sample; None: these are what a gate is about."""

    @property
    def requests(self) -> int:
        return self.problems * self.n

    def draws(self, *, of_samples: bool, drawn: bool) -> int:
        """As many right-or-wrong draws as say at least as much about the figure that a gate is about. `of_samples`: it
        is a mean of samples; else of problems. `drawn`: asked again, the service would give other values."""
        own = self.requests if of_samples else self.problems
        if self.of is None or self.problems >= self.of:
            return own
        share = self.problems / self.of
        return floor(1 / ((1 - share) / max(self.problems - 1, 1) + share / own * drawn))

    def __str__(self) -> str:
        samples = "1 sample" if self.n == 1 else f"{self.n:,} samples"
        return f"{self.problems:,} problems × {samples}"


def can_show(gate: Gate, size: PlannedSize, rule: GateRule, *, of_samples: bool, drawn: bool) -> str:
    """What the gate will say of which figures. `of_samples`: its figure is a mean of samples; else of problems."""
    draws = size.draws(of_samples=of_samples, drawn=drawn)
    noisy = (drawn or size.of is not None) and rule.over != "point"
    if not noisy or gate.comparison == "==":
        return "is decided by the figure itself, whatever the size."
    if rule.over == "problems":
        return "is about other problems of the kind: what it can show depends on how unlike these are."
    sure = f"({rule})"
    if gate.from_baseline:
        points = 100 * normal_quantile(rule.sure_of_pass) * sqrt(2 * 0.25 / draws)
        return f"shows changes of {points:.2f} points and more where answers change by chance alone {sure}."
    error_above, error_below = (1 - each for each in rule.confidences(gate))
    lower, upper = _lines_of_figure(gate, draws, None, (error_below, error_above), noisy=True)
    above, below = ("passes", "fails") if is_floor(gate) else ("fails", "passes")
    highest = f"from {100 * upper:.2f}" if upper <= 1 else "for no figure, because the size is too small"
    lowest = f"up to {100 * lower:.2f}" if lower >= 0 else "for none"
    about = f" on all {size.of:,} problems" if size.of else " at the latest" if of_samples else ""
    return f"{above} {highest}, {below} {lowest}{about} {sure}; between them it stays undecided."


def margin(size: PlannedSize, problems: int, share: float) -> float:
    """Points by which the figure will miss that of the whole dataset, at most, in 95 of 100 runs."""
    of_problems = _CORRELATION / size.problems * (1 - size.problems / problems)
    of_samples = (1 - _CORRELATION) / size.requests
    return 100 * normal_quantile(_TWO_SIDED_95) * sqrt(share * (1 - share) * (of_problems + of_samples))


def alternatives(requests: int, problems: int, least: int) -> Iterator[PlannedSize]:
    """Sizes that cost no more, the one that misses least first; none if not one problem can be asked.

    That is one of three: all problems, or as many as can be, with as few samples as their figures need; a sample more
    of fewer problems, or all samples of as many problems, where the first would leave many requests unused.
    """
    whole = max(least, requests // problems)
    filled = requests // max(1, requests // least)
    sizes = [
        PlannedSize(min(problems, requests // n), n)
        for n in {least, whole, whole + 1, filled}
        if least <= n <= requests
    ]
    first = sorted(sizes, key=lambda size: margin(size, problems, 0.5))[:1]
    others = [PlannedSize(min(problems, requests // n), n) for n in _COMPARED if least <= n <= requests]
    yield from dict.fromkeys(first + others)
