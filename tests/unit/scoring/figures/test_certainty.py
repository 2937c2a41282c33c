"""The limits of figures hold as often as they say: simulated services whose chances are known, asked many times."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from model_accuracy_eval.records import Certainty
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

CONFIDENCE = 0.95
RUNS = 400
SPARE = 3 * sqrt(0.05 * 0.95 / RUNS)
"""Three standard errors of the share of wrong limits, where 5 of 100 are wrong."""


def certainty_of(correct: list[int], n: int, key: str = "") -> Certainty:
    """Of problems with so many right samples each."""
    kind, _, k = key.partition("@")
    value = {"pass": pass_at_k, "cons": cons_at_k}.get(kind)
    values = [value(n, c, int(k)) if value else c / n for c in correct]
    noises = [intervals.noise("runs", key, [1.0] * c + [0.0] * (n - c)) for c in correct]
    case = intervals.case(values, noises, n)
    draws = sum(noise.draws for noise in noises)
    return Certainty(problems=len(correct), samples=n, draws=draws, worst=case, best=case)


Worlds = dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]]
WORLDS: Worlds = {
    "easy and hard": lambda random, size: random.beta(0.7, 0.3, size),
    "alike": lambda random, size: random.beta(6.3, 2.7, size),
    "nearly certain": lambda random, size: np.full(size, 0.98),
    "known or not": lambda random, size: np.where(random.random(size) < 0.7, 0.999, 0.001),
    "few that vary": lambda random, size: np.where(random.random(size) < 0.05, 0.5, 1.0),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("problems", "n"), [(5, 2), (30, 5), (200, 1), (200, 5)])
def test_a_figure_asked_again_is_beyond_a_limit_as_rarely_as_promised(world: str, problems: int, n: int) -> None:
    """Whatever the problems are like; with the variance of few problems alone, 82 of 100 limits were wrong."""
    random = np.random.default_rng(7)
    chances = WORLDS[world](random, problems)
    truth = 100 * chances.mean()
    runs = [
        intervals.limits(certainty_of(c.tolist(), n), "reruns", CONFIDENCE)
        for c in random.binomial(n, chances, (RUNS, problems))
    ]
    assert np.mean([limits.low > truth + 1e-9 for limits in runs]) <= 0.05 + SPARE
    assert np.mean([limits.high < truth - 1e-9 for limits in runs]) <= 0.05 + SPARE


@pytest.mark.parametrize("key", ["pass@5", "cons@5", "pass@2", "cons@3"])
@pytest.mark.parametrize("world", ["easy and hard", "alike"])
def test_so_are_pass_and_cons(world: str, key: str) -> None:
    """Where all samples of a problem make one draw, and where they make several."""
    random = np.random.default_rng(8)
    chances = WORLDS[world](random, 150)
    kind, _, k = key.partition("@")
    estimate = {"pass": pass_at_k, "cons": cons_at_k}[kind]
    counts = random.binomial(5, chances, (RUNS, 150))
    many = random.binomial(5, chances, (4000, 150))
    truth = 100 * np.mean([[estimate(5, int(c), int(k)) for c in range(6)]], axis=0)[many].mean()
    runs = [intervals.limits(certainty_of(c.tolist(), 5, key), "reruns", CONFIDENCE) for c in counts]
    assert np.mean([limits.low > truth + 0.05 for limits in runs]) <= 0.05 + SPARE
    assert np.mean([limits.high < truth - 0.05 for limits in runs]) <= 0.05 + SPARE


@pytest.mark.parametrize("problems", [5, 20, 200])
def test_limits_over_problems_hold_for_other_problems(problems: int) -> None:
    """At small sizes as well: by the normal distribution, 91 of 100 intervals held what they promised 95 of."""
    random = np.random.default_rng(9)
    below = above = 0
    for _ in range(RUNS):
        counts = random.binomial(5, random.beta(6.3, 2.7, problems))
        limits = intervals.limits(certainty_of(counts.tolist(), 5), "problems", CONFIDENCE)
        below += limits.low > 70
        above += limits.high < 70
    assert max(below, above) / RUNS <= 0.05 + SPARE


@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=60), st.sampled_from(["reruns", "problems"]), st.floats(0.6, 0.99)
)
def test_limits_hold_their_figure_and_widen_with_confidence(correct: list[int], over: str, confidence: float) -> None:
    found = certainty_of(correct, 5)
    narrow, wide = (intervals.limits(found, over, each) for each in (confidence, confidence + 0.009))  # type: ignore[arg-type]
    figure = 100 * sum(correct) / len(correct) / 5
    assert -1e-9 <= wide.low <= narrow.low <= figure + 1e-9
    assert figure - 1e-9 <= narrow.high <= wide.high <= 100 + 1e-9


@given(st.integers(2, 9), st.data())
def test_the_noise_of_a_mean_is_that_of_its_samples(n: int, data: st.DataObject) -> None:
    """The unbiased estimate: over all draws, its mean is the variance p(1−p)/n."""
    c = data.draw(st.integers(0, n))
    found = intervals.noise("runs", "avg@9", [1.0] * c + [0.0] * (n - c))
    assert (found.freedom, found.draws) == (n - 1, n)
    assert found.variance == pytest.approx(c * (n - c) / n**2 / (n - 1))


def test_groups_are_known_as_well_as_their_members() -> None:
    """Two halves of one dataset are known as well as the whole."""
    random = np.random.default_rng(10)
    counts = random.binomial(5, random.beta(0.7, 0.3, 400)).tolist()
    whole = intervals.limits(certainty_of(counts, 5), "reruns", CONFIDENCE)
    halves = intervals.combined([certainty_of(counts[:200], 5), certainty_of(counts[200:], 5)], [200, 200])
    assert halves is not None
    found = intervals.limits(halves, "reruns", CONFIDENCE)
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), abs=0.05)
    assert intervals.combined([halves, None], [1, 1]) is None


def test_a_group_of_perfect_figures_is_not_known_for_certain() -> None:
    """As little as one of them is."""
    part = certainty_of([5] * 10, 5)
    combined = intervals.combined([part, part], [1, 1])
    assert combined is not None
    assert 90 < intervals.limits(combined, "reruns", CONFIDENCE).low < 99.5
