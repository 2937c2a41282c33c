"""The values of one problem's samples → one value, or several named values.

`runs` is what AISBench prints: the average, and for right-or-wrong values avg@n, pass@k and cons@k too.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import comb, inf, isnan
from statistics import median, mode

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_type import LostValue, fill

# pass@k, cons@k and avg@n of one problem: n samples, c of them correct.
#
# Every function refuses input without an answer (n < 1, k < 1, k > n, c outside 0..n): the usual short formula of
# pass@k returns 1.0 there, which turns missing samples into perfect scores.


@cache
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


@cache
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


ESTIMATORS = {"pass": pass_at_k, "cons": cons_at_k}


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


Reduced = dict[str, float]
"""Name → value; the empty name stands for the metric's own name."""
Reduction = Callable[[Sequence[float], Sequence[int]], Reduced]


def _alone(pick: Callable[[Sequence[float]], float]) -> Reduction:
    return lambda values, k: {"": float(pick(values))}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _correct(values: Sequence[float]) -> int:
    others = [value for value in values if value not in (0.0, 1.0)]
    if others:
        raise BadValue(f"pass@k, cons@k and avg@n count right and wrong samples, but a sample is {others[0]:g}.")
    return int(sum(values))


def _estimated(kind: str) -> Reduction:
    def estimates(values: Sequence[float], k: Sequence[int]) -> Reduced:
        n, c = len(values), _correct(values)
        return {f"{kind}@{size}": ESTIMATORS[kind](n, c, size) for size in k or (n,)}

    return estimates


_pass, _cons = _estimated("pass"), _estimated("cons")


def _avg(values: Sequence[float], k: Sequence[int]) -> Reduced:
    return {f"avg@{len(values)}": avg_at_n(len(values), _correct(values))}


def _runs(values: Sequence[float], k: Sequence[int]) -> Reduced:
    results = {"": _mean(values)}
    if len(values) > 1:
        results |= _avg(values, k) | _pass(values, k) | _cons(values, k)
    return results


def _best_shown(values: Sequence[float]) -> float:
    """Of the values of `best_of_n`: whether the first sample that passes the shown tests passes the hidden ones too; if
    none passes them, the first sample counts."""
    chosen = next((value for value in values if value >= 2), values[0])
    return chosen % 2


BEST_SHOWN = "best_shown"
"""This one chooses among samples by more than whether they are right."""
REDUCTIONS: dict[str, Reduction] = {
    "runs": _runs,
    "take_first": _alone(lambda values: values[0]),
    "mean": _alone(_mean),
    "median": _alone(median),
    "max": _alone(max),
    "min": _alone(min),
    "majority": _alone(mode),
    "maj": _alone(mode),
    "pass@k": _pass,
    "pass_at_k": _pass,
    "cons@k": _cons,
    "cons_at_k": _cons,
    "avg@n": _avg,
    BEST_SHOWN: _alone(_best_shown),
}
_COUNTING = {"runs", "pass@k", "pass_at_k", "cons@k", "cons_at_k", "avg@n"}
"""These take nothing but right and wrong."""
_SIZED = re.compile(r"(?:pass|cons)(?:@|_at_)(\d+)")


def reduction_ends(name: str, values: Sequence[float | LostValue], k: Sequence[int]) -> dict[str, tuple[float, float]]:
    """The least and the greatest of each reduced value while some of a problem's values are lost.

    All reductions but three kinds rise with every value. Of a majority nothing is certain but that it is one of the
    values; of a user's own function, nothing.
    """
    if user_functions.is_path(name):
        return {"": (-inf, inf)}
    if name == BEST_SHOWN:
        results = [_best_shown([float(end) if isinstance(v, LostValue) else v for v in values]) for end in range(4)]
        return {"": (min(results), max(results))}
    lows, highs = fill(values, "low"), fill(values, "high")
    if name in {"majority", "maj"} and not {*lows, *highs} <= {0.0, 1.0}:
        return {"": (min(lows), max(highs))}
    if name in _COUNTING or _SIZED.fullmatch(name):
        lows, highs = ([min(max(value, 0.0), 1.0) for value in end] for end in (lows, highs))
    low, high = reduction(name)(lows, k), reduction(name)(highs, k)
    return {key: (_or(low[key], -inf), _or(high[key], inf)) for key in low}


def _or(value: float, end: float) -> float:
    """A sum of opposite infinities is nothing: then there is no limit."""
    return end if isnan(value) else value


def counts_only(name: str | None) -> bool:
    """Whether of right-or-wrong values only the number of right ones matters; None: the default reduction."""
    return name in {None, "mean"} or name in _COUNTING or bool(_SIZED.fullmatch(name or ""))


def reduction(name: str) -> Reduction:
    """The reduction with this name; `pass@5` is pass@k with k = 5. A path leads to a function of a problem's values."""
    if name in REDUCTIONS:
        return REDUCTIONS[name]
    if sized := _SIZED.fullmatch(name):
        row, size = REDUCTIONS[f"{name[:4]}@k"], int(sized[1])
        return lambda values, k: row(values, [size])
    if user_functions.is_path(name):
        return _alone(user_functions.load(name))
    raise UnknownName("reduction", name, REDUCTIONS)
