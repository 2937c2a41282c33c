"""Which problems fell and which only flip, with scipy's exact test as the oracle."""

import numpy
import pytest
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from model_accuracy_eval.scoring.verdicts.regressions import _fisher, fallen, flaky

Floats = NDArray[numpy.float64]


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
