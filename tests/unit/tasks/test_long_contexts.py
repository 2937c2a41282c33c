"""Long texts that are made here: as long as they are said to be, the same everywhere, and with one right answer."""

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
