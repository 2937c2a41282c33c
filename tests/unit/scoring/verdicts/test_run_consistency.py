"""Problems over several runs: each is solved always, sometimes or never, and the oracle counts what any run solved."""

import random

import numpy

from model_accuracy_eval.scoring.verdicts.regressions import consistency


def test_a18_problems_are_solved_in_every_run_in_some_or_in_none() -> None:
    """Counted problem by problem in the plainest way; heaps add up, and no run alone is better than the oracle."""
    chance = random.Random(18)
    runs = [[chance.choice([0, 0, 1, 1]) for _ in range(60)] for _ in range(3)]
    one = consistency([numpy.array(run, dtype=float) for run in runs])
    columns = list(zip(*runs, strict=True))
    assert one.every == sum(all(column) for column in columns)
    assert one.never == [place for place, column in enumerate(columns) if not any(column)]
    assert one.every + len(one.sometimes) + len(one.never) == one.problems == 60
    assert one.oracle is not None
    assert one.oracle >= 100 * max(map(sum, runs)) / 60


def test_problems_that_one_run_lacks_are_left_out() -> None:
    """And where nothing is left there is no share: nothing is not 0 %."""
    lost = numpy.array([numpy.nan, 1.0])
    one = consistency([numpy.array([1.0, 0.0]), lost])
    assert (one.runs, one.problems, one.sometimes, one.oracle) == (2, 1, [1], 100.0)
    assert consistency([numpy.array([numpy.nan])]).oracle is None
