"""Contracts of estimators, reductions and aggregations: how samples and problems become one figure."""

from math import exp, log
from typing import Any

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.scoring.contracts.contract import Case, CaseValues, Contract
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.aggregations import aggregation
from model_accuracy_eval.scoring.figures.intervals import interval
from model_accuracy_eval.scoring.figures.reductions import avg_at_n, cons_at_k, pass_at_k, reduction


def _estimator_case(estimator: Any, expected: Any, n: int, c: int, *k: int) -> Case:
    text = f"n = {n}, c = {c}" + (f", k = {k[0]}" if k else "")
    return Case(input=text, run=lambda: estimator(n, c, *k), expected=expected)


def _reduction_case(name: str, values: list[float], k: tuple[int, ...], expected: Any) -> Case:
    return Case(input=f"{values} with k {k}", run=lambda: reduction(name)(values, k), expected=expected)


def _aggregation_case(name: str, values: list[Any], expected: Any, what: str = "figure") -> Case:
    """`what`: the figure, or its standard error."""

    def run() -> float | None:
        problems = [(value,) for value in values]
        row = aggregation(name)
        return row.over_runs(problems) if what == "figure" else row.stderr(problems)

    return Case(input=f"{values}" if what == "figure" else f"the {what} of {values}", run=run, expected=expected)


def _chance_case(options: int, n: int, expected: dict[str, float]) -> Case:
    return Case(
        input=f"{n} guesses of {options} options",
        run=lambda: groups.expected("runs", 1 / options, n, (n,)),
        expected=expected,
    )


def _interval_case(text: str, values: list[float], expected: tuple[float, float] | None) -> Case:
    def run() -> tuple[float, float] | None:
        limits = interval(values)
        return None if limits is None else (round(limits.low, 3), limits.high)

    return Case(input=text, run=run, expected=expected)


def _reduction(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    cases = _reduction_case(name, *example), _reduction_case(name, *falsification)
    return Contract(f"reduction {name}", rule, *cases)


def _aggregation(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    cases = _aggregation_case(name, *example), _aggregation_case(name, *falsification)
    return Contract(f"aggregation {name}", rule, *cases)


_PAIRS = [(1, 1), (0, 0), (1, 0), (0, 0), (1, 1)]
_STDERR = "standard error"

# fmt: off
CONTRACTS = (
    Contract("estimator pass@k", "1 − C(n−c, k) / C(n, k); k > n has no answer",
             _estimator_case(pass_at_k, 0.9, 5, 3, 2), _estimator_case(pass_at_k, BadValue, 3, 0, 5)),
    Contract("estimator cons@k", "a strict majority of k samples is right",
             _estimator_case(cons_at_k, 1.0, 3, 2, 3), _estimator_case(cons_at_k, 0.0, 4, 2, 4)),
    Contract("estimator avg@n", "c / n, which is pass@1",
             _estimator_case(avg_at_n, 0.6, 5, 3), _estimator_case(avg_at_n, BadValue, 0, 0)),
    _reduction("runs", "average, avg@n, pass@k and cons@k of right-or-wrong samples", ([1.0], (1,), {"": 1.0}),
               ([1.0, 0.0, 0.0], (3,), {"": 1 / 3, "avg@3": 1 / 3, "pass@3": 1.0, "cons@3": 0.0})),
    _reduction("pass@k", "the estimator over the samples of one problem",
               ([1.0, 0.0, 0.0, 1.0, 0.0], (1, 3), {"pass@1": 0.4, "pass@3": 0.9}), ([0.5, 1.0], (1,), BadValue)),
    _reduction("take_first", "the first sample alone", ([1.0, 0.0], (), {"": 1.0}), ([0.0, 1.0, 1.0], (), {"": 0.0})),
    _reduction("majority", "the most frequent value, of equally frequent ones the earliest",
               ([0.0, 1.0, 1.0], (), {"": 1.0}), ([0.0, 1.0], (), {"": 0.0})),
    _aggregation("mean", "sum by number", ([1.0, 0.0], 0.5), ([1, 0, 1, 1, 0], 0.244949, _STDERR)),
    _aggregation("median", "the upper one of the two middle values",
                 ([1, 2, 3, 4], 3.0), ([1, 2, 3, 4, 5, 6, 7], 1.260154, _STDERR)),
    _aggregation("nanmean", "the mean of what is a number", ([1.0, float("nan"), 2.0], 1.5), ([float("nan")], None)),
    _aggregation("perplexity", "exp of the mean negative log-likelihood",
                 ([-1, -2, -3], exp(2)), ([-1, -2, -3], 3.899588, _STDERR)),
    _aggregation("weighted_perplexity",
                 "exp of the negative log-likelihood per unit of all texts together, not the mean of the texts' own",
                 ([(-10, 4), (-5, 2)], 12.182494), ([(-10, 1), (-1, 9)], exp(1.1))),
    _aggregation("bits_per_byte", "negative binary logarithm per byte of all texts together",
                 ([(-10, 4), (-5, 2)], 3.606738), ([(-log(2), 1), (-3 * log(2), 1)], 2.0)),
    _aggregation("pooled", "share of all items of all problems together, not the mean of the problems' own shares",
                 ([(1, 1), (0, 3)], 0.25), ([(1, 1), (0, 3), (2, 2), (1, 2)], 0.23775, _STDERR)),
    _aggregation("whole_groups", "share of the groups whose rows are all right; a group that lacks some does not count",
                 ([(1, "a", 2), (1, "a", 2), (1, "b", 2), (0, "b", 2), (1, "c", 3)], 0.5),
                 ([(1, "a", 1), (0, "b", 1), (1, "c", 2), (1, "c", 2)], 1 / 3, _STDERR)),
    _aggregation("f1", "harmonic mean of precision and recall of option 1", (_PAIRS, 0.8), ([(0, 0)], 0.0)),
    _aggregation("matthews_corrcoef", "correlation of right and chosen options",
                 (_PAIRS, 0.666667), (_PAIRS, 0.347172, _STDERR)),
    Contract("chance levels", "the expectation over all equally likely sequences of guesses",
             _chance_case(4, 5, {"": 0.25, "avg@5": 0.25, "pass@5": 1 - 0.75**5, "cons@5": 0.103515625}),
             _chance_case(2, 2, {"": 0.5, "avg@2": 0.5, "pass@2": 0.75, "cons@2": 0.25})),
    Contract("interval", "Wilson's with Student's quantile: inside 0..100, and no point where all is right",
             _interval_case("20 of 20 right", [1.0] * 20, (81.263, 100.0)), _interval_case("one problem", [1.0], None)),
)
# fmt: on
