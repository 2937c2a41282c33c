"""What guessing would give, against every sequence of letters that a guesser may write."""

from itertools import product
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.scoring.judged_tasks import pipe, problem, said, task

from model_accuracy_eval.records import MetricUse, Pipeline, Problem, Step
from model_accuracy_eval.scoring.figures.groups import chance_of_right, expected
from model_accuracy_eval.scoring.figures.reductions import BEST_SHOWN, REDUCTIONS, reduction
from model_accuracy_eval.scoring.figures.scorecard import Scorecard

PLAIN = Pipeline(metrics=(MetricUse(name="exact_match"),))


@pytest.mark.parametrize("name", sorted(set(REDUCTIONS) - {BEST_SHOWN}))
@given(st.integers(1, 6), st.integers(2, 5), st.data())
def test_every_reduction_of_every_sequence_of_guesses(name: str, n: int, options: int, data: st.DataObject) -> None:
    """The mean over all equally likely sequences; the first option is right. Ties as the reduction breaks them."""
    n = min(n, 4) if options > 3 else n
    k = data.draw(st.integers(1, n))
    sequences = [[float(letter == 0) for letter in letters] for letters in product(range(options), repeat=n)]
    results = [reduction(name)(sequence, (k,)) for sequence in sequences]
    means = {key: fsum(result[key] for result in results) / len(results) for key in results[0]}
    assert expected(name, 1 / options, n, (k,)) == pytest.approx(means)


def test_the_levels_of_four_options_and_five_samples() -> None:
    """25, 76.27 and 10.35 per cent."""
    found = expected("runs", 0.25, 5, (5,))
    assert found is not None
    shown = {name: round(100 * value, 2) for name, value in found.items()}
    assert shown == {"": 25.0, "avg@5": 25.0, "pass@5": 76.27, "cons@5": 10.35}


def test_rules_that_are_not_known_have_no_level() -> None:
    """Neither a user's own reduction nor the choice by shown tests."""
    assert expected("best_shown", 0.25, 5, ()) is None
    assert expected("module:function", 0.25, 5, ()) is None


@pytest.mark.parametrize(
    ("asked", "chance"),
    [
        (problem(0, "B", choices=("w", "x", "y", "z")), 0.25),
        (problem(0, "(B)", choices=("w", "x", "y")), 1 / 3),
        (problem(0, "x", choices=("w", "x", "y", "z")), 0.25),
        (problem(0, "x", choices=("w", "x", "y", "z"), gold=(1,)), 0.25),
        (problem(0, "x", choices=("w", "x", "y", "z"), gold=(1, 3)), 0.5),
        (problem(0, "BD", choices=("w", "x", "y", "z")), None),
        (problem(0, "42"), None),
        (problem(0, "w", choices=("w",)), None),
    ],
)
def test_one_guess_is_right_as_often_as_there_are_right_options(asked: Problem, chance: float | None) -> None:
    """Several letters at once are no pick of one option, and without options there is nothing to guess from."""
    assert chance_of_right(asked, PLAIN, 5) == chance


def test_votes_before_judging_have_no_level() -> None:
    """The winner of a vote is right more or less often than a single guess; one sample votes for itself."""
    vote = Pipeline(filters=(Step(name="majority_vote"),), metrics=PLAIN.metrics)
    asked = problem(0, "B", choices=("x", "y"))
    assert (chance_of_right(asked, vote, 5), chance_of_right(asked, vote, 1)) == (None, 0.5)


def test_each_problem_counts_by_its_own_options() -> None:
    """Two and four of them: the mean, as in the figures; one problem without options, and there is no level."""
    card = Scorecard(task(pipe("exact_match"), baseline=0.25), 5, (5,))
    card.judge(problem(0, "A", choices=("x", "y")), said(*"ABABA"))
    card.judge(problem(1, "A", choices=("w", "x", "y", "z")), said(*"ABABA"))
    levels = {row.metric: row.chance for row in card.rows("0ba9da")}
    by_two, by_four = (expected("runs", 1 / options, 5, (5,)) or {} for options in (2, 4))
    assert levels["pass@5"] == pytest.approx(50 * (by_two["pass@5"] + by_four["pass@5"]))
    assert levels["cons@5"] == pytest.approx(50 * (by_two["cons@5"] + by_four["cons@5"]))
    assert levels["centred exact_match (5 runs average)"] == pytest.approx((37.5 - 25) / 0.75)
    card.judge(problem(2, "A"), said(*"ABABA"))
    assert {row.chance for row in card.rows("0ba9da")} == {None}
