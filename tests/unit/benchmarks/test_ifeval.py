"""IFEval over its real rows, and what is said about rows that it cannot be."""

from typing import Any

import pytest
from tests import following
from tests.real_data import paper, rows

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Attempt, Problem, Step
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics.ifeval_instructions import CHECKERS
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks import views

TASK = find("ifeval")
OBEDIENT = 498
"""Prompts whose instructions the dull replies all follow; the others contradict each other in them."""


def right(problem: Problem, reply: str) -> bool:
    attempt = Attempt(problem=problem.id, index=0, text=reply)
    return judge(problem, [attempt], pipelines(TASK)[0]).verdicts[0].why == "right"


def test_every_prompt_is_asked_as_it_stands() -> None:
    """541 of them, from the pinned file, with every checker somewhere among 834 instructions."""
    problems = paper("ifeval").problems
    assert [problem.messages[-1].content for problem in problems] == [row["prompt"] for row in rows(TASK)]
    named = [one["name"] for problem in problems for one in problem.extras["instructions"]]
    assert (len(problems), len(named), set(named)) == (541, 834, set(CHECKERS))


def test_who_follows_is_right_and_who_misses_by_one_is_not() -> None:
    """Obedient replies are right, thoughts before them do not count, and near misses are right where nothing is counted exactly."""
    pairs = list(zip(paper("ifeval").problems, rows(TASK), strict=True))
    found = [right(problem, f"<think>,</think>{following.reply(row)}") for problem, row in pairs]
    assert sum(found) == OBEDIENT
    missed = [right(problem, following.reply(row, -1)) for problem, row in pairs]
    assert sum(missed) < OBEDIENT / 10


def test_rows_as_a_hub_has_them_are_the_same_questions() -> None:
    """There every row carries every argument, null where it is not meant."""
    plain = rows(TASK)
    every = {name: None for row in plain for given in row["kwargs"] for name in given}
    filled = [{**row, "kwargs": [{**every, **given} for given in row["kwargs"]]} for row in plain]
    steps = (Step(name="instructions"),)
    ours, theirs = (views.apply_views(steps, found, "file") for found in (plain, filled))
    assert [row["instructions"] for row in ours] == [row["instructions"] for row in theirs]


@pytest.mark.parametrize(
    ("names", "arguments", "sentence"),
    [
        (["punctuation:no_comma", "a:b"], [{}, {}], "Row 2: There is no instruction called 'a:b'; known: "),
        (["keywords:existence"], [{}], "Row 2: The instruction 'keywords:existence' needs the argument 'keywords'."),
        (
            ["keywords:existence"],
            [],
            "Row 2: instruction_id_list and kwargs are lists of the same length, but here they are",
        ),
        ("keywords:existence", "{}", "but here they are 'keywords:existence' and '{}'."),
    ],
)
def test_a_row_that_cannot_be_checked_is_told_by_its_number(names: Any, arguments: Any, sentence: str) -> None:
    """Before anything is asked."""
    good = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    with pytest.raises(BadData) as found:
        views.apply_views(
            (Step(name="instructions"),), [good, {"instruction_id_list": names, "kwargs": arguments}], "file"
        )
    assert sentence in found.value.sentence
