"""The rule that notices a fall: quiet histories stay quiet, a fall is noticed and located, what comes back is mended."""

import numpy
import pytest
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from model_accuracy_eval.scoring.verdicts.comparison_statistics import paired_interval
from model_accuracy_eval.scoring.verdicts.regressions import (
    _fisher,
    _noise,
    fallen,
    flaky,
    paired_change,
    trend,
)

Floats = NDArray[numpy.float64]


def simulated(seed: int, runs: int, fall_at: int, points: float, problems: int = 1319) -> list[Floats]:
    """Runs of one sample a problem, of chances around 70 %; from `fall_at` on they are lower."""
    generator = numpy.random.default_rng(seed)
    chances = generator.beta(0.7, 0.3, problems)
    lower = chances * (1 - points / 70)
    return [generator.binomial(1, chances if run < fall_at else lower).astype(float) for run in range(runs)]


def test_a_fall_of_two_points_is_noticed_soon_and_quiet_runs_seldom_alarm() -> None:
    """The simulated shares: 2 to 4 % false alarms in fourteen quiet runs, 98 % found, the median after three runs."""
    alarms = [trend(simulated(seed, 40, 15, 2.0)).regressions for seed in range(60)]
    first = [found[0].noticed for found in alarms if found]
    assert sum(place < 15 for place in first) <= 6
    assert sum(place >= 15 for place in first) >= 54
    assert numpy.median([place - 14 for place in first if place >= 15]) <= 5
    quiet = [trend(simulated(seed, 18, 99, 0.0)).regressions for seed in range(100, 160)]
    assert sum(map(bool, quiet)) <= 6


def test_the_fall_is_placed_where_it_was_with_its_size() -> None:
    """At the likeliest place mostly, and among the possible ones but for one fall of twenty; so with the size."""
    falls = [
        fall for seed in range(60) for fall in trend(simulated(seed, 16, 12, 4.0)).regressions if fall.noticed > 11
    ]
    assert len(falls) >= 57
    assert sum(fall.first == 12 for fall in falls) >= 40
    assert sum(fall.split.earliest < 12 <= fall.split.latest + 1 for fall in falls) >= 0.95 * len(falls)
    assert sum(fall.split.interval.low < -4.0 < fall.split.interval.high for fall in falls) >= 0.95 * len(falls)


@pytest.mark.parametrize("before", [1, 3, 5])
def test_a_fall_from_all_to_none_is_seen_at_once(before: int) -> None:
    """From the second run on, between the right two, by 100 points; what follows changes nothing."""
    for after in (1, 4):
        (fall,) = trend([numpy.ones(60)] * before + [numpy.zeros(60)] * after).regressions
        assert (fall.split.after, fall.split.earliest, fall.split.latest, fall.noticed) == (*[before - 1] * 3, before)
        assert (fall.split.points, fall.split.interval.low) == (-100.0, -100.0)
        assert fall.split.interval.high < -85


def test_what_comes_back_is_mended_and_a_second_fall_is_another_one() -> None:
    """Down, up to the old level, down again."""
    parts = [simulated(3, 12, 0, 0.0), simulated(3, 8, 0, 8.0), simulated(3, 12, 0, 0.0), simulated(3, 8, 0, 8.0)]
    first, second = trend([run for part in parts for run in part]).regressions
    assert (first.first, first.mended) == (12, 20)
    assert (second.first, second.mended) == (32, None)


def test_half_of_the_way_back_is_not_mended() -> None:
    """A rise that stays below the old level leaves the regression standing."""
    parts = [simulated(3, 12, 0, 0.0), simulated(3, 12, 0, 12.0), simulated(3, 12, 0, 6.0)]
    (fall,) = trend([run for part in parts for run in part]).regressions
    assert fall.mended is None


def test_two_falls_end_with_one_rise_above_both() -> None:
    """No regression stands for ever because a later one was the newest when the figure came back."""
    parts = [simulated(3, 12, 0, 0.0), simulated(3, 10, 0, 8.0), simulated(3, 10, 0, 16.0), simulated(3, 16, 0, 0.0)]
    falls = trend([run for part in parts for run in part]).regressions
    assert len(falls) == 2
    assert all(fall.mended is not None for fall in falls)


def test_a_change_is_that_of_a_comparison() -> None:
    """The mean and the interval of `compare`, over the problems that both have."""
    before, after = numpy.array([1.0, 1, 0, 0.4, 1, 1]), numpy.array([0.0, 1, 1, 0.2, numpy.nan, 0])
    change = paired_change(before, after)
    low, high = paired_interval([-1.0, 0, 1, -0.2, -1])
    assert (change.interval.low, change.interval.high) == pytest.approx((100 * low, 100 * high))


