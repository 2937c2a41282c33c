"""The table of what sentences ask for: each of its rules is about a sentence that the program says."""

import ast
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model_accuracy_eval.commands import mending_options, next_command
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.hubs import split_layout
from model_accuracy_eval.records import HubSplit
from model_accuracy_eval.tasks import dataset_names

SOURCES = Path(mending_options.__file__).parents[1]
VALUES = (
    "5", "word", "a-b", "hf:a/b", "--option", "/some/file.jsonl", "/some/file.jsonl, line 5", "1,2,3", "NAME=VALUE",
    "http://a:1, http://b:1", "pip install x", "0/2", "it has one, other", "it has the standard one alone",
    "hf:a/b,c", "gsm8k: accuracy >= 0.7", "2024-05-01..2024-04-01",
)  # fmt: skip
"""What may stand in a sentence where the program fills something in."""
_FIELD = re.compile(r"\{\w+\}")
_NUMBER = "5"


def part(node: ast.expr) -> str | None:
    """A text, or a number where it can be nothing else; None: anything may stand there."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return (
        _NUMBER if isinstance(node, ast.FormattedValue) and (node.format_spec or "len(" in ast.unparse(node)) else None
    )


def texts() -> Iterator[tuple[str | None, ...]]:
    """Every text of the program that is a sentence or the beginning of one, in parts; None: a value is filled in."""
    for path in SOURCES.rglob("*.py"):
        if path.name == "mending_options.py":
            continue
        inside: set[ast.expr] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                inside.update(node.values)
                yield tuple(map(part, node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
                plain: list[str | None] = []
                for text in _FIELD.split(node.value):
                    plain += [text, None]
                yield tuple(plain[:-1])


@functools.cache
def sentences() -> tuple[str, ...]:
    """The texts with values filled in: one value everywhere, and where there are two places, every two."""
    said: dict[str, None] = {}
    for parts in dict.fromkeys(texts()):
        if not any(" " in text for text in parts if text):
            continue
        places = parts.count(None)
        fillings = itertools.product(VALUES, repeat=places) if places <= 2 else ((each,) * places for each in VALUES)
        for values in fillings:
            rest = iter(values)
            said["".join(next(rest) if text is None else text for text in parts)] = None
    return tuple(said)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in mending_options._RULES])
def test_every_rule_is_about_a_sentence_that_is_said(pattern: str) -> None:
    """A sentence that is worded anew takes its rule along, or its next command would be lost without a sound."""
    assert any(map(re.compile(pattern).search, sentences())), f"nothing that is said matches {pattern}"


def chosen(*files: str, split: str = "test") -> Callable[[], object]:
    return lambda: split_layout.find("", files, "hf:org/name", HubSplit(hf="org/name", split=split))


@pytest.mark.parametrize(
    ("fails", "typed", "step"),
    [
        (
            chosen("data/test-00000-of-00002.parquet"),
            "run --datasets gsm8k,hf:org/name::test --limit 3",
            "run --datasets gsm8k,hf:org/name@REVISION --limit 3",
        ),
        (
            chosen("a/test-00000-of-00001.parquet", "b/test-00000-of-00001.parquet", split="tset"),
            "run --datasets hf:org/name@v1::tset",
            "run --datasets hf:org/name@v1:a:test",
        ),
        (
            chosen("test.csv", "test.jsonl"),
            "tasks show hf:org/name",
            "tasks show https://huggingface.co/datasets/org/name/resolve/main/test.csv",
        ),
        (
            chosen("train.csv", "test.csv", split="dev"),
            "run --hub-dataset gsm8k=org/name --datasets gsm8k",
            "tasks show hf:org/name:default:test",
        ),
        (
            lambda: dataset_names.parse("2024-05-01..2024-04-01"),
            "run --datasets gsm8k,livecodebench_v5@2024-05-01..2024-04-01",
            "run --datasets gsm8k,livecodebench_v5@2024-04-01..2024-05-01",
        ),
        (
            lambda: dataset_names.parse("2024-02-30.."),
            "run --datasets livecodebench_v5@2024-02-30..",
            "run --datasets livecodebench_v5",
        ),
    ],
)
def test_addresses_and_times_are_mended(
    fails: Callable[[], object], typed: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be chosen is shown as it could be typed, with all else as it was."""
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    with pytest.raises(EvalError) as caught:
        fails()
    assert next_command.of_error(caught.value, typed.split()) == f"model-accuracy-eval {step}", caught.value.sentence
