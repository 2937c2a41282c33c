"""Our distribution functions against SciPy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from model_accuracy_eval.scoring.figures import intervals

PARAMETERS = st.floats(0.5, 20_000)


@given(st.floats(0, 1), PARAMETERS, PARAMETERS)
def test_the_beta_distribution(x: float, a: float, b: float) -> None:
    assert intervals.beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-9)


@given(st.floats(0.001, 0.999), st.floats(1, 20_000), st.floats(1, 20_000))
def test_quantiles_of_the_beta_distribution(share: float, a: float, b: float) -> None:
    assert intervals.beta_quantile(share, a, b) == pytest.approx(stats.beta.ppf(share, a, b), abs=1e-9)


@given(st.floats(0.5, 0.9999), st.floats(0.9, 1e7))
def test_quantiles_of_students_distribution(share: float, freedom: float) -> None:
    expected = stats.t.ppf(share, freedom)
    assert intervals.t_quantile(share, freedom) == pytest.approx(expected, rel=1e-5, abs=1e-5)


@given(st.integers(1, 20_000), st.floats(0, 1), st.sampled_from([0.9, 0.95, 0.975, 0.999]))
def test_the_limits_of_a_share_are_clopper_and_pearsons(draws: int, share: float, confidence: float) -> None:
    """The exact binomial test's, both one-sided; where right samples are counted in parts, those of the whole numbers
    around them."""
    right = round(share * draws)
    low, high = intervals.share_limits(right, draws, confidence)
    test = stats.binomtest(right, draws)
    expected = test.proportion_ci(2 * confidence - 1, method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    inner = intervals.share_limits(min(right + 0.5, draws), draws, confidence)
    assert inner[0] == pytest.approx(low, abs=1e-9)
    assert inner[1] >= high - 1e-9
