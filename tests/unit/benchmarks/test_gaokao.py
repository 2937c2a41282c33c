"""GAOKAO-Bench's published figure on its real questions: points won of points possible, by subject and in all."""

from collections import Counter
from random import Random

import pytest
from tests import real_data

from model_accuracy_eval.benchmarks.gaokao import SUBJECTS, TASK
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, Problem, SummaryRow
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.exams import scoring_rate

POSSIBLE = {
    "English": 2205, "Math": 2160, "Chinese": 501, "Physics": 384, "Chemistry": 744, "Biology": 900, "History": 1148,
    "Geography": 380, "Politics": 1280,
}  # fmt: skip
"""As they are published with the scores of gpt-4-0314."""


def published_points(letters: list[str], right: list[str], score: float, *, physics: bool) -> float:
    """The rule of the published script, written down once more: an exam's points for one block."""
    points = 0.0
    for answer, key in zip(letters, right, strict=True):
        if answer == key:
            points += score
        elif physics and all(letter in key for letter in answer):
            points += 3
    return points


def test_the_scoring_rate_is_that_of_the_published_script() -> None:
    """Random answers to all 1,781 blocks: every subject's rate and the total, from an independent count."""
    dice = Random(7)
    card = Scorecard(TASK, 1, (1,))
    won: Counter[str] = Counter()
    possible: Counter[str] = Counter()
    for row, problem in zip(real_data.rows(TASK), real_data.paper("gaokao_bench").problems, strict=True):
        right, score, paper = list(map(str, row["answer"])), float(str(row["score"])), str(row["keyword"])
        physics = "Physics" in paper
        letters = [key if dice.random() < 0.5 else guess(dice, physics=physics) for key in right]
        reply = f"【答案】{' '.join(letters)} <eoa>"
        card.judge(problem, [Attempt(problem=problem.id, index=0, text=reply)])
        for name in (SUBJECTS[paper], paper, ""):
            won[name] += published_points(letters, right, score, physics=physics)  # type: ignore[assignment]
            possible[name] += score * len(right)  # type: ignore[assignment]
    assert {name: possible[name] for name in POSSIBLE} == POSSIBLE
    assert possible[""] == 9702
    rows = {row.metric: row for row in card.rows("0ba9da")}
    assert rate(rows, "scoring rate") == pytest.approx(100 * won[""] / 9702)
    for name in (*POSSIBLE, *SUBJECTS):
        assert rate(rows, f"scoring rate[{name}]") == pytest.approx(100 * won[name] / possible[name]), name


def guess(dice: Random, *, physics: bool) -> str:
    return "".join(sorted(dice.sample("ABCD", dice.choice([1, 2, 3]) if physics else 1)))


def rate(rows: dict[str, SummaryRow], name: str) -> float | None:
    return rows[name].value


def test_a_failed_sample_wins_nothing_of_its_points() -> None:
    """A reply that is missing, or holds no answer, counts with all that it could have won."""
    card = Scorecard(TASK, 2, (2,))
    problems = real_data.paper("gaokao_bench", 3).problems
    for problem in problems:
        right = Attempt(problem=problem.id, index=0, text=f"【答案】{problem.references[0].replace(',', '')}")
        lost = None if problem.id else Attempt(problem=problem.id, index=1, text="不知道")
        card.judge(problem, [right, lost])
    rows = {row.metric: row for row in card.rows("0ba9da")}
    assert rate(rows, "scoring rate (2 runs average)") == pytest.approx(50)
    bounds = rows["scoring rate (2 runs average)"].bounds
    assert bounds
    assert (bounds.low, bounds.high) == pytest.approx((50, 50 + 100 / 3))


def test_points_that_nobody_named_are_refused() -> None:
    """Rows without the column `score` have no scoring rate."""
    with pytest.raises(BadData, match="problem 4 has no number in 'score'"):
        scoring_rate("A", Problem(id=4, messages=(), references=("A",)))
