"""pass@k, cons@k and avg@n of one problem: n samples, c of them correct.

Every function refuses input without an answer (n < 1, k < 1, k > n, c outside 0..n): the usual short formula of
pass@k returns 1.0 there, which turns missing samples into perfect scores.
"""

from functools import lru_cache
from math import comb

from model_accuracy_eval.errors import BadValue


@lru_cache(maxsize=4096)
def pass_at_k(n: int, c: int, k: int) -> float:
    """Probability that at least one of k samples, drawn from the n without replacement, is correct.

    1 − Π_{j=n−c+1..n}(1 − k/j), equal to 1 − C(n−c, k)/C(n, k), without factorials that overflow.

    In [0, 1]; rises with k and with c; `pass_at_k(n, c, 1)` is c/n; 1 when fewer than k samples are wrong.

    >>> round(pass_at_k(5, 3, 2), 12)
    0.9
    """
    _check(n, c, k)
    if n - c < k:
        return 1.0
    all_wrong = 1.0
    for j in range(n - c + 1, n + 1):
        all_wrong *= 1.0 - k / j
    return 1.0 - all_wrong


@lru_cache(maxsize=4096)
def cons_at_k(n: int, c: int, k: int) -> float:
    """Probability that a strict majority of k samples, drawn from the n without replacement, is correct.

    At k = n there is one way to draw, and the value is 1 if c > k/2, else 0. For k < n it is the
    exact expectation over all k-subsets, Σ_{j>k/2} C(c, j)·C(n−c, k−j) / C(n, k).

    In [0, 1]; rises with c; never above pass@k of the same k.

    >>> cons_at_k(3, 2, 3), cons_at_k(3, 1, 3)
    (1.0, 0.0)
    """
    _check(n, c, k)
    majorities = sum(comb(c, j) * comb(n - c, k - j) for j in range(k // 2 + 1, min(c, k) + 1))
    return majorities / comb(n, k)


def avg_at_n(n: int, c: int) -> float:
    """Share of the n samples that are correct, c/n: equal to pass@1.

    >>> avg_at_n(5, 3)
    0.6
    """
    _check(n, c, 1)
    return c / n


def _check(n: int, c: int, k: int) -> None:
    if n < 1:
        raise BadValue(f"A problem needs at least 1 sample to be scored, but it has n = {n}.")
    if not 0 <= c <= n:
        raise BadValue(f"The number of correct samples must lie in 0..{n}, but c = {c}.")
    if not 1 <= k <= n:
        raise BadValue(f"k must lie in 1..n, but k = {k} and n = {n}.")
