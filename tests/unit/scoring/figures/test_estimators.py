"""pass@k, cons@k and avg@n of one problem: properties first, then the worked examples of the definitions."""

from fractions import Fraction
from itertools import combinations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.scoring.figures.reductions import avg_at_n, cons_at_k, pass_at_k

ESTIMATORS = (pass_at_k, cons_at_k)


@st.composite
def problems(draw: st.DrawFn, most: int = 200) -> tuple[int, int, int]:
    """(n, c, k) with 1 ≤ k ≤ n and 0 ≤ c ≤ n."""
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(problems())
def test_of_one_try_all_three_are_the_share(problem: tuple[int, int, int]) -> None:
    """pass@1 = cons@1 = avg@n = c/n."""
    n, c, _ = problem
    assert pass_at_k(n, c, 1) == pytest.approx(c / n, abs=1e-12)
    assert cons_at_k(n, c, 1) == avg_at_n(n, c) == c / n


@given(problems())
def test_pass_equals_the_product_form(problem: tuple[int, int, int]) -> None:
    """1 − Π(1 − k/j) for j from n−c+1 to n, with the value 1 where fewer than k samples are wrong."""
    n, c, k = problem
    product = prod((1 - Fraction(k, j) for j in range(n - c + 1, n + 1)), start=Fraction(1))
    exact = Fraction(1) if n - c < k else 1 - product
    assert pass_at_k(n, c, k) == pytest.approx(float(exact), abs=1e-12)


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


def test_an_average_of_nothing_is_refused() -> None:
    """avg@n of no samples, and of more correct samples than there are, has no answer either."""
    with pytest.raises(BadValue, match="n = 0"):
        avg_at_n(0, 0)
    with pytest.raises(BadValue, match="c = 4"):
        avg_at_n(3, 4)


def test_a_thousand_samples_do_not_overflow() -> None:
    """The product form needs no factorials."""
    assert pass_at_k(100_000, 50_000, 10) == pytest.approx(1 - 0.5**10, rel=1e-3)
    assert cons_at_k(2_001, 1_001, 2_001) == 1.0
