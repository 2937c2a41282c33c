"""Problems that share a passage or the like: what intervals, standard errors and gates over problems make of them."""

from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.unit.scoring.judged_tasks import counted, pipe, problem, said, task

from model_accuracy_eval.records import (
    Certainty,
    Counts,
    DatasetResult,
    Difference,
    Gate,
    Grouping,
    Sharing,
    SummaryRow,
)
from model_accuracy_eval.report import figures
from model_accuracy_eval.scoring.figures import intervals, notes
from model_accuracy_eval.scoring.figures.intervals import interval
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import comparison_statistics, gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule

OVER_PROBLEMS = GateRule("problems")


def names(clusters: int, each: int) -> list[str]:
    return [f"passage {at}" for at in range(clusters) for _ in range(each)]


def rows_of(right: list[list[int]], n: int, *, all_equal: bool = False, cluster: str = "passage") -> list[SummaryRow]:
    """Of passages, each with its problems' numbers of right samples, by way of replies and verdicts."""
    card = Scorecard(task(pipe("exact"), cluster=cluster), n, (n,))
    for at, passage in enumerate(right):
        for question, c in enumerate(passage):
            asked = problem(100 * at + question, "a", cluster=f"passage {at}" if cluster else "")
            card.judge(asked, said(*["a"] * c, *["b"] * (n - c)))
    return list(card.rows("0ba9da", all_equal=all_equal))


def row_named(rows: list[SummaryRow], name: str) -> SummaryRow:
    return next(row for row in rows if row.metric == name)


def gate(threshold: float, metric: str = "avg@5") -> Gate:
    return Gate(dataset="demo", metric=metric, comparison=">=", threshold=threshold)


@given(st.lists(st.integers(0, 5).map(lambda c: c / 5), min_size=2, max_size=40))
def test_clusters_of_one_are_problems(values: list[float]) -> None:
    """To the digit, named or not."""
    alone = [str(at) for at in range(len(values))]
    assert interval(values, 5, alone) == pytest.approx(interval(values, 5)) or interval(values, 5) is None
    assert intervals.stderr(values, alone) == pytest.approx(intervals.stderr(values))


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=40), st.integers(2, 10))
def test_questions_that_say_the_same_count_once(values: list[float], copies: int) -> None:
    """However often a passage's question is asked again in other words: neither the interval nor the standard error
    changes."""
    many = [value for value in values for _ in range(copies)]
    once, often = interval(values), interval(many, 1, names(len(values), copies))
    assert once is not None
    assert often is not None
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert intervals.stderr(many, names(len(values), copies)) == pytest.approx(intervals.stderr(values), abs=1e-12)


