"""Means over problems and their intervals: honest at the edges, and true to their 95 %."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import sem
from scipy.stats import t as student

from model_accuracy_eval.records import CaseCertainty, Certainty, Interval
from model_accuracy_eval.scoring.figures import intervals, quantiles
from model_accuracy_eval.scoring.figures.intervals import interval, mean, quantile
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k


def t95(problems: int) -> float:
    return float(student.ppf(0.975, problems - 1))


def shares(n: int, least: int = 2) -> st.SearchStrategy[list[float]]:
    return st.lists(st.integers(0, n).map(lambda c: c / n), min_size=least, max_size=60)


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """The closed formula, as textbooks have it."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return 100 * (centre - half), 100 * (centre + half)


def of(values: list[float], n: int = 1) -> Interval:
    found = interval(values, n)
    assert found is not None
    return found


@given(shares(5))
def test_an_interval_lies_within_the_scale_and_holds_its_mean(values: list[float]) -> None:
    """Never below 0, never above 100, and the figure it belongs to is inside."""
    figure = mean(values)
    assert figure is not None
    found = of(values, 5)
    assert 0 <= found.low <= 100 * figure + 1e-9
    assert 100 * figure - 1e-9 <= found.high <= 100


@given(shares(1))
def test_right_or_wrong_gives_wilson_with_students_quantile(values: list[float]) -> None:
    """For values of 0 and 1 it is Wilson's interval of one coin flip less, to the digit."""
    low, high = wilson(sum(values) / len(values), len(values) - 1, t95(len(values)))
    assert of(values).low == pytest.approx(max(0.0, low), abs=1e-9)
    assert of(values).high == pytest.approx(min(100.0, high), abs=1e-9)


@given(
    st.lists(st.integers(0, 5).map(lambda c: c / 5), min_size=2, max_size=60).filter(lambda each: len(set(each)) > 1)
)
def test_averages_have_as_many_flips_as_their_standard_error_says(values: list[float]) -> None:
    """By SciPy's standard error of the mean, which divides by one less."""
    p = sum(values) / len(values)
    flips = min(p * (1 - p) / float(sem(values)) ** 2, 5 * len(values))
    low, high = wilson(p, flips, t95(len(values)))
    assert of(values, 5).low == pytest.approx(max(0.0, low), abs=1e-6)
    assert of(values, 5).high == pytest.approx(min(100.0, high), abs=1e-6)


@pytest.mark.parametrize("values", [[], [0.0], [1.0], [0.4]])
def test_fewer_than_two_problems_say_nothing_about_a_spread(values: list[float]) -> None:
    """No interval is better than one made of a single problem."""
    assert interval(values, 5) is None


COVERAGE = [
    # problems, mean of the problems' difficulty, how alike its samples are (correlation within a problem)
    pytest.param(problems, p, rho, id=f"N={problems}, p={p}, rho={rho}")
    for problems in (5, 20, 50, 200)
    for p, rho in [(0.5, 0.1), (0.5, 0.5), (0.8, 0.3), (0.3, 0.7), (0.9, 0.5)]
]


@pytest.mark.parametrize(("problems", "p", "rho"), COVERAGE)
def test_intervals_cover_the_truth_about_as_often_as_they_say(problems: int, p: float, rho: float) -> None:
    """Of 2,000 evaluations with 5 samples a problem, 92 % or more of the intervals of avg@5 hold the true rate; of few problems
    rather more than less."""
    covered = coverage(problems, p, rho)
    assert 0.92 <= covered <= (1 if problems < 50 else 0.985), f"{covered:.4f}"


def coverage(problems: int, p: float, rho: float, draws: int = 2000, n: int = 5) -> float:
    """Beta-binomial problems: each has its own chance of being solved, drawn anew in every evaluation."""
    rng = np.random.default_rng(20260326)
    spread = (1 - rho) / rho
    chances = rng.beta(p * spread, (1 - p) * spread, size=(draws, problems))
    shares = rng.binomial(n, chances) / n
    found = [of(values, n) for values in shares.tolist()]
    return sum(each.low <= 100 * p <= each.high for each in found) / draws


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values: list[float], share: float) -> None:
    """Linear interpolation between the closest ranks."""
    assert quantile(sorted(values), share) == pytest.approx(float(np.quantile(values, share)), rel=1e-9, abs=1e-6)


@given(st.floats(0.5, 0.9999), st.floats(0.9, 1e7))
def test_quantiles_of_students_distribution(share: float, freedom: float) -> None:
    expected = stats.t.ppf(share, freedom)
    assert quantiles.t_quantile(share, freedom) == pytest.approx(expected, rel=1e-5, abs=1e-5)


