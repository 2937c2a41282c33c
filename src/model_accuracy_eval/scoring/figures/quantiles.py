"""The normal, the beta and Student's t distribution, and the limits of a share that follow from them."""

from functools import cache
from math import ceil, exp, floor, isclose, lgamma, log, log1p, sqrt
from statistics import NormalDist

_TINY = 1e-300
_STEPS = 500
"""Far more than a continued fraction or a bisection needs."""


normal_quantile = NormalDist().inv_cdf


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


@cache
def beta_quantile(share: float, a: float, b: float) -> float:
    """
    >>> round(beta_quantile(0.6875, 2, 3), 6)
    0.5
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if beta_cdf(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@cache
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
