"""What makes an output right, and how packed cases are read."""

import base64
import json
import os
import pickle
import zlib
from pathlib import Path

import pytest

from model_accuracy_eval.sandbox.inside.case_judge import CaseChecker, UnreadableCases, floats, read
from model_accuracy_eval.scoring.code.case_programs import CaseRules, checker_of
from model_accuracy_eval.scoring.code.contest_checkers import livecodebench

CASES = [{"input": "1", "output": "2"}, {"input": "3", "output": "4"}]


def rule(checker: str, function: str = "") -> CaseChecker:
    """As a task's cases bring it: by its name, or as source."""
    cases = [{"input": "1", "output": "2"}]
    return read(json.dumps({"cases": [cases], "function": function, **checker_of(CaseRules(function, checker))})).check


@pytest.mark.parametrize(
    ("checker", "expected", "right", "wrong"),
    [
        ("exact", "a b\n", ["a b", "a b\n"], ["a  b", "a b\n\n", " a b", "A b"]),
        ("tokens", "1 2\n3", ["1 2 3", " 1\t2\r\n3\n"], ["1 2", "1 2 3 4", "1 2 3.0", ""]),
        (
            "floats",
            "0.3333333 x",
            ["0.33333334 x", "3.3333333e-1\nx"],
            ["0.34 x", "nan x", "inf x", "0.3333333", "x x", "0.333_3333 x", "\uff10.3333333 x"],
        ),
        ("livecodebench", "1 2\nx ", ["1.0 2e0\nx", "  1 2  \n x\n\n"], ["1 2 x", "1  2.1\nx", "1 2\n\nx", "1 2"]),
        ("apps", "1 2\n3", ["1 2\n3\n", "3\n2 1", "1.0001 2\n3.00001", "\n1 2\n\n3"], ["1 2 3", "1 2\n4", ""]),
        ("codecontests", f"Yes {'9' * 350} inf", [f"yES {'9' * 350} inf"], [f"yes {'9' * 349}8 inf", "yes"]),
        ("apps", "0.5", ["0.500000001", ".5", "0.5001"], ["0.51", "x", "0.5 1"]),
    ],
)
def test_texts_are_compared_by_the_rule(checker: str, expected: str, right: list[str], wrong: list[str]) -> None:
    """From letter by letter to sets of numbers."""
    check = rule(checker)
    assert [text for text in right if not check("", expected, text)] == []
    assert [text for text in wrong if check("", expected, text)] == []


def test_the_tolerance_is_absolute_for_small_numbers_and_relative_for_large_ones() -> None:
    """As contests have it."""
    check = floats(1e-3)
    assert check("", "0.0001 1000000", "0.001 1000999")
    assert not check("", "0.0001", "0.0012")
    assert not check("", "1000000", "1001001")


def test_numbers_of_livecodebench_are_compared_in_full() -> None:
    """Seventeen digits are more than a float has."""
    assert not livecodebench("", "50000000000000000", "50000000000000001")


@pytest.mark.parametrize(
    ("checker", "expected", "right", "wrong"),
    [
        ("equal", [1, 2], [[1, 2], (1, 2), [1.0, 2]], [[2, 1], [[1, 2]], None, "[1, 2]"]),
        ("apps", [[1, 2]], [[[1, 2]], [1, 2], (1, 2)], [[2, 1], 1]),
        ("apps", [[[1], [2]]], [[(1,), (2,)], [[1], [2]]], [[(1,)]]),
        ("apps", 5, [5, 5.0], [[5], "5"]),
    ],
)
def test_values_are_compared_by_the_rule(
    checker: str, expected: object, right: list[object], wrong: list[object]
) -> None:
    """Tuples count as lists; APPS puts some results into a list of their own."""
    check = rule(checker, function="f")
    assert [value for value in right if not check([], expected, value)] == []
    assert [value for value in wrong if check([], expected, value)] == []


def packed(content: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(content))).decode()


def source(*parts: object, **rules: object) -> str:
    return json.dumps({"cases": parts, "checker": "tokens", **rules})


def test_cases_may_be_listed_written_as_json_or_packed() -> None:
    """The three forms of LiveCodeBench's files."""
    suite = read(source(CASES, json.dumps(CASES), packed(json.dumps(CASES))))
    assert suite.cases == [("1", "2"), ("3", "4")] * 3


class Calling:
    """Unpickled, it would make a file."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("unpickled",)


@pytest.mark.parametrize(
    "part",
    [
        packed(Calling()),
        packed(b"x"),
        packed("no JSON"),
        packed("[1]"),
        "not base64!",
        packed("[]")[:-8],
        [{"input": 1}],
        [],
    ],
)
def test_what_cannot_be_read_is_refused(part: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pickle may hold a text and nothing else: nothing in it is called."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnreadableCases):
        read(source(part))
    assert not list(tmp_path.iterdir())


def test_the_keys_of_apps_are_numbers_where_they_can_be() -> None:
    """JSON has made texts of them."""
    cases = [{"input": '{"1": 2}', "output": '{"3": 4}'}, {"input": '{"x": 2}', "output": '[{"3": 4}, 5]'}]
    suite = read(source(cases, whole_keys=True, checker="equal", function="f"))
    assert suite.cases == [([{1: 2}], [{3: 4}]), ([{"x": 2}], [{3: 4}])]
