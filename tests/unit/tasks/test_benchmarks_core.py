"""CORE: what is weighed, in which order, after which examples."""

import json
import random
from typing import Any

import msgspec
import pytest
from tests.real_data import REAL

from model_accuracy_eval.benchmarks import core
from model_accuracy_eval.records import FewShot, Step, TaskSpec
from model_accuracy_eval.tasks import preparation


def test_n17_the_table_says_what_the_sources_say() -> None:
    """Shots, kind, delimiter and baseline of all 22 tasks, compared with the facts that were read from DCLM."""
    path = REAL / "core" / "core_tasks.json"
    if not path.is_file():
        pytest.skip("the list of CORE's tasks is not on this machine (core/core_tasks.json in ../shared/data)")
    facts = json.loads(path.read_text())
    assert [fact["label"] for fact in facts] == list(core.BY_LABEL)
    kinds = {"multiple_choice": "choice", "schema": "schema", "language_modeling": "target"}
    for fact, task in zip(facts, core.BY_LABEL.values(), strict=True):
        shots = task.prompt.fewshot
        assert (shots.count if shots else 0) == fact["num_fewshot"]
        assert task.kind == kinds[fact["task_type"]]
        assert task.boundary == ("shared" if task.kind == "choice" else "context")
        assert task.baseline == pytest.approx(fact["random_baseline_pct"] / 100)
        assert (task.prompt.question + task.prompt.delimiter).endswith(fact["continuation_delimiter"]) or not shots


def test_n18_examples_are_drawn_for_every_question_alone() -> None:
    """Seed 1234 + place, from all others: [8, 2, 1] for the first of ten, and the same for any slice."""
    pool = [{"place": at} for at in range(10)]
    choose = preparation.chooser(Step(name="per_item", args={"seed": 1234}), pool, 3, own=True)
    assert list(choose(0, pool[0])) == [8, 2, 1]
    for place, row in enumerate(pool):
        others = [at for at in range(10) if at != place]
        assert list(choose(place, row)) == random.Random(1234 + place).sample(others, 3)


def small(kind: str, shots: int) -> TaskSpec:
    """CORE's task of a kind, over rows of the test and with fewer examples."""
    name = {"choice": "commonsense_qa", "schema": "winograd", "target": "bigbench_operators"}[kind]
    task = core.BY_LABEL[name]
    few = FewShot(count=shots, sampler=Step(name="first"), turns=False) if shots else None
    return msgspec.structs.replace(task, views=(), prompt=msgspec.structs.replace(task.prompt, fewshot=few))


def whole(candidate: Any) -> str:
    return str(candidate.context + candidate.continuation)


def test_n19_options_stand_behind_examples_and_question() -> None:
    """The prompts of nanochat for a choice, as written down from running it."""
    found = [
        {"query": "Q1", "choices": ["c", "d"], "gold": 0},
        {"query": "Q0", "choices": ["a", "b"], "gold": 1},
    ]
    problem = preparation.build(small("choice", 1), found, [], None).problems[0]
    assert [whole(one) for one in problem.candidates] == ["Q0 b\n\nQ1 c", "Q0 b\n\nQ1 d"]


def test_n19_an_ending_stands_behind_examples_and_context() -> None:
    """The same for an ending: the context loses the blanks around it."""
    found = [
        {"context": " Hello there ", "continuation": "world"},
        {"context": "a", "continuation": "b"},
    ]
    (one,) = preparation.build(small("target", 1), found, [], None).problems[0].candidates
    assert (one.context, one.continuation) == ("a b\n\nHello there", " world")


def test_n19_a_schema_weighs_one_ending_behind_two_contexts() -> None:
    """Every context with the same ending."""
    found = [{"context_options": ["The man", "The dog"], "continuation": "barks.", "gold": 1}]
    problem = preparation.build(small("schema", 0), found, [], None).problems[0]
    assert [(one.context, one.continuation) for one in problem.candidates] == [
        ("The man", " barks."),
        ("The dog", " barks."),
    ]
    assert problem.gold == (1,)
