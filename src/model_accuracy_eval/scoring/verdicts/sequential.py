"""Whether the mean of a finite number of values reaches a line, decided while the values are read one by one.

The values stand in an order drawn uniformly at random, and are read in that order. A bet on each value can, in the
long run, only lose as long as the mean lies below the line; so once the stake has grown by 1/error, the mean is proven
to reach it, and the proof is wrong in at most that share of orders, whenever it comes (Ville's inequality; sampling
without replacement after Waudby-Smith and Ramdas 2020, and Stark's ALPHA). Only the order's randomness is used: the
values may depend on each other in any way.
"""

from collections.abc import Iterable, Sequence
from math import exp, fsum, log, log1p, sqrt

_STAKES = (1.0, 2.5)
"""Of a careful and of a bold bettor; half of the stake is on each."""
_PRIOR = 8.0
"""As many values count as known beforehand."""
_CAP = 0.99
"""Of the stake that could be lost: a factor is never negative."""
_LEAST_VARIANCE = 1e-3
_LARGEST_SLOPE = 1.5
_TINY = 1e-12
_EXACT = 1e-9
"""Sums of ratios are compared with this tolerance."""


class Covariate:
    """Values known before for the same units, such as a baseline's: what they explain is taken out of the noise."""

    def __init__(self, values: Sequence[float], slope: float) -> None:
        """`slope`: how the new values are expected to follow them, before any is read."""
        self.values = values
        self.slope = slope
        self.mean = fsum(values) / len(values)
        self.variance = fsum((value - self.mean) ** 2 for value in values) / len(values)

    def mirrored(self) -> "Covariate":
        return Covariate([1.0 - value for value in self.values], self.slope)


class MeanAtLeast:
    """Proves that the mean of all values, each in 0..1, is at least `line`."""

    def __init__(
        self, units: int, line: float, error: float, *, binary: bool, covariate: Covariate | None = None
    ) -> None:
        """`error`: how often the proof may be wrong. `binary`: each value is 0 or 1."""
        self._units = units
        self._line = line
        self._needed = -log(error)
        self._binary = binary and covariate is None
        self._covariate = covariate
        self._left_of_covariate = fsum(covariate.values) if covariate else 0.0
        self._logs = [0.0] * len(_STAKES)
        self._read = 0
        self._sum = 0.0
        self._x = self._xx = self._b = self._bb = self._xb = 0.0
        """Sums of the values' and the covariate's distances from the line and from its mean, and of their products."""
        self.is_proven = self._is_certain()

    def tell(self, value: float) -> bool:
        """Reads the next value; returns whether the mean is proven to reach the line."""
        self._bet(value)
        self._read += 1
        self._sum += value
        self.is_proven = self.is_proven or self._is_certain() or self._has_won()
        return self.is_proven

    def _is_certain(self) -> bool:
        return self._units * self._line - self._sum <= _EXACT

    def _has_won(self) -> bool:
        top = max(self._logs)
        return top + log(sum(exp(one - top) for one in self._logs) / len(self._logs)) >= self._needed

    def _bet(self, value: float) -> None:
        left = self._units - self._read
        mean_left = (self._units * self._line - self._sum) / left
        """Of what is left, if the mean of all lies exactly on the line."""
        out_of_reach = mean_left > 1
        mean_left = min(max(mean_left, _TINY), 1 - _TINY)
        slope, variance = self._slope_and_variance()
        before, expected = self._covariate_next(left)
        spread = self._line * (1 - self._line) if self._binary else variance
        ahead = sqrt(max(0.0, 2 * spread * self._needed / self._units)) * self._units / left
        gain = value - slope * (before - expected) - mean_left
        cap = _CAP / (mean_left + slope * (1 - expected))
        for place, stake in enumerate(_STAKES):
            distance = stake * ahead
            share = distance / (mean_left * (1 - mean_left) if self._binary else variance + distance * distance)
            if not out_of_reach:
                self._logs[place] += log1p(min(share, cap) * gain)
        self._note(value, before, left)

    def _slope_and_variance(self) -> tuple[float, float]:
        """How values follow the covariate, and how they vary beside it, in what was read."""
        count = self._read + _PRIOR
        mean_of_past = 1.0 / self._read if self._read else 0.0
        squares = self._xx - self._x * self._x * mean_of_past
        prior = self._line * (1 - self._line)
        if self._covariate is None:
            return 0.0, max((squares + _PRIOR * prior) / count, _LEAST_VARIANCE)
        known = self._covariate.variance
        both = (self._xb - self._x * self._b * mean_of_past + _PRIOR * self._covariate.slope * known) / count
        own = (self._bb - self._b * self._b * mean_of_past + _PRIOR * known) / count
        slope = min(max(both / own, 0.0), _LARGEST_SLOPE) if own > _EXACT else 0.0
        variance = (squares + _PRIOR * min(prior, known)) / count - 2 * slope * both + slope * slope * own
        return slope, max(variance, _LEAST_VARIANCE)

    def _covariate_next(self, left: int) -> tuple[float, float]:
        """The next unit's covariate, and its mean over all units that are left."""
        if self._covariate is None:
            return 0.0, 0.0
        return self._covariate.values[self._read], self._left_of_covariate / left

    def _note(self, value: float, before: float, left: int) -> None:
        x = value - self._line
        self._x += x
        self._xx += x * x
        if self._covariate is not None:
            b = before - self._covariate.mean
            self._b += b
            self._bb += b * b
            self._xb += x * b
            self._left_of_covariate -= before


class MeanDecider:
    """Whether the mean of all values reaches the upper line, or stays down to the lower one; perhaps neither."""

    def __init__(
        self,
        units: int,
        lines: tuple[float, float],
        errors: tuple[float, float],
        *,
        binary: bool,
        covariate: Covariate | None = None,
    ) -> None:
        """`lines`: the lower and the upper; `errors`: of a proof that the mean is at most, and at least, these."""
        (lower, upper), (error_below, error_above) = lines, errors
        mirrored = covariate.mirrored() if covariate else None
        self._above = MeanAtLeast(units, upper, error_above, binary=binary, covariate=covariate)
        self._below = MeanAtLeast(units, 1.0 - lower, error_below, binary=binary, covariate=mirrored)

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


def reliability(shares: Iterable[float], samples: int) -> float:
    """Which part of the variance of the problems' shares is the problems' own, and not the draw's: the slope with which
    new shares follow these."""
    known = list(shares)
    if samples < 2 or len(known) < 2:
        return 0.5
    centre = fsum(known) / len(known)
    variance = fsum((share - centre) ** 2 for share in known) / len(known)
    drawn = fsum(share * (1 - share) for share in known) / len(known) / (samples - 1)
    return min(max(1.0 - drawn / variance, 0.0), 1.0) if variance > _EXACT else 0.5
