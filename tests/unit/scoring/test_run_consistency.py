"""Problems over several runs: each is solved always, sometimes or never, and the oracle counts what any run solved."""

import random

from model_accuracy_eval.records import Counts, Speed
from model_accuracy_eval.scoring.comparison_statistics import DatasetOutcome, ProblemOutcome
from model_accuracy_eval.scoring.run_consistency import RunConsistency, consistency, solved_problems


def side(marks: list[ProblemOutcome], version: str = "abc123") -> DatasetOutcome:
    return DatasetOutcome(
        dataset="d", version=version, figures={}, shares=frozenset(), problems=marks, counts=Counts(), speed=Speed()
    )


def told(*sides: DatasetOutcome) -> list[RunConsistency]:
    return consistency(run for one in sides if (run := solved_problems(one)))


def test_a18_problems_are_solved_in_every_run_in_some_or_in_none() -> None:
    """Counted problem by problem in the plainest way; heaps add up, and no run alone is better than the oracle."""
    chance = random.Random(18)
    n = 5
    counts = [{number: chance.choice([0, 0, 2, 3, 5, 5]) for number in range(60)} for _ in range(3)]
    (one,) = told(*(side([ProblemOutcome(number, n, c) for number, c in run.items()]) for run in counts))
    right = {number: [run[number] >= 3 for run in counts] for number in range(60)}
    assert one.every == sum(all(runs) for runs in right.values())
    assert one.never == tuple(number for number, runs in right.items() if not any(runs))
    assert one.every + len(one.sometimes) + len(one.never) == one.problems == 60
    best = max(sum(run[number] >= 3 for number in run) for run in counts)
    assert one.oracle is not None
    assert one.oracle >= 100 * best / 60


def test_half_of_the_samples_are_not_enough() -> None:
    """As with cons@k."""
    (one,) = told(side([ProblemOutcome(0, 4, 2), ProblemOutcome(1, 4, 3)]))
    assert (one.every, one.never, one.oracle) == (1, (0,), 50.0)


def test_only_what_is_the_same_question_is_counted_together() -> None:
    """Other versions have a line of their own, and problems that one run lacks are left out."""
    first, second = told(
        side([ProblemOutcome(0, 1, 1), ProblemOutcome(1, 1, 0)]),
        side([ProblemOutcome(0, 1, 0)]),
        side([ProblemOutcome(0, 1, 1)], version="other1"),
    )
    assert (first.runs, first.problems, first.sometimes) == (2, 1, (0,))
    assert (second.runs, second.every) == (1, 1)


def test_runs_without_a_common_problem_have_no_share() -> None:
    """Nothing is not 0 %."""
    (one,) = told(side([ProblemOutcome(0, 1, 1)]), side([ProblemOutcome(1, 1, 1)]))
    assert (one.problems, one.oracle) == (0, None)


def test_graded_answers_are_neither_solved_nor_not() -> None:
    """A BLEU of 30 says nothing of the kind."""
    assert told(side([ProblemOutcome(0, 1, None, (0.3,))])) == []
