"""Strict and loose verdicts, what can be checked at all, and the metrics that count both ways."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadData, BadValue, UnknownName, UsageError
from model_accuracy_eval.records import Attempt, JSONObject, MetricUse, Pipeline, Problem
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics import ifeval_instructions
from model_accuracy_eval.scoring.metrics.ifeval_instructions import followed, instruction, loose_forms
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.scoring.metrics.metric_type import counted

TWO = [
    instruction("punctuation:no_comma", {}),
    instruction("detectable_format:number_bullet_lists", {"num_bullets": 1}),
]


def problem(instructions: list[JSONObject] | None) -> Problem:
    return Problem(
        id=7, messages=(), references=("…",), extras={} if instructions is None else {"instructions": instructions}
    )


@pytest.mark.parametrize(
    ("reply", "strict", "loose"),
    [
        ("* a", [True, True], [True, True]),
        ("Sure, so:\n* a\nBye, then", [False, True], [True, True]),
        ("Sure, so\nwell, b\n* a", [False, True], [False, True]),
        ("- a\n* b", [True, False], [True, True]),
        (" \n", [False, False], [False, False]),
        ("*", [True, False], [True, False]),
    ],
)
def test_loose_forgives_a_first_line_a_last_line_and_asterisks(
    reply: str, strict: list[bool], loose: list[bool]
) -> None:
    """Each instruction may be followed by another form of the reply; a reply without a word follows none."""
    assert followed(reply, TWO) == strict
    assert followed(reply, TWO, loose=True) == loose


@given(st.text(st.sampled_from("*-\n ,a")))
def test_loose_is_never_stricter(reply: str) -> None:
    """What a reply follows as it is, it follows loosely too: the reply itself is one of at most eight forms."""
    assert all(map(lambda strict, loose: loose or not strict, followed(reply, TWO), followed(reply, TWO, loose=True)))
    assert loose_forms(reply)[0] == reply
    assert len(loose_forms(reply)) <= 8


@pytest.mark.parametrize(
    ("name", "arguments", "error", "sentence"),
    [
        ("punctuation:no_coma", {}, UnknownName, "There is no instruction called 'punctuation:no_coma'; did you mean punctuation:no_comma"),
        ("punctuation:no_comma", {"n": 1}, BadValue, "The instruction 'punctuation:no_comma' has no argument 'n'; it takes none."),
        ("detectable_format:number_bullet_lists", {"num_bullets": None}, BadValue, "The instruction 'detectable_format:number_bullet_lists' needs the argument 'num_bullets'."),
        ("detectable_format:number_bullet_lists", {"num_bullets": "3"}, BadValue, "The instruction 'detectable_format:number_bullet_lists' cannot have '3' as its num_bullets: Expected `int`, got `str`."),
        ("length_constraints:number_words", {"num_words": 3, "relation": "at most"}, BadValue, "cannot have 'at most' as its relation"),
    ],
)  # fmt: skip
def test_an_instruction_that_cannot_be_checked_is_refused(
    name: str, arguments: dict[str, Any], error: type[UsageError], sentence: str
) -> None:
    """Before anything is asked: unknown names, strange, missing and impossible arguments."""
    with pytest.raises(error) as found:
        instruction(name, arguments)
    assert sentence in found.value.sentence


def test_arguments_that_are_null_are_not_meant() -> None:
    """Hubs name all arguments of all instructions in every row."""
    given = instruction("punctuation:no_comma", {"num_words": None, "relation": None})
    assert given == {"name": "punctuation:no_comma", "arguments": {}}


def test_the_metrics_count_prompts_and_instructions() -> None:
    """A sample that is lost counts as one that follows none of its instructions, though it may have followed all."""
    measures = (
        MetricUse(name="every_instruction"),
        MetricUse(name="each_instruction"),
        MetricUse(name="each_instruction", args={"loose": True}),
    )
    samples = [
        Attempt(problem=7, index=0, text="So, a"),
        None,
        Attempt(problem=7, index=2, text="* a"),
        Attempt(problem=7, index=3, text=" "),
    ]
    marks = judge(problem(TWO), samples, Pipeline(metrics=measures))
    assert tuple(tuple(counted(values)) for values in marks.values) == (
        (0.0, 0.0, 1.0, 0.0),
        ((0, 2), (0, 2), (2, 2), (0, 2)),
        ((0, 2), (0, 2), (2, 2), (0, 2)),
    )
    assert [verdict.why for verdict in marks.verdicts] == ["wrong", "missing", "right", "empty"]


def test_a_task_without_instructions_is_told_what_it_lacks() -> None:
    """Its problem's number, and the view that makes them."""
    with pytest.raises(BadData, match="Problem 7 has no instructions: the task needs the view 'instructions'"):
        metric("every_instruction").score("a", problem(None))


def test_a_text_has_one_language() -> None:
    """The library draws at random: without our seed this text is English in one half of the tries and Tagalog in the other."""
    assert len({ifeval_instructions.detected_language.__wrapped__("so it is") for _ in range(40)}) == 1