def test_a_bootstrap_draws_whole_clusters() -> None:
    """Its error of a mean is that of the formula, with clusters of several sizes."""
    random = np.random.default_rng(3)
    sizes = random.integers(1, 8, 60)
    clusters = [str(at) for at, size in enumerate(sizes) for _ in range(size)]
    values = np.repeat(random.random(60), sizes) * 0.8 + 0.2 * random.random(len(clusters))

    def means(drawn: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(values[drawn].mean(axis=1))

    by_formula = intervals.stderr(values.tolist(), clusters)
    assert intervals.bootstrap(means, len(values), 1000, clusters) == pytest.approx(by_formula, rel=0.15)
    assert intervals.bootstrap(means, len(values), 1000) == pytest.approx(intervals.stderr(values.tolist()), rel=0.1)


@pytest.mark.parametrize(
    ("count", "each", "mean", "icc", "n"), [(50, 4, 0.7, 0.8, 1), (50, 4, 0.7, 0.3, 5), (20, 10, 0.9, 0.3, 5)]
)
def test_gates_over_problems_are_seldom_wrong_on_the_line(
    count: int, each: int, mean: float, icc: float, n: int
) -> None:
    """With the problems as the unit, 12 to 24 of 100 runs were wrong; by the passages' variance alone, 9 where there are
    few passages and nearly all is right."""
    random = np.random.default_rng(20261123)
    spread, clusters, runs = (1 - icc) / icc, names(count, each), 2000
    passages = np.clip(random.beta(mean * spread, (1 - mean) * spread, (runs, count, 1)), 1e-6, 1 - 1e-6)
    shares = random.binomial(n, random.beta(passages, 1 - passages, (runs, count, each))) / n
    below = above = 0
    for values in shares.reshape(runs, count * each).tolist():
        case = intervals.case(values, [intervals.Noise(None, 0, 1)] * len(values), n, clusters)
        sharing = Sharing(clusters=count, independent=count)
        known = Certainty(problems=200, samples=n, draws=200, worst=case, best=case, sharing=sharing)
        limits = intervals.limits(known, "problems", 0.95)
        below += limits.low > 100 * mean + 1e-9
        above += limits.high < 100 * mean - 1e-9
    assert max(below, above) / runs <= 0.06


def test_reports_name_what_problems_share() -> None:
    """In the note, and in the sentence of a gate on other problems."""
    rows = rows_of([[5, 4, 5, 5], [0, 1, 0, 2]] * 25, 5)
    (note,) = notes.of_clusters(rows)
    assert note.startswith("The 200 problems share 50 passages: intervals and gates over problems count these")
    decided = gates.result(gate(60), row_named(rows, "avg@5"), None, OVER_PROBLEMS)
    assert "on problems of the kind (50 passages) (95 %)" in decided.sentence
    assert "passages with as many problems each; more problems about these 50 passages help little." in decided.sentence
    assert not [*notes.of_clusters(rows_of([[5, 4], [0, 1]], 5, cluster=""))]


def test_asking_the_same_passages_again_is_not_about_other_ones() -> None:
    """Limits of reruns do not widen: these problems are asked again, whatever they share."""
    right = [[5, 4, 5, 5], [0, 1, 0, 2]] * 25
    shared, alone = (row_named(rows_of(right, 5, cluster=name), "avg@5") for name in ("passage", ""))
    assert shared.certainty is not None
    assert alone.certainty is not None
    assert intervals.limits(shared.certainty, "reruns", 0.95) == intervals.limits(alone.certainty, "reruns", 0.95)
    wide, narrow = (intervals.limits(row.certainty, "problems", 0.95) for row in (shared, alone) if row.certainty)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert (shared.stderr or 0) > 1.5 * (alone.stderr or 0)


def test_a_problem_in_several_languages_is_one() -> None:
    """The mean of five languages is known no better than one of them where all answer the same problems alike."""
    spec = task(pipe("exact"), cluster="index", grouping=Grouping(by="category", weight_by_size=False))
    card = Scorecard(spec, 1, (1,))
    for at, (number, language) in enumerate(product(range(40), "abcde")):
        asked = problem(at, "a", cluster=f"problem {number}", category=language)
        card.judge(asked, said("a" if number % 3 else "b"))
    found = {row.metric: row for row in card.rows("0ba9da")}
    limits = {
        name: intervals.limits(row.certainty, "problems", 0.95)
        for name, row in found.items()
        if row.certainty is not None
    }
    mean, one = limits["exact, mean over category"], limits["exact[a]"]
    assert (mean.low, mean.high) == pytest.approx((one.low, one.high))


def side(right: list[list[int]], n: int = 1, *, clusters: bool = True) -> DatasetResult:
    """One run's result, of passages with their problems' numbers of right samples."""
    problems = [
        counted(10 * at + place, n, c, cluster=f"passage {at}" if clusters else "")
        for at, passage in enumerate(right)
        for place, c in enumerate(passage)
    ]
    rows = tuple(rows_of(right, n))
    return DatasetResult(dataset="demo", version="0ba9da", rows=rows, problem_results=tuple(problems), counts=Counts())


def change(old: DatasetResult, new: DatasetResult) -> Difference:
    return comparison_statistics.compare(old, new).differences[0]


def test_passages_that_flip_whole_are_one_change_each() -> None:
    """Five of 50 passages fall with all their questions: that is as uncertain as five of 50 questions."""
    before, after = [[1] * 4] * 50, [[0] * 4] * 5 + [[1] * 4] * 45
    whole = change(side(before), side(after))
    single = change(side([passage[:1] for passage in before]), side([passage[:1] for passage in after]))
    assert whole.interval is not None
    assert single.interval is not None
    assert whole.points == single.points == pytest.approx(-10)
    assert whole.interval.high - whole.interval.low == pytest.approx(
        single.interval.high - single.interval.low, rel=0.1
    )
    alone = change(side(before, clusters=False), side(after, clusters=False))
    assert alone.interval is not None
    assert alone.interval.high < whole.interval.high
    notes = comparison_statistics.compare(side(before, clusters=False), side(after)).notes
    assert notes == ("The 200 problems share 50 clusters (passages, pictures or the like): intervals count these.",)


def test_changes_of_passages_are_seldom_wrong() -> None:
    """Two runs without a difference, whose passages go up and down as a whole: 2,000 pairs."""
    random = np.random.default_rng(5)
    wrong, clusters = 0, names(50, 4)
    for _ in range(2000):
        differences = np.repeat(random.choice([-1.0, 0.0, 1.0], 50, p=[0.15, 0.7, 0.15]), 4)
        low, high = comparison_statistics.paired_interval(differences.tolist(), clusters)
        wrong += not low <= 0 <= high
    assert wrong / 2000 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 2000)


# A service that repeats itself.


def test_a_service_that_repeats_itself_is_asked_once() -> None:
    """n counts as 1: limits are those of one sample, what asking again would give is unknown, and more samples are not
    advised."""
    right = [[5], [5], [0]] * 20
    rows = rows_of(right, 5, all_equal=True, cluster="")
    one = rows_of([[c // 5 for c in passage] for passage in right], 1, cluster="")[0]
    row = row_named(rows, "avg@5")
    assert row.certainty is not None
    assert one.certainty is not None
    assert row.interval == one.interval
    assert intervals.limits(row.certainty, "reruns", 0.95) == intervals.limits(one.certainty, "reruns", 0.95)
    assert figures.if_asked_again(row) == "unknown"
    assert figures.if_asked_again(one) != "unknown"
    decided = gates.result(gate(66), row, None, GateRule())
    assert "by one sample of each problem (95 %)" in decided.sentence
    assert "if asked again" not in decided.sentence
    assert "All 5 samples of every problem are the same, so they count as one, and more of them" in decided.sentence
    assert "problems × 1 sample." in decided.sentence
