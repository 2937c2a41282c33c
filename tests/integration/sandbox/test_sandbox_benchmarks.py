"""The real HumanEval and MBPP: what is right passes, what is wrong fails, and the mode of a task is found."""

from collections.abc import Callable

import msgspec
import pytest
from tests.integration.sandbox.benchmarks import damaged, human_eval, mbpp, plainly, spoiled
from tests.integration.sandbox.conftest import RunAll
from tests.sandboxed import EVERY

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.mode_detection import break_functions, detect_mode
from model_accuracy_eval.system.clock import run


def test_every_solution_of_human_eval_passes_and_every_damaged_one_fails(kind: str, run_all: RunAll) -> None:
    """All 164, in a container; in the weaker kinds of isolation all solutions, and every fourth damaged one."""
    programs = list(human_eval().values())
    wrong = [damaged(one) for one in programs[:: 1 if kind == "docker" else 4]]
    verdicts = [done.verdict for done in run_all(programs + wrong)]
    assert verdicts[:164] == ["passed"] * 164
    assert {*verdicts[164:]} <= {"failed", "error", "timeout"}


@pytest.mark.slow
def test_every_solution_of_mbpp_passes_apart_from_its_tests_and_every_spoiled_one_fails(run_any: RunAll) -> None:
    """All 974, but for three whose tests build objects of the program's own classes; one in four is spoiled, or all."""
    programs = mbpp()
    done = dict(zip(programs, run_any(programs.values()), strict=True))
    assert {name: one.detail for name, one in done.items() if not one.passed} == {}
    assert [name for name, one in done.items() if one.integrity != "split"] == ["MBPP/367", "MBPP/601", "MBPP/927"]
    some = dict(list(programs.items())[:: 1 if EVERY else 4])
    wrong = dict(zip(some, run_any(map(spoiled, some.values())), strict=True))
    assert {name: one.verdict for name, one in wrong.items() if one.passed is not False} == {}


@pytest.mark.parametrize("mode", ["split", pytest.param("shared", marks=pytest.mark.slow)])
def test_verdicts_are_those_of_plain_python(mode: str, run_any: RunAll) -> None:
    """Damaged solutions of MBPP, one by one; a damage that does no harm passes in both."""
    programs = [msgspec.structs.replace(damaged(one), mode=mode) for one in list(mbpp().values())[:80]]
    expected = [plainly(one) for one in programs]
    assert [done.passed for done in run_any(programs)] == expected


POINT = """
class Point:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return isinstance(other, Point) and self.x == other.x
    def __lt__(self, other): return self.x < other.x
def f(x): return Point(x)
"""


@pytest.mark.parametrize(
    ("code", "tests", "mode"),
    [
        ("def f(x): return x + 1", "assert f(1) == 2", "split"),
        (POINT, "assert f(3) == Point(3)\nassert f(4).x == 4", "shared"),
        ("def f(x): return lambda y: x + y", "assert f(3)(4) == 7", "shared"),
        (POINT, "import inspect\nassert 'x' in inspect.signature(f).parameters\nassert f(1).x == 1", "shared"),
        (
            "def f(x): return x + 1",
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)",
            "split",
        ),
        (
            "def f(x): return int(x)",
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertRaises(ValueError, f, 'a') or self.assertEqual(f('2'), 2)",
            "split",
        ),
    ],
)
def test_the_mode_comes_from_the_reference_solution(
    code: str, tests: str, mode: str, boxes: Callable[[str], Sandbox]
) -> None:
    """Apart where that works; together where tests look into what the program's functions are made of."""
    assert run(detect_mode(boxes("bwrap"), "task 1", Program(code=code, tests=tests, entry_points=("f",)))) == mode


@pytest.mark.parametrize("tests", ["assert f(1)", "assert f(1) == 3", "import unittest"])
def test_tests_that_judge_nothing_are_refused(tests: str, boxes: Callable[[str], Sandbox]) -> None:
    """A wrong solution that passes, or a right one that fails, makes the task no task."""
    with pytest.raises(BadData, match="The tests of task 7 cannot judge programs"):
        run(
            detect_mode(
                boxes("bwrap"), "task 7", Program(code="def f(x): return x + 1", tests=tests, entry_points=("f",))
            )
        )


def test_a_broken_solution_is_still_a_program() -> None:
    """Signatures stay, and so does what creates objects."""
    code = break_functions(
        "import os\nclass A:\n    def __init__(self): self.x = 1\n    def get(self): return 1\ndef f(a, *, b=2): return a\n"
    )
    assert "self.x = 1" in code
    assert "return 1" not in code
    assert "def f(a, *, b=2)" in code