@given(st.integers(1, 20_000), st.floats(0, 1), st.sampled_from([0.9, 0.95, 0.975, 0.999]))
def test_the_limits_of_a_share_are_clopper_and_pearsons(draws: int, share: float, confidence: float) -> None:
    """The exact binomial test's, both one-sided; where right samples are counted in parts, those of the whole numbers
    around them."""
    right = round(share * draws)
    low, high = quantiles.share_limits(right, draws, confidence)
    test = stats.binomtest(right, draws)
    expected = test.proportion_ci(2 * confidence - 1, method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    inner = quantiles.share_limits(min(right + 0.5, draws), draws, confidence)
    assert inner[0] == pytest.approx(low, abs=1e-9)
    assert inner[1] >= high - 1e-9


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


@given(st.floats(0, 1), st.floats(0, 0.1), st.integers(1, 500), st.integers(1, 2000), st.floats(0.6, 0.99))
def test_limits_of_reruns_are_students_and_half_a_draw(
    mean: float, variance: float, freedom: int, draws: int, confidence: float
) -> None:
    """No wider: half a draw is the step from one possible figure to the middle of the next."""
    case = CaseCertainty(mean=mean, rerun_variance=variance, freedom=freedom, flips=draws)
    certainty = Certainty(problems=draws, samples=1, draws=draws, worst=case, best=case)
    low, high = stats.t.interval(2 * confidence - 1, freedom, mean, max(sqrt(variance), 1e-30))
    found = intervals.limits(certainty, "reruns", confidence)
    assert found.low == pytest.approx(100 * max(0.0, low - 0.5 / draws), abs=1e-3)
    assert found.high == pytest.approx(100 * min(1.0, high + 0.5 / draws), abs=1e-3)


@given(st.integers(2, 9), st.data())
def test_the_noise_of_a_mean_is_that_of_its_samples(n: int, data: st.DataObject) -> None:
    """The unbiased estimate: over all draws, its mean is the variance p(1−p)/n."""
    c = data.draw(st.integers(0, n))
    found = intervals.noise("runs", "avg@9", [1.0] * c + [0.0] * (n - c))
    assert (found.freedom, found.draws) == (n - 1, n)
    assert found.variance == pytest.approx(c * (n - c) / n**2 / (n - 1))


@pytest.mark.parametrize("right", range(5))
@pytest.mark.parametrize(("key", "estimate"), [("pass@2", pass_at_k), ("cons@3", cons_at_k)])
def test_estimates_vary_as_without_one_sample_after_the_other(
    key: str, estimate: Callable[[int, int, int], float], right: int
) -> None:
    """Efron and Stein's jackknife, by leaving out."""
    samples = [1.0] * right + [0.0] * (4 - right)
    found = intervals.noise("pass@k", key, samples)
    without = [estimate(3, int(sum(samples[:at] + samples[at + 1 :])), int(key[-1])) for at in range(4)]
    assert found.variance == pytest.approx(3 / 4 * sum((each - np.mean(without)) ** 2 for each in without))
    assert (found.freedom, found.draws) == (3, 1)


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


@given(st.lists(st.tuples(st.floats(0.5, 2), st.floats(-50, 50), st.integers(1, 9)), min_size=1, max_size=4))
def test_a_group_of_centred_figures_is_centred_as_they_are(parts: list[tuple[float, float, int]]) -> None:
    """By the weighted means of their factors and offsets."""
    factors, offsets, weights = zip(*parts, strict=True)
    known = [replace(certainty_of([1, 4], 5), factor=100 * factor, offset=offset) for factor, offset, _ in parts]
    found = intervals.combined(known, weights)
    assert found is not None
    assert found.factor == pytest.approx(100 * np.average(factors, weights=weights))
    assert found.offset == pytest.approx(np.average(offsets, weights=weights), abs=1e-9)


def test_a_group_of_perfect_figures_is_not_known_for_certain() -> None:
    """As little as one of them is."""
    part = certainty_of([5] * 10, 5)
    combined = intervals.combined([part, part], [1, 1])
    assert combined is not None
    assert 90 < intervals.limits(combined, "reruns", CONFIDENCE).low < 99.5


def test_a_group_is_as_free_as_its_least_known_member() -> None:
    """Satterthwaite's freedom, by hand: of a figure whose samples say how it varies, and of one whose draws are coins."""
    coins = intervals.case([0.5, 0.5], [intervals.Noise(None, 0, 25)] * 2, 25)
    assert (coins.rerun_variance, coins.freedom) == (None, 0.0)
    told = replace(coins, rerun_variance=0.001, freedom=10.0)
    parts = [
        Certainty(problems=2, samples=25, draws=50, worst=case, best=case, factor=100.0, offset=0.0)
        for case in (told, coins)
    ]
    combined = intervals.combined(parts, [1, 1])
    assert combined is not None
    shares = 0.001 / 4, 0.25 / 50 / 4
    assert combined.worst.rerun_variance == pytest.approx(sum(shares))
    assert combined.worst.freedom == pytest.approx(sum(shares) ** 2 / (shares[0] ** 2 / 10 + shares[1] ** 2 / 50))
    assert (combined.draws, combined.problems, combined.samples) == (100, 4, 25)
