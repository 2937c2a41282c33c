"""Two readings of the same replies: how often they differ, what a report says about it, and what its files hold."""

from collections.abc import Sequence

import pytest
from tests.unit.scoring.judged_tasks import pipe, problem, said, task

from model_accuracy_eval.records import Attempt, MetricUse, Reading, Step, TaskSpec
from model_accuracy_eval.scoring.figures.scorecard import Scorecard, metric_names
from model_accuracy_eval.scoring.metrics.metric_table import reading_notes

EXACT = MetricUse(name="exact", label="accuracy")
LAST_WORD = Step(name="regex", args={"regex_pattern": r"(?m)(\w)\s*$", "group_select": -1})
STATED = Step(name="regex", args={"regex_pattern": r"answer is (\w)", "group_select": -1})
TWO = task(
    pipe(EXACT, filters=(STATED,)),
    pipe(MetricUse(name="exact", label="accuracy", reduction="mean"), filters=(LAST_WORD,), name="flexible-extract"),
)


def scored(replies: Sequence[Sequence[str | None]], spec: TaskSpec = TWO) -> Scorecard:
    card = Scorecard(spec, len(replies[0]), (len(replies[0]),))
    for number, texts in enumerate(replies):
        samples: list[Attempt | None] = [None if text is None else said(text)[0] for text in texts]
        card.judge(problem(number, "a"), samples)
    return card


def test_replies_that_only_one_reading_understands_are_counted() -> None:
    """More, fewer and other answers, and what stays equal; a sample that is missing has no answer in either."""
    card = scored([["answer is a"], ["It is a"], ["answer is a!"], ["the answer is b, or a"], ["?"], [None]])
    (reading,) = card.readings()
    assert reading == Reading(
        pipeline="flexible-extract",
        answers=3,
        more=1,
        fewer=1,
        different=1,
        metric="accuracy,flexible-extract",
        examples=(
            "problem 1 as nothing or 'a'",
            "problem 2 as 'a' or nothing",
            "problem 3 as 'b' or 'a'",
        ),
    )


def test_the_note_has_the_counts_and_both_figures() -> None:
    """The reader sees how much the score depends on how answers are read, and three problems."""
    card = scored([["answer is a"], ["It is a"], ["answer is a!"], ["the answer is b, or a"]])
    (note,) = reading_notes(card.readings(), card.rows("0ba9da"))
    assert note == (
        "The first reading finds an answer in 3 replies; 'flexible-extract' finds one in 1 more and 1 fewer, and a "
        "different one in 1: accuracy is 50.00, accuracy,flexible-extract is 75.00. That is 25.00 points; they read "
        "problem 1 as nothing or 'a'; problem 2 as 'a' or nothing; problem 3 as 'b' or 'a'."
    )


def test_examples_are_for_readings_that_are_far_apart() -> None:
    """Up to two points need none, and three are enough."""
    near = scored([["answer is a"]] * 49 + [["It is a"]])
    assert next(iter(reading_notes(near.readings(), near.rows("0ba9da")))).endswith("is 100.00.")
    far = scored([["It is a"]] * 5)
    assert far.readings()[0].examples == tuple(f"problem {number} as nothing or 'a'" for number in range(3))


def test_examples_do_not_depend_on_the_order_of_the_replies() -> None:
    """They are those of the first problems, whichever was answered first, with all of its samples."""
    found = set()
    for order in ((0, 1, 2, 3, 4), (4, 2, 0, 1, 3), (3, 4, 1, 0, 2)):
        card = Scorecard(TWO, 2, (2,))
        for number in order:
            card.judge(problem(number, "a"), [*said("It is a"), *said("It is b")])
        found.add(card.readings()[0].examples)
    assert len(found) == 1
    assert found.pop()[0] == "problem 0 as nothing or 'a'"


def test_equal_readings_need_no_note() -> None:
    """The counts are in the results, and no sentence takes the reader's time."""
    card = scored([["answer is a"], ["?"]])
    assert [reading.different for reading in card.readings()] == [0]
    assert list(reading_notes(card.readings(), card.rows("0ba9da"))) == []


def test_a_second_reading_has_one_figure_whose_name_is_known_before() -> None:
    """Five samples give pass@5 and its like for the first reading alone."""
    names = metric_names(TWO, 5, (5,))
    assert [name for name in names if "flexible" in name] == ["accuracy,flexible-extract"]
    card = scored([["answer is a"] * 4 + ["a"]])
    assert [row.metric for row in card.rows("0ba9da")] == names
    assert {row.metric: row.value for row in card.rows("0ba9da")}["accuracy,flexible-extract"] == pytest.approx(100)


def test_pipelines_that_read_alike_are_no_second_reading() -> None:
    """A majority of the same answers, or another metric of them, reads nothing otherwise."""
    spec = task(
        pipe(EXACT, filters=(STATED,)),
        pipe(EXACT, filters=(STATED, Step(name="majority_vote")), name="maj@2"),
        pipe("exact_match", filters=(STATED,), name="again"),
    )
    assert scored([["answer is a", "It is a"]], spec).readings() == ()
