"""Long texts that are made here: as long as they are said to be, the same everywhere, and with one right answer."""

import re
from collections import Counter
from importlib import resources
from typing import Any

import pytest

from model_accuracy_eval.benchmarks.dataset_table import GROUPS, SECTIONS, find
from model_accuracy_eval.benchmarks.ruler import KINDS, long_contexts
from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Attempt, DataFile, DataRow, Problem
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.rows import parse

SENTENCES = (resources.files("model_accuracy_eval.tasks") / "data" / "everyday_sentences.txt").read_bytes()


def read(file: DataFile, fields: tuple[str, ...]) -> list[DataRow]:
    return list(parse(file.name, SENTENCES, fields))


def made(kind: str, tokens: int = 4000, size: int = 50) -> list[dict[str, Any]]:
    return long_contexts(list(parse("sentences.txt", SENTENCES, ("text",))), kind=kind, tokens=tokens, size=size)


def value(problem: Problem, reply: str, name: str) -> Any:
    return judge(problem, [Attempt(problem=problem.id, index=0, text=reply)], find(name).pipelines[0]).values[0][0]


@pytest.mark.parametrize("tokens", [4000, 16_000, 128_000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_as_long_as_it_is_said_to_be(kind: str, tokens: int) -> None:
    """Four characters a token, and two of a made-up word; room is left for the question."""
    for row in made(kind, tokens, 2):
        length = len(row["text"]) / (2 if kind in {"cwe", "fwe"} else 4)
        assert 0.93 * tokens < length <= tokens - 128 + 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_is_another_and_the_same_again(kind: str) -> None:
    """Also where fewer are made."""
    rows = made(kind)
    assert len({row["text"] for row in rows}) == 50
    assert made(kind, size=3) == rows[:3]


VERSIONS = {
    "niah_single": "de9491", "niah_multikey": "faa77f", "niah_multivalue": "7e51ab", "niah_multiquery": "68cb17", "vt": "0b99d6", "cwe": "190101", "fwe": "4f8cfc",
}  # fmt: skip
"""Another version would be another question than that of earlier reports."""


@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_reach_everything_and_wrong_ones_nothing(kind: str) -> None:
    """Whatever stands around them; half of them are half."""
    ready = preparation.assemble(find(f"ruler_{kind}_4k"), read)
    assert ready.version == VERSIONS[kind]
    for problem in ready.problems:
        right = problem.references
        assert value(problem, f"<think>0</think>They are: {' and '.join(right).upper()}.", ready.task.name) == 1.0
        assert value(problem, "170017", ready.task.name) == 0.0
        assert value(problem, " ".join(right[1:]) or "none", ready.task.name) == pytest.approx(1 - 1 / len(right))


def test_a_needle_stands_once_and_at_its_depth() -> None:
    """Counted in sentences, from the very first to the very last."""
    for row in made("niah_single"):
        (value,) = row["answers"]
        assert row["text"].count(value) == 1
        before, after = (len(re.findall(r"\.", part)) for part in re.split(f"{value}", row["text"]))
        assert 100 * before / (before + after - 1) == pytest.approx(int(row["depth"].split()[0]), abs=1)
    depths = Counter(row["depth"] for row in made("niah_single"))
    assert len(depths) == 11
    assert sorted(depths)[::10] == ["000 %", "100 %"]


@pytest.mark.parametrize("kind", ["niah_multikey", "niah_multivalue", "niah_multiquery"])
def test_facts_answer_the_question_alone(kind: str) -> None:
    """Four facts; those of the things that are asked for have the right numbers, in the order of the question."""
    for row in made(kind):
        facts = re.findall(r"The number of the (\w+ \w+) is (\d+)\.", row["text"])
        assert len(facts) == 4
        asked = [number for thing, number in facts if f"the {thing}" in row["question"]]
        assert set(asked) == set(row["answers"])
        assert len(row["answers"]) == {"niah_multikey": 1}.get(kind, 4)


def test_a_solver_of_assignments_finds_the_variables() -> None:
    """Line by line, in the order of the text: no variable is used before it has a value."""
    for row in made("vt"):
        values: dict[str, str] = {}
        for name, given in re.findall(r"VAR (\w+) = (?:VAR )?(\w+)\.", row["text"]):
            values[name] = given if given.isdigit() else values[given]
        asked = re.search(r"have the value (\d+)", row["question"])
        assert asked is not None
        assert len(values) == 10
        assert {name for name, value in values.items() if value == asked[1]} == set(row["answers"])


@pytest.mark.parametrize(("kind", "size"), [("cwe", 10), ("fwe", 3)])
def test_counted_words_are_the_most_frequent(kind: str, size: int) -> None:
    """And those behind them are clearly less frequent; every common word occurs thirty times, every other three."""
    for row in made(kind, 8000, 10):
        counts = Counter(re.findall(r"[a-z]+", row["text"]))
        best = counts.most_common(size + 1)
        assert {word for word, _ in best[:size]} == set(row["answers"])
        assert best[size - 1][1] > 1.3 * best[size][1]
        assert kind != "cwe" or set(counts.values()) == {30, 3}


def test_lengths_that_cannot_be_made_are_refused() -> None:
    """With the numbers."""
    with pytest.raises(BadValue, match=r"Texts of the kind 'cwe' have \d+ tokens at least, but 1000 are asked for"):
        made("cwe", 1000)
    with pytest.raises(UnknownName, match="no kind of long text called 'niah'"):
        made("niah")


def test_a_length_is_a_group() -> None:
    """Seven tasks of six lengths, by RULER's names for lengths."""
    assert len(SECTIONS["Long texts made here"]) == 42
    for length in (4, 8, 16, 32, 64, 128):
        assert len(GROUPS[f"ruler_{length}k"].members) == 7
        assert find(f"needle@{length}k").name == f"ruler_niah_single_{length}k"
