"""Views of rows: order, choice, slices, and the rows that generators make."""

from typing import Any

import pytest
from tests.real_data import real
from tests.small_task import small_task

from model_accuracy_eval.benchmarks import spelling
from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import DataFile, DataRow, Slice, Step, TaskSpec
from model_accuracy_eval.tasks import preparation, views
from model_accuracy_eval.tasks.rows import parse

ROWS = [{"n": number} for number in range(100)]


def seen(*steps: Step, rows: list[dict[str, Any]] | None = None) -> list[int]:
    return [row["n"] for row in views.apply_views(steps, rows or ROWS[:10], "file")]


def task(view: Slice, *steps: Step) -> TaskSpec:
    return small_task("t", "{{ n }}", "{{ n }}", views=steps, slice=view, fields=("n",))


def places(view: Slice, count: int) -> list[int]:
    return [int(problem.references[0]) for problem in preparation.build(task(view), ROWS[:count], [], None).problems]


def test_n5_rows_stand_in_the_order_of_numpys_generator() -> None:
    """The order that `datasets` gives ten rows with seed 42."""
    assert seen(Step(name="permuted")) == [5, 6, 0, 7, 3, 2, 4, 9, 1, 8]


def test_a_choice_of_rows_keeps_their_order() -> None:
    """Rows with one of the values; when none is left, the sentence says which step took them."""
    assert seen(Step(name="only", args={"field": "n", "values": [7, 2]})) == [2, 7]
    assert seen(Step(name="without", args={"field": "n", "values": [7, 2]})) == [0, 1, 3, 4, 5, 6, 8, 9]
    with pytest.raises(BadData, match=r"file: no row is left after the step 'only'"):
        seen(Step(name="only", args={"field": "n", "values": [77]}))


def test_an_unknown_view_is_answered_with_the_nearest() -> None:
    """Before anything is asked."""
    with pytest.raises(UnknownName, match="did you mean shuffled"):
        seen(Step(name="shufled"))


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        (Slice(start=-1), "the slice -1::1 cannot be taken: start must be 0 or more"),
        (Slice(start=3, stop=2), "the slice 3:2:1 cannot be taken"),
        (Slice(step=0), "the slice 0::0 cannot be taken"),
        (Slice(start=10), "the slice 10::1 of 10 rows is empty"),
        (Slice(start=2, stop=2), "the slice 2:2:1 of 10 rows is empty"),
    ],
)
def test_n1_what_would_reach_around_is_refused(view: Slice, sentence: str) -> None:
    """A negative start would count from the end, and leave the slice."""
    with pytest.raises(BadValue, match=sentence):
        places(view, 10)


LISTED = [{"text": word} for word in ("apple", "banana", "strawberry")]


def test_n13_words_and_letters_are_drawn_as_nanochat_draws_them() -> None:
    """Of three words, the first question is for the n in banana (2), the third for the e in apple (1)."""
    made = spelling.spelling_bees(LISTED, size=3)
    assert [(row["letter"], row["word"], row["count"]) for row in made[::2]] == [("n", "banana", 2), ("e", "apple", 1)]
    assert all(row["letter"] in row["question"] and row["word"] in row["question"] for row in made)


def test_n14_tests_spell_other_words_than_training() -> None:
    """Over the real list, the two ends of one shuffled order."""
    found = list(parse("words.txt", real(DataFile(name="spellingbee/words_alpha.txt")), ("text",)))
    assert len(found) == 370105
    test, train = (spelling.words_to_spell(found, size=300, split=split) for split in ("test", "train"))
    assert not {row["word"] for row in test} & {row["word"] for row in train}


@pytest.mark.parametrize("day", [None, "", "Aug 21 2024", "2024/08/21", 1724198400])
def test_a_row_without_a_day_is_in_no_time(day: object) -> None:
    """As a text, "None" and "Aug" come after every year."""
    rows: list[DataRow] = [{"on": "2024-08-21T00:00:00"}, {"on": day}]
    with pytest.raises(BadData, match="1 of 2 rows have no date like 2024-08-31 in 'on'"):
        views.apply_views((Step(name="dated", args={"field": "on", "first": "2024-01-01"}),), rows, "rows.jsonl")
