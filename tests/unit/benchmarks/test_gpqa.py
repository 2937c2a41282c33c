"""GPQA's answers stand in an order of their own."""

from tests.dataset_fixtures import read

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.benchmarks.gpqa import shuffled_options


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