def test_the_sum_is_what_lies_below_half_of_both_errors() -> None:
    """The reference lacks the last three runs; the error of one of four runs is half of a run's."""
    quiet, bad = numpy.tile([1.0, 0.0], 300), numpy.tile([1.0, 0.0, 0.0, 0.0], 150)
    z = paired_change(quiet, bad).z
    assert trend([quiet, bad]).sums[1] == pytest.approx(-z - 0.5 - 0.5)
    assert trend([quiet] * 7 + [bad]).sums[7] == pytest.approx(-z - 0.5 - 0.25)
    assert trend([quiet] * 12 + [bad]).sums[12] == pytest.approx(-z - 0.5 - 0.5 / 3)


@pytest.mark.parametrize("lengths", [(4, 3), (1, 6), (1, 1)])
def test_the_noise_is_the_pooled_variance_of_a_runs_figure(lengths: tuple[int, int]) -> None:
    """In points, of the sum over 40 problems and one coin more; two runs alone have only that."""
    generator = numpy.random.default_rng(2)
    sides = [generator.binomial(1, 0.6, (length, 40)).astype(float) for length in lengths]
    squares = sum(side.var(axis=0).sum() * len(side) for side in sides)
    assert _noise(*map(list, sides)) == pytest.approx((squares / max(sum(lengths) - 2, 1) + 1) * 2.5**2)


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_fall_than_is_shown_is_noticed_at_once(seed: int) -> None:
    """And a smaller one is not, but for the noise of its run."""
    shows = trend(simulated(seed, 12, 99, 0.0)).shows
    assert shows is not None
    assert not trend(simulated(seed, 12, 11, 0.7 * shows)).regressions
    assert [fall.noticed for fall in trend(simulated(seed, 12, 11, 1.6 * shows)).regressions] == [11]


def test_unknown_values_are_left_out_of_the_pair() -> None:
    """A problem that lost its samples says nothing; if all did, nothing changed."""
    before, after = numpy.ones(200), numpy.ones(200)
    after[:50] = numpy.nan
    assert paired_change(before, after).mean == 0.0
    runs = [before] * 6 + [numpy.full(200, numpy.nan)] * 6
    assert trend(runs).regressions == []


@pytest.mark.parametrize("problems", [1, 2, 5])
def test_a_few_problems_give_no_alarm_at_once(problems: int) -> None:
    """One bad night over five problems is no proof; without the two pseudo problems its z would be infinite."""
    runs = [numpy.ones(problems)] * 8 + [numpy.zeros(problems)]
    assert trend(runs).regressions == []


def rows(*texts: str) -> list[Floats]:
    """A character is a problem, a text is a run: 1 solved, 0 not, ? unknown."""
    return [numpy.array([{"1": 1.0, "0": 0.0, "?": numpy.nan}[mark] for mark in text]) for text in texts]


@pytest.mark.parametrize("margins", [(8, 8, 0, 3), (5, 9, 1, 7), (30, 30, 29, 30), (0, 4, 3, 3), (12, 27, 2, 9)])
def test_the_chance_is_fishers(margins: tuple[int, int, int, int]) -> None:
    """Solved and asked before, solved and asked after; one-sided."""
    solved, asked, after, asked_after = margins
    table = [[after, asked_after - after], [solved, asked - solved]]
    assert _fisher(*margins) == pytest.approx(fisher_exact(table, alternative="less").pvalue)


def test_only_what_fell_for_good_is_named() -> None:
    """Always and never solved problems, coins, and those that became better are not."""
    before = rows("11010", "11000", "11010", "11000", "11010", "11000", "11010", "11000")
    after = rows("10011", "10001", "10011", "10001")
    assert fallen(before, after) == [1]


def test_coins_are_rarely_named() -> None:
    """Of a thousand problems that flip at random, next to none falls surely."""
    generator = numpy.random.default_rng(1)
    runs = [generator.binomial(1, 0.5, 1000).astype(float) for _ in range(14)]
    assert len(fallen(runs[:10], runs[10:])) <= 1


def test_unknown_verdicts_count_for_neither_side() -> None:
    """A problem whose samples were lost after the change cannot have fallen."""
    before = rows(*["11"] * 10)
    assert fallen(before, rows("0?", "0?", "0?")) == [0]
    assert fallen(before, rows("??", "??", "??")) == []


def test_the_most_unsteady_comes_first() -> None:
    """One change that stays is no flipping; what is named elsewhere is left out."""
    runs = rows("1111?", "10110", "11010", "1011?", "11101")
    assert [tuple(each) for each in flaky(runs)] == [(1, 4), (2, 2)]
    assert [each.place for each in flaky(runs, without=[1])] == [2]
    assert flaky([]) == []
    assert flaky(rows("???", "???")) == []
