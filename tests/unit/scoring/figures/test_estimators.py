"""pass@k, cons@k and avg@n of one problem: properties first, then the worked examples of the definitions."""

from collections.abc import Sequence
from itertools import combinations
from math import exp, inf, log, sqrt
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.aggregations import AGGREGATIONS, aggregation
from model_accuracy_eval.scoring.figures.reductions import REDUCTIONS, cons_at_k, pass_at_k, reduction, reduction_ends
from model_accuracy_eval.scoring.metrics.metric_type import LostValue

ESTIMATORS = (pass_at_k, cons_at_k)


@st.composite
def problems(draw: st.DrawFn, most: int = 200) -> tuple[int, int, int]:
    """(n, c, k) with 1 ≤ k ≤ n and 0 ≤ c ≤ n."""
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(problems(most=9))
def test_both_equal_the_count_over_all_draws(problem: tuple[int, int, int]) -> None:
    """For k < n too, each estimator is its share of all k-subsets, counted one by one."""
    n, c, k = problem
    draws = [sum(draw) for draw in combinations([1] * c + [0] * (n - c), k)]
    assert cons_at_k(n, c, k) == pytest.approx(sum(right > k / 2 for right in draws) / len(draws))
    assert pass_at_k(n, c, k) == pytest.approx(sum(right > 0 for right in draws) / len(draws))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("n", "c", "k", "sentence"),
    [
        (0, 0, 1, "at least 1 sample"),
        (-1, 0, 1, "n = -1"),
        (5, 3, 0, "k = 0 and n = 5"),
        (5, 3, 6, "k = 6 and n = 5"),
        (5, 3, -1, "k = -1"),
        (5, -1, 2, "c = -1"),
        (5, 6, 2, "0..5, but c = 6"),
    ],
)
def test_what_has_no_answer_is_refused(estimator: object, n: int, c: int, k: int, sentence: str) -> None:
    """No samples, k outside 1..n and c outside 0..n get a sentence with the numbers, never a 1.0."""
    assert callable(estimator)
    with pytest.raises(BadValue, match=sentence):
        estimator(n, c, k)


def test_a_thousand_samples_do_not_overflow() -> None:
    """The product form needs no factorials."""
    assert pass_at_k(100_000, 50_000, 10) == pytest.approx(1 - 0.5**10, rel=1e-3)
    assert cons_at_k(2_001, 1_001, 2_001) == 1.0


PAIRS = [(1, 1), (0, 0), (1, 0), (0, 0), (1, 1)]
SENTENCES = [
    (("the cat sat on the mat",), "the cat is on the mat", ""),
    (("there is a dog in the park",), "a dog is in the park", ""),
]


def figure(name: str, values: Sequence[Any]) -> float | None:
    return aggregation(name).over_runs([(value,) for value in values])


def stderr(name: str, values: Sequence[Any]) -> float | None:
    return aggregation(name).stderr([(value,) for value in values])


