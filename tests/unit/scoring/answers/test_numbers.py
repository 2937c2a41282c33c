"""Figures of the systems whose tasks are imported, from counts: each comes from the system itself or from a calculation by hand."""

import pytest

from model_accuracy_eval.scoring.figures.reductions import avg_at_n, pass_at_k


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (10, 5, 1, 0.5),
        (10, 5, 10, 1.0),
        (20, 10, 10, 0.999995),
        (5, 3, 2, 0.9),
        (100, 20, 10, 0.904884),
        (10, 3, 2, 8 / 15),
        (10, 0, 1, 0.0),
        (10, 10, 1, 1.0),
    ],
)
def test_a1_pass_at_k_of_counts(n: int, c: int, k: int, value: float) -> None:
    """What apr-leaderboard computes in logarithms, the product gives too."""
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("k", "value"), [(1, 0.2), (2, 0.377778), (10, 1.0)])
def test_u19_pass_at_k_of_two_in_ten(k: int, value: float) -> None:
    """UltraEval's own figures for one instance."""
    assert pass_at_k(10, 2, k) == pytest.approx(value, abs=1e-6)


def test_a14_half_of_one_problem_in_two() -> None:
    """Ten samples of two problems, five of the first right: pass@1 is 25 %, and so is the average."""
    counts = [5, 0]
    assert sum(pass_at_k(10, c, 1) for c in counts) / 2 == pytest.approx(0.25)
    assert sum(avg_at_n(10, c) for c in counts) / 2 == pytest.approx(0.25)


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_n8_any_right_sample_solves_a_problem(n: int) -> None:
    """nanochat's any(outcomes) is pass@n, for every number of right samples."""
    assert [pass_at_k(n, c, n) for c in range(n + 1)] == [float(any([True] * c)) for c in range(n + 1)]
