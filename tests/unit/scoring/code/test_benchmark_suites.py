"""What programs are tested by: names in asserts, shapes of inputs, and the figures for CRUXEval's answers."""

import ast
import gc
import gzip
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code import benchmark_suites
from model_accuracy_eval.scoring.code.benchmark_suites import expression
from model_accuracy_eval.scoring.code.code_syntax import called_function, parse_source

DATA = Path(__file__).parents[5] / "shared/data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="benchmark files are not in ../shared/data")


def rows(name: str) -> list[dict[str, Any]]:
    source = gzip.decompress((DATA / name).read_bytes()).decode()
    return [json.loads(line) for line in source.split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("assertion", "name"),
    [
        ("assert min_cost([[1]], 2, 2) == 8", "min_cost"),
        ("assert set(similar_elements((3, 4), (5, 4))) == set((4,))", "similar_elements"),
        ("assert math.isclose(f(1), 2)", "f"),
        ("assert not is_x(2)", "is_x"),
        ("assert (f(1))", "f"),
        ("assert sum(10, 15) == 6", "sum"),
        ("assert f(g(1)) == 2", "f"),
        ("assert broken(", ""),
    ],
)
def test_a7_the_name_that_an_assert_calls(assertion: str, name: str) -> None:
    """The syntax tree tells it: wrappers, modules and `not` are no entry points."""
    assert called_function([assertion]) == name


@needs_data
def test_a7_every_name_of_mbpp_is_one_that_its_solution_defines() -> None:
    """Of all 974 tasks, as their reference solutions are the authority on it."""
    strange = [
        row["task_id"]
        for row in rows("mbpp/mbpp.jsonl.gz")
        if f"def {called_function(row['test_list'])}" not in row["code"]
    ]
    assert strange == []


def test_a_helper_of_the_prompt_comes_with_the_tests() -> None:
    """What they call beside the function asked for, with its imports, is the task's; imports alone are not needed."""
    prompt = (
        "import math\ndef twice(x):\n    return math.fabs(2 * x)\ndef f(x):\n    '''\n    >>> f(2)\n    4\n\n    '''\n"
    )
    row = {"entry_point": "f", "prompt": prompt, "test": "def check(candidate): assert candidate(twice(1)) == 4"}
    shown = benchmark_suites.shown_tests("", row)
    assert shown is not None
    for tests in (benchmark_suites.humaneval("", row).tests, shown.tests):
        assert tests.startswith("import math\ndef twice(x):")
        assert "def f" not in tests
    without = {**row, "prompt": "import math\ndef f(x):\n    ..."}
    assert benchmark_suites.humaneval("", without).tests.startswith("def check")


@pytest.mark.parametrize(
    ("reply", "output", "arguments"),
    [
        ("[ANSWER]assert f([1]) == 'a==b'[/ANSWER]", "'a==b'", "[1]"),
        ("So\n[ANSWER]\nf(1, x=2) == [3]\n[/ANSWER]\nDone.", "[3]", "1, x=2"),
        ("[ANSWER][1, 2][/ANSWER]", "[1, 2]", "[1, 2]"),
        ("Thus:\n```python\nassert f('x') == {'a': 1}\n```", "{'a': 1}", "'x'"),
        ("It is\n'abc'", "'abc'", "'abc'"),
        ("f([1,\n   2])", "f([1,\n   2])", "[1,\n   2]"),
        ("f('a\\nb') == 1", "1", "'a\\nb'"),
        ("assert f(1) == 2, 'so it is'", "2", "1"),
        ("f(1) + f(2)", "f(1) + f(2)", "f(1) + f(2)"),
        ("f()", "f()", ""),
        ("1) + (2", None, None),
        ("I do not know", None, None),
    ],
)
def test_answers_of_cruxeval_are_read(reply: str, output: str | None, arguments: str | None) -> None:
    """Between the tags, in a block or on the last line: the value, and the arguments of the call."""
    nobody = Problem(id=0, messages=(), references=())
    assert expression(reply, nobody, compared=True) == output
    assert expression(reply, nobody, calls="f") == arguments


SOURCE = "".join(f"def f{number}(x):\n    return [{{x: (x, [x])}} for x in range({number})]\n" for number in range(30))


class Cyclic:
    """Garbage whose end takes a while, so that another thread goes on in the midst of a parse."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that give way as often as they can, and a collector that never rests."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


def at_depth(frames: int, parse: Callable[[str], ast.Module]) -> str:
    """Called from threads that have come down as far, which is what Python mistakes for each other's depth."""
    return at_depth(frames - 1, parse) if frames else ast.dump(parse(SOURCE))


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_parse_at_once_get_their_trees() -> None:
    """With `ast.parse` itself, some of them get a SystemError from CPython 3.11."""

    def parse(turn: int) -> str:
        garbage = [Cyclic() for _ in range(5)]
        del garbage
        return at_depth(turn % 7 * 5, parse_source)

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(parse, range(60))) == {ast.dump(ast.parse(SOURCE))}