def test_l19_aggregations_of_the_harness() -> None:
    """Its own figures."""
    assert figure("median", [1, 2, 3, 4]) == 3
    assert figure("perplexity", [-1, -2, -3]) == pytest.approx(7.389056, abs=1e-6)
    assert figure("weighted_perplexity", [(-10, 4), (-5, 2)]) == pytest.approx(12.182494, abs=1e-6)
    assert figure("bits_per_byte", [(-10, 4), (-5, 2)]) == pytest.approx(3.606738, abs=1e-6)
    assert figure("nanmean", [1.0, float("nan")]) == 1.0


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_l27_two_options_by_the_textbook(pairs: list[tuple[int, int]]) -> None:
    """From the four cells of the table."""
    tp, fp = pairs.count((1, 1)), pairs.count((0, 1))
    fn, tn = pairs.count((1, 0)), pairs.count((0, 0))
    assert figure("f1", pairs) == pytest.approx(2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0)
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    assert figure("matthews_corrcoef", pairs) == pytest.approx((tp * tn - fp * fn) / sqrt(spread) if spread else 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_l27_many_options_correlate_like_their_indicators(pairs: list[tuple[int, int]]) -> None:
    """Gorodkin's coefficient is the correlation of the indicator matrices, summed over the options."""
    golds, saids = (np.eye(5)[[pair[place] for pair in pairs]] for place in (0, 1))
    golds, saids = golds - golds.mean(axis=0), saids - saids.mean(axis=0)
    spread = sqrt((golds**2).sum() * (saids**2).sum())
    expected = (golds * saids).sum() / spread if spread > 1e-9 else 0
    assert figure("matthews_corrcoef", pairs) == pytest.approx(expected, abs=1e-9)


LINES = st.lists(st.sampled_from(["the", "cat", "dog", "sat", "on", "a", "mat", "."]), min_size=1, max_size=8).map(
    " ".join
)


@given(st.lists(st.tuples(st.tuples(LINES, LINES), LINES), min_size=1, max_size=5))
def test_l28_statistics_add_up_to_the_librarys_own_figure(pairs: list[tuple[tuple[str, str], str]]) -> None:
    """For any corpus with two right answers a sentence."""
    import sacrebleu  # noqa: PLC0415 - it is heavy, and only this test compares with it

    said, right = [one for _, one in pairs], list(zip(*(both for both, _ in pairs), strict=True))
    values = [(both, one, "") for both, one in pairs]
    assert figure("bleu", values) == pytest.approx(sacrebleu.corpus_bleu(said, right).score)
    assert figure("chrf", values) == pytest.approx(sacrebleu.corpus_chrf(said, right).score)
    assert figure("chrf++", values) == pytest.approx(sacrebleu.corpus_chrf(said, right, word_order=2).score)
    assert figure("ter", values) == pytest.approx(sacrebleu.corpus_ter(said, right).score)


def test_l28_sentences_may_have_different_numbers_of_right_answers() -> None:
    """The harness would stop there."""
    assert figure("bleu", [(("a b c d e", "x"), "a b c d e", ""), (("f g h i j",), "f g h i j", "")]) == pytest.approx(
        100
    )


def test_l34_standard_errors_of_the_harness() -> None:
    """By formula for means, else by its bootstrap, seeds included."""
    assert stderr("mean", [1, 0, 1, 1, 0]) == pytest.approx(0.244949, abs=1e-6)
    assert stderr("median", [1, 2, 3, 4, 5, 6, 7]) == pytest.approx(1.260154, abs=1e-6)
    assert stderr("perplexity", [-1, -2, -3]) == pytest.approx(3.899588, abs=1e-6)
    assert stderr("matthews_corrcoef", PAIRS) == pytest.approx(0.347172, abs=1e-6)
    assert stderr("bleu", SENTENCES) == pytest.approx(1.273990, abs=1e-6)


def test_l34_chunks_of_a_thousand_draws_have_their_own_seeds() -> None:
    """1,500 draws are one chunk, and 2,000 are two."""
    values = [1.0, 2.0, 4.0, 8.0]

    def drawn(chunks: int) -> list[float]:
        found = []
        for chunk in range(chunks):
            chance = Random(chunk)
            found += [max(chance.choices(values, k=4)) for _ in range(1000)]
        return found

    def greatest(places: Any) -> Any:
        return np.array(values)[places].max(axis=1)

    assert intervals.bootstrap(greatest, 4, 1500) == pytest.approx(np.std(drawn(1), ddof=1), rel=1e-12)
    assert intervals.bootstrap(greatest, 4, 2000) == pytest.approx(np.std(drawn(2), ddof=1), rel=1e-12)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_l34_the_error_of_a_mean_is_the_textbooks(values: list[float]) -> None:
    """Sample deviation by the root of the number."""
    assert stderr("mean", values) == pytest.approx(np.std(values, ddof=1) / sqrt(len(values)), abs=1e-12)


def test_l34_of_one_value_nothing_can_be_said() -> None:
    """Neither by formula nor by bootstrap; of none there is no figure either."""
    assert [stderr(name, [1.0]) for name in ("mean", "median")] == [None, None]
    assert [figure(name, []) for name in ("mean", "median", "perplexity", "f1", "bleu")] == [None] * 5


def test_runs_are_aggregated_one_by_one() -> None:
    """Two runs of a figure of the whole dataset: the mean of both; a problem that a run lacks is left out."""
    row = aggregation("weighted_perplexity")
    runs = [((-log(2), 1), (-log(4), 1)), ((-log(2), 1), (-log(4), 1)), (None, (-9.0, 1))]
    assert row.over_runs(runs) == pytest.approx(3)
    assert row.stderr(runs) == pytest.approx(0, abs=1e-9)


def test_what_a_number_cannot_hold_is_unknown() -> None:
    """A perplexity beyond all numbers is no infinity in the report."""
    assert figure("perplexity", [-1e6]) is None
    assert figure("perplexity", [-log(exp(5))]) == pytest.approx(exp(5))


def test_an_unknown_aggregation_is_answered_with_the_nearest() -> None:
    """Every row of the table takes what its kind of metric gives."""
    with pytest.raises(UnknownName, match="no aggregation called 'meen'; did you mean mean"):
        aggregation("meen")
    assert all(AGGREGATIONS[name].over_runs([(0.5,), (0.25,)]) is not None for name in ("mean", "sum", "max", "min"))


def test_a_bootstrap_of_many_problems_is_drawn_in_batches() -> None:
    """Beyond half a million values at once the draws are the same as those that Python's own generator makes."""
    chance = Random(0)
    values = [chance.gauss(0, 1) for _ in range(1700)]
    redraw = Random(0)
    medians = [sorted(redraw.choices(values, k=1700))[850] for _ in range(1000)]
    assert stderr("median", values) == pytest.approx(np.std(medians, ddof=1), rel=1e-12)


def test_a_text_of_no_bytes_has_no_figure() -> None:
    """Nothing is divided by 0: the figure is unknown."""
    assert [figure(name, [(-1.0, 0)]) for name in ("weighted_perplexity", "bits_per_byte", "pooled")] == [None] * 3


def test_f1_counts_labels_of_any_kind() -> None:
    """Texts as well as numbers; 0 and 1 alone are wrong and right, as soon as another label occurs all are averaged."""
    assert figure("f1", [("b", "b"), ("a", "b"), ("a", "a")]) == pytest.approx(2 / 3)
    assert figure("f1", [(1, 1), (0, 1), (0, 0)]) == pytest.approx(2 / 3)
    assert figure("f1", [(2, 2), (0, 1), (1, 1)]) == pytest.approx((1 + 2 / 3 + 0) / 3)


@given(
    st.sampled_from([*REDUCTIONS, "pass@2", "cons_at_1"]),
    st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.booleans()), min_size=2, max_size=5),
    st.booleans(),
)
def test_no_value_of_a_lost_sample_leaves_the_ends(name: str, samples: list[tuple[float, bool]], wide: bool) -> None:
    """And what counts right and wrong stays between none and all, whatever is known of the lost ones."""
    unknown = LostValue(-inf, inf) if wide else LostValue(0.0, 1.0)
    ends = reduction_ends(name, [unknown if lost else value for value, lost in samples], [2])
    reduced = reduction(name)([value for value, _ in samples], [2])
    assert ends.keys() == reduced.keys()
    assert all(low <= reduced[key] <= high for key, (low, high) in ends.items())
    if "@" in name or "_at_" in name:
        assert all(0 <= low <= high <= 1 for low, high in ends.values())


@pytest.mark.parametrize(
    ("values", "ends"),
    [([1.0, 1.0, 1.0], (1.0, 1.0)), ([1.0, 0.0, 0.0, 0.0], (0.0, 0.0)), ([0.0, 1.0], (0.0, 1.0))],
)
def test_a_majority_is_certain_unless_the_lost_sample_turns_it(values: list[float], ends: tuple[float, float]) -> None:
    assert reduction_ends("majority", [*values, LostValue(0.0, 1.0)], []) == {"": ends}
