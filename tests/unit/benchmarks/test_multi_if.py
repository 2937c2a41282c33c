"""Conversations with instructions: short ones, lost ones, and rows that cannot be asked."""

import json
from typing import Any

import pytest
from tests import dataset_fixtures

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.benchmarks.multi_if import instructed_turns
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, EarlierReply, Problem, SummaryRow
from model_accuracy_eval.scoring.figures.scorecard import Scorecard

TASK = find("multi_if")
ROWS = dataset_fixtures.read(TASK.data, TASK.fields)


def figures(*answered: tuple[Problem, list[str] | None]) -> dict[str, SummaryRow]:
    card = Scorecard(TASK, 1, [1])
    for problem, replies in answered:
        if replies is None:
            card.judge(problem, [None])
            continue
        *earlier, last = replies
        said = tuple(
            EarlierReply(text=text, next=following) for text, following in zip(earlier, problem.follow_ups, strict=True)
        )
        card.judge(problem, [Attempt(problem=problem.id, index=0, text=last, earlier=said)])
    return {row.metric: row for row in card.rows("000000")}


def test_each_turn_is_judged_by_its_own_instructions() -> None:
    """Title and ending come later, so a plain first reply follows all that was asked of it."""
    lighthouse = dataset_fixtures.prepared(TASK).problems[0]
    rows = figures((lighthouse, ["It shines.", "<<It>> shines, truly.", "<<It>>\nSo it shines."]))
    values = {name: row.value for name, row in rows.items() if "strict" in name and "English" not in name}
    assert values == {
        "prompt_level_strict_acc": pytest.approx(200 / 3),
        "prompt_level_strict_acc,turn 1": 100,
        "inst_level_strict_acc,turn 1": 100,
        "prompt_level_strict_acc,turn 2": 0,
        "inst_level_strict_acc,turn 2": 50,
        "prompt_level_strict_acc,turn 3": 100,
        "inst_level_strict_acc,turn 3": 100,
    }


def test_a_turn_that_is_not_there_is_neither_right_nor_wrong() -> None:
    """The fifth conversation has two turns: the third turn's figures are those of the others."""
    first, *_, short = dataset_fixtures.prepared(TASK).problems
    assert len(short.follow_ups) == 1
    rows = figures((first, ["no", "no", "no"]), (short, ["- a\n- b\n- c"] * 2))
    assert rows["prompt_level_strict_acc,turn 1"].value == 100
    assert rows["prompt_level_strict_acc,turn 2"].value == 50
    assert (rows["prompt_level_strict_acc,turn 3"].value, rows["prompt_level_strict_acc,turn 3"].bounds) == (0, None)


def test_a_lost_conversation_could_have_been_anything() -> None:
    """Of the instructions, too: each figure has both ends."""
    first, second, *_ = dataset_fixtures.prepared(TASK).problems
    rows = figures((first, ["It shines.", "<<It>>", "<<It>>\nSo it shines."]), (second, None))
    for name in ("prompt_level_strict_acc", "prompt_level_strict_acc,turn 2", "inst_level_strict_acc,turn 3"):
        bounds = rows[name].bounds
        assert bounds is not None
        assert [bounds.low, bounds.high] == pytest.approx([50, 100]), name


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"turn_1_prompt": "None"}, r"Row 1 has no first turn\."),
        ({"turn_2_prompt": "Say it."}, "Row 1, turn 2: JSON is malformed"),
        ({"turn_2_prompt": json.dumps({"role": "user"})}, "Row 1, turn 2: 'content'"),
        ({"turn_1_kwargs": "[]"}, "Row 1, turn 1: there are 1 instructions, and arguments for 0"),
        ({"turn_1_instruction_id_list": '["a:b"]'}, "Row 1, turn 1: There is no instruction called 'a:b'"),
        ({"turn_1_kwargs": '["{\\"x\\": 1}"]'}, "Row 1, turn 1: The instruction 'punctuation:no_comma' "),
    ],
)
def test_rows_that_cannot_be_asked(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadData, match=sentence):
        instructed_turns([{**ROWS[0], **change}])
