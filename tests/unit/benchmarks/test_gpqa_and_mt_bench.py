"""GPQA's answers stand in an order of their own."""

from tests.dataset_fixtures import read
from tests.real_data import paper

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.benchmarks.gpqa import shuffled_options
from model_accuracy_eval.records import Attempt, EarlierReply, Question
from model_accuracy_eval.scoring.figures.scorecard import Scorecard


def test_an_order_belongs_to_its_question() -> None:
    """Whatever rows are around it; and the right answer is where `place` says."""
    task = find("gpqa_diamond")
    rows = read(task.data, task.fields)
    shuffled = shuffled_options(rows)
    assert shuffled_options(rows[::-1]) == shuffled[::-1]
    for row in shuffled:
        assert row["options"][row["place"]] == row["Correct Answer"].strip()
        assert len(set(row["options"])) == 4
    many = [{**rows[0], "Question": f"Question {number}?"} for number in range(400)]
    places = [row["place"] for row in shuffled_options(many)]
    assert all(70 < places.count(place) < 130 for place in range(4))


def test_a_judge_sees_the_turn_that_it_marks() -> None:
    """Ten questions of each category; GPT-4's answers for three of them; the first turn before the second."""
    problems = paper("mt_bench").problems
    assert len(problems) == 80
    assert all(len(problem.follow_ups) == 1 for problem in problems)
    assert sum(bool(problem.turn_references[0]) for problem in problems) == 30
    for problem in problems:
        sample = Attempt(
            problem=problem.id,
            index=0,
            text="SECOND",
            earlier=(EarlierReply(text="FIRST", next=problem.follow_ups[0]),),
        )
        asked = [
            one for one in Scorecard(find("mt_bench"), 1, (1,)).asks(problem, [sample]) if isinstance(one, Question)
        ]
        first, second = (one.messages[-1].content for one in dict.fromkeys(asked))
        assert "Assistant: FIRST" in first
        assert "SECOND" not in first
        assert problem.follow_ups[0] not in first
        start = f"User: {problem.messages[-1].content}\n\nAssistant: FIRST\n\nUser: {problem.follow_ups[0]}\n\n"
        assert start in second
        assert second.index("Assistant: FIRST") < second.index("Assistant: SECOND")
        for text, reference in zip((first, second), problem.turn_references, strict=True):
            assert ("A good answer to this" in text) == bool(reference)
            assert reference in text
