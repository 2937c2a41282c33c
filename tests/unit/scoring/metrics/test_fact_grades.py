"""The five figures of SimpleQA from one grade for each answer, and what is read as a grade."""

import pytest
from tests.dataset_fixtures import prepared

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Attempt, Opinion, Question
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.asked_metrics import grade
from model_accuracy_eval.scoring.metrics.metric_type import Ask, AskResult


def figures(*replies: str) -> dict[str, float | None]:
    """A reply is what the judge says of it; an empty one is not judged."""
    task = find("simpleqa")

    def judge(ask: Ask) -> AskResult:
        assert isinstance(ask, Question)
        return Opinion(text=ask.messages[-1].content.partition("Answer to grade: ")[2].split("\n")[0])

    card = Scorecard(task, 1, (1,), ask_results=judge)
    for problem, reply in zip(prepared(task).problems, replies, strict=True):
        card.judge(problem, [Attempt(problem=problem.id, index=0, text=reply)])
    return {row.metric: row.value for row in card.rows("000000")}


def test_the_f_score_is_the_harmonic_mean() -> None:
    """Two of five correct, two of three attempted: 2 · 0.4 · 2/3 / (0.4 + 2/3) = 0.5. An empty reply is no attempt."""
    found = figures("A", "A", "B", "C", "")
    assert found["correct"] == pytest.approx(40)
    assert found["incorrect"] == pytest.approx(20)
    assert found["not attempted"] == pytest.approx(40)
    assert found["correct given attempted"] == pytest.approx(200 / 3)
    assert found["F-score"] == pytest.approx(50)


def test_without_an_attempt_nothing_is_said_of_the_attempted() -> None:
    """0 of 0 is no figure, and the F-score is 0."""
    found = figures("C", "C", "C", "C", "C")
    assert found["correct given attempted"] is None
    assert (found["correct"], found["F-score"]) == (0, 0)


def test_an_answer_without_a_grade_is_in_no_figure_but_the_strict_ones() -> None:
    """One of four graded answers is correct, of all five one is."""
    found = figures("A", "B", "B", "B", "Who knows?")
    assert found["correct"] == pytest.approx(20)
    assert found["correct given attempted"] == pytest.approx(25)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B", "B"), ("**C**", "C"), ("A: CORRECT", "A"), ("The year is wrong.\n\nGrade: B.", "B"),
        ("<think>It could be A.</think>\nC", "C"), ("A name is missing.", None), ("ABC", None), ("", None),
    ],
)  # fmt: skip
def test_a_grade_is_a_letter_by_itself(text: str, expected: str | None) -> None:
    """At the end of the opinion, else at its beginning; an article is none."""
    assert grade(Opinion(text=text)) == expected
