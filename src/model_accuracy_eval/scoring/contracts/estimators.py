"""Of n samples of a problem, c right: what k of them would say; and how samples and problems become one figure."""

from math import exp, log
from typing import Any

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.scoring.aggregations import aggregation
from model_accuracy_eval.scoring.contracts.contract import Case, Contract
from model_accuracy_eval.scoring.estimators import avg_at_n, cons_at_k, pass_at_k
from model_accuracy_eval.scoring.reductions import reduction
from model_accuracy_eval.scoring.stats import interval


def _estimate(estimator: Any, expected: Any, n: int, c: int, *k: int) -> Case:
    given = f"n = {n}, c = {c}" + (f", k = {k[0]}" if k else "")
    return Case(given=given, run=lambda: estimator(n, c, *k), expected=expected)


def _reduce(name: str, values: list[float], k: tuple[int, ...], expected: Any) -> Case:
    return Case(given=f"{values} with k {k}", run=lambda: reduction(name)(values, k), expected=expected)


def _aggregate(name: str, values: list[Any], expected: Any) -> Case:
    def run() -> float | None:
        return aggregation(name).over_runs([(value,) for value in values])

    return Case(given=f"{values}", run=run, expected=expected)


def _scatter(name: str, values: list[Any], expected: Any) -> Case:
    def run() -> float | None:
        return aggregation(name).stderr([(value,) for value in values])

    return Case(given=f"the standard error of {values}", run=run, expected=expected)


def _interval(values: list[float]) -> tuple[float, float] | None:
    found = interval(values)
    return None if found is None else (round(found.low, 3), found.high)


def _reduction(name: str, rule: str, example: Case, falsification: Case) -> Contract:
    wrong = f"Figures that reduce by {name} are wrong wherever a problem has several samples."
    return Contract(id=f"reduction {name}", rule=rule, example=example, falsification=falsification, if_fails=wrong)


def _aggregation(name: str, rule: str, example: Case, falsification: Case) -> Contract:
    wrong = f"Every figure that aggregates by {name} is wrong, and so is every gate on it."
    return Contract(id=f"aggregation {name}", rule=rule, example=example, falsification=falsification, if_fails=wrong)


PAIRS = [(1, 1), (0, 0), (1, 0), (0, 0), (1, 1)]

CONTRACTS = (
    Contract(
        id="estimator pass@k",
        rule="1 − C(n−c, k) / C(n, k); k > n has no answer",
        example=_estimate(pass_at_k, 0.9, 5, 3, 2),
        falsification=_estimate(pass_at_k, BadValue, 3, 0, 5),
        if_fails="Missing samples may turn into perfect scores.",
    ),
    Contract(
        id="estimator cons@k",
        rule="a strict majority of k samples is right",
        example=_estimate(cons_at_k, 1.0, 3, 2, 3),
        falsification=_estimate(cons_at_k, 0.0, 4, 2, 4),
        if_fails="Ties count as agreement.",
    ),
    Contract(
        id="estimator avg@n",
        rule="c / n, which is pass@1",
        example=_estimate(avg_at_n, 0.6, 5, 3),
        falsification=_estimate(avg_at_n, BadValue, 0, 0),
        if_fails="The plain accuracy of every dataset is wrong.",
    ),
    _reduction(
        "runs",
        "average, avg@n, pass@k and cons@k of right-or-wrong samples",
        _reduce("runs", [1.0], (1,), {"": 1.0}),
        _reduce("runs", [1.0, 0.0, 0.0], (3,), {"": 1 / 3, "avg@3": 1 / 3, "pass@3": 1.0, "cons@3": 0.0}),
    ),
    _reduction(
        "pass@k",
        "the estimator over the samples of one problem",
        _reduce("pass@k", [1.0, 0.0, 0.0, 1.0, 0.0], (1, 3), {"pass@1": 0.4, "pass@3": 0.9}),
        _reduce("pass@k", [0.5, 1.0], (1,), BadValue),
    ),
    _reduction(
        "take_first",
        "the first sample alone",
        _reduce("take_first", [1.0, 0.0], (), {"": 1.0}),
        _reduce("take_first", [0.0, 1.0, 1.0], (), {"": 0.0}),
    ),
    _reduction(
        "majority",
        "the most frequent value, of equally frequent ones the earliest",
        _reduce("majority", [0.0, 1.0, 1.0], (), {"": 1.0}),
        _reduce("majority", [0.0, 1.0], (), {"": 0.0}),
    ),
    _aggregation(
        "mean", "sum by number", _aggregate("mean", [1.0, 0.0], 0.5), _scatter("mean", [1, 0, 1, 1, 0], 0.244949)
    ),
    _aggregation(
        "median",
        "the upper one of the two middle values",
        _aggregate("median", [1, 2, 3, 4], 3.0),
        _scatter("median", [1, 2, 3, 4, 5, 6, 7], 1.260154),
    ),
    _aggregation(
        "nanmean",
        "the mean of what is a number",
        _aggregate("nanmean", [1.0, float("nan"), 2.0], 1.5),
        _aggregate("nanmean", [float("nan")], None),
    ),
    _aggregation(
        "perplexity",
        "exp of the mean negative logarithm",
        _aggregate("perplexity", [-1, -2, -3], exp(2)),
        _scatter("perplexity", [-1, -2, -3], 3.899588),
    ),
    _aggregation(
        "weighted_perplexity",
        "exp of the negative logarithm per piece of all texts together, not the mean of the texts' own",
        _aggregate("weighted_perplexity", [(-10, 4), (-5, 2)], 12.182494),
        _aggregate("weighted_perplexity", [(-10, 1), (-1, 9)], exp(1.1)),
    ),
    _aggregation(
        "bits_per_byte",
        "negative binary logarithm per byte of all texts together",
        _aggregate("bits_per_byte", [(-10, 4), (-5, 2)], 3.606738),
        _aggregate("bits_per_byte", [(-log(2), 1), (-3 * log(2), 1)], 2.0),
    ),
    _aggregation(
        "pooled",
        "share of all pieces of all problems together, not the mean of the problems' own shares",
        _aggregate("pooled", [(1, 1), (0, 3)], 0.25),
        _scatter("pooled", [(1, 1), (0, 3), (2, 2), (1, 2)], 0.23775),
    ),
    _aggregation(
        "f1",
        "harmonic mean of precision and recall of option 1",
        _aggregate("f1", PAIRS, 0.8),
        _aggregate("f1", [(0, 0)], 0.0),
    ),
    _aggregation(
        "matthews_corrcoef",
        "correlation of right and chosen options",
        _aggregate("matthews_corrcoef", PAIRS, 0.666667),
        _scatter("matthews_corrcoef", PAIRS, 0.347172),
    ),
    Contract(
        id="interval",
        rule="Wilson's: inside 0..100, and no point where all is right",
        example=Case(given="20 of 20 right", run=lambda: _interval([1.0] * 20), expected=(83.887, 100.0)),
        falsification=Case(given="one problem", run=lambda: _interval([1.0]), expected=None),
        if_fails="Gates decide where they should be undecided.",
    ),
)
