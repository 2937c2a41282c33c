"""The beta distribution and Student's t distribution, and the limits of a share that follow from them."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import ceil, exp, floor, isclose, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Any, overload

import numpy

from model_accuracy_eval.records.disk_numbers import DiskNumbers

_TINY = 1e-300
_STEPS = 500
"""Far more than a continued fraction or a bisection needs."""


def normal_quantile(share: float) -> float:
    """
    >>> round(normal_quantile(0.95), 4)
    1.6449
    """
    return NormalDist().inv_cdf(share)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by Lentz's evaluation of its continued fraction.

    >>> round(beta_cdf(0.5, 2, 3), 6)
    0.6875
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1.0 - beta_cdf(1.0 - x, b, a)
    factor = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    ratio = 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1))
    numerator, fraction = 1.0, ratio
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            ratio = 1.0 / _not_zero(1.0 + term * ratio)
            numerator = _not_zero(1.0 + term / numerator)
            fraction *= ratio * numerator
        if isclose(ratio * numerator, 1.0, rel_tol=1e-15):
            break
    return factor * fraction / a


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


@lru_cache(maxsize=4096)
def beta_quantile(share: float, a: float, b: float) -> float:
    """
    >>> round(beta_quantile(0.6875, 2, 3), 6)
    0.5
    """
    return _inverse(lambda x: beta_cdf(x, a, b), share, 0.0, 1.0)


@lru_cache(maxsize=4096)
def t_quantile(share: float, freedom: float) -> float:
    """Of Student's t distribution, for shares of a half or more.

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    if freedom > 1e6:
        return normal_quantile(share)
    # t² / (t² + freedom) is beta distributed.
    square = beta_quantile(2 * share - 1, 0.5, freedom / 2)
    return sqrt(freedom * square / (1.0 - square)) if square < 1.0 else normal_quantile(share)


def _inverse(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where a rising function has the value, by halving."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if function(middle) < value:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def share_limits(right: float, draws: float, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a share, each of them one-sided.

    They hold for draws with unlike chances, too (Hoeffding 1956): no other chances with the same mean make so many
    right ones, or so few, more probable. `right` need not be whole: the limits then are those of the whole numbers
    around it.

    >>> low, high = share_limits(8, 10, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.4931, 0.9632)
    """
    least, most = floor(right + 1e-9), ceil(right - 1e-9)
    low = beta_quantile(1 - confidence, least, draws - least + 1) if least > 0 else 0.0
    high = beta_quantile(confidence, most + 1, draws - most) if most < draws else 1.0
    return low, high


# Sorted numbers of which only some are wanted, such as a median: found without sorting all of them in memory.
#
# The bits of numbers, read as whole numbers, are in their order. So counting by the first bits says in which small part
# the wanted one is, and in the end the part is small enough to be sorted.


IN_MEMORY = 100_000
"""So many numbers are sorted at once."""
_BITS = 16
"""By which they are told apart at a time."""


def ordered(values: DiskNumbers) -> Sequence[float]:
    return sorted(values) if len(values) < IN_MEMORY else _Ordered(values)


class _Ordered(Sequence[float]):
    """What `sorted` would return; each number is looked for when it is asked for."""

    def __init__(self, values: DiskNumbers) -> None:
        self._values = values
        self._counts: dict[tuple[int, int], Any] = {}
        self._sorted: dict[tuple[int, int], Any] = {}

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[float]: ...
    def __getitem__(self, place: int | slice) -> float | Sequence[float]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        left, known, first, count = range(len(self))[place], 0, 0, len(self)
        while known == 0 or (count > IN_MEMORY and known < 64):
            counts = self._counted(known, first)
            totals = numpy.cumsum(counts)
            part = int(numpy.searchsorted(totals, left, side="right"))
            count = int(counts[part])
            left -= int(totals[part]) - count
            known, first = known + _BITS, first << _BITS | part
        if known == 64:  # all that are left are equal
            return float(_numbers(numpy.array([first], dtype="uint64"))[0])
        return float(self._part(known, first)[left])

    def _counted(self, known: int, first: int) -> Any:
        """How many of the numbers that begin with these bits go on with which."""
        if (known, first) not in self._counts:
            counts = numpy.zeros(1 << _BITS, dtype="int64")
            for bits in self._bits():
                those = bits[bits >> numpy.uint64(64 - known) == first] if known else bits
                next_bits = those >> numpy.uint64(64 - known - _BITS) & numpy.uint64((1 << _BITS) - 1)
                counts += numpy.bincount(next_bits.astype("int64"), minlength=1 << _BITS)
            self._counts[known, first] = counts
        return self._counts[known, first]

    def _part(self, known: int, first: int) -> Any:
        """The numbers that begin with these bits, sorted."""
        if (known, first) not in self._sorted:
            shift = numpy.uint64(64 - known)
            parts = [bits[bits >> shift == first] for bits in self._bits()]
            self._sorted[known, first] = _numbers(numpy.sort(numpy.concatenate(parts)))
        return self._sorted[known, first]

    def _bits(self) -> Iterator[Any]:
        """Blocks of the numbers as whole numbers in their order."""
        for block in self._values.blocks():
            bits = numpy.frombuffer(block, dtype="uint64")
            yield bits ^ numpy.where(bits >= _HALF, numpy.uint64(_ALL), numpy.uint64(_HALF))


_HALF, _ALL = 1 << 63, (1 << 64) - 1
"""Numbers below zero have the first bit, and the others rise as they fall."""


def _numbers(bits: Any) -> Any:
    """The numbers again."""
    return (bits ^ numpy.where(bits >= _HALF, numpy.uint64(_HALF), numpy.uint64(_ALL))).view("float64")
