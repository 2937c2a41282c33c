"""The mode of a task's programs is found with its own solution, on first use, and never with the program judged."""

import asyncio
from collections.abc import Callable, Iterator

import msgspec
import pytest
from tests.integration.sandbox.conftest import runner
from tests.integration.sandbox.programs.honest_classes import BESIDE, PAIRS

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.sandbox.backends import UnconfinedBackend
from model_accuracy_eval.sandbox.mode_detection import ModeDetectingSandbox
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.system.clock import run

PLUS_ONE = Program(
    code="def f(x): return 1 + x", tests="assert f(1) == 2", entry_points=("f",), reference="def f(x): return x + 1"
)
VERSION = (
    "class Version:\n    def __init__(self, x): self.x = x\n    def __lt__(self, other): return self.x < other.x\n"
    "def f(x): return Version(x)\n"
)
OBJECTS = Program(code=VERSION, tests="assert f(3) < f(4)", entry_points=("f",), reference=VERSION)


class CountingPool(WorkerPool):
    """Remembers what it ran."""

    def __init__(self) -> None:
        super().__init__(UnconfinedBackend(), workers=2)
        self.ran: list[Program] = []
        self.found: list[Execution] = []

    async def run(self, program: Program, *, once: bool = False) -> Execution:
        self.ran.append(program)
        self.found.append(await super().run(program, once=once))
        return self.found[-1]


@pytest.fixture
def pool() -> Iterator[CountingPool]:
    made = CountingPool()
    yield made
    made.end()


async def together(box: ModeDetectingSandbox, programs: list[Program]) -> list[Execution]:
    return list(await asyncio.gather(*map(box.run, programs)))


def test_each_task_gets_the_mode_that_its_solution_needs(pool: CountingPool) -> None:
    """Out of the program's reach where that works, beside it where the tests look into its objects."""
    found = run(together(ModeDetectingSandbox(pool), [PLUS_ONE, OBJECTS]))
    assert [(one.verdict, one.integrity) for one in found] == [("passed", "split"), ("passed", "shared+control")]


def test_a_task_is_settled_once_however_many_programs_come(pool: CountingPool) -> None:
    """Two runs for the reference, right and made wrong, then one for each program; other loops find it settled."""
    box = ModeDetectingSandbox(pool)
    programs = [msgspec.structs.replace(PLUS_ONE, code=f"def f(x): return {number} * x") for number in range(1, 5)]
    found = run(together(box, programs))
    assert [one.verdict for one in found] == ["failed", "passed", "failed", "failed"]
    assert len(pool.ran) == 2 + len(programs)
    run(together(box, programs))
    assert len(pool.ran) == 2 + 2 * len(programs)


def test_a_program_that_gives_an_object_is_doubted(pool: CountingPool) -> None:
    """One that equals everything is judged beside its tests, and a control run gives it away; data never gets there."""
    forged = "class Any:\n    def __eq__(self, other): return True\ndef f(x): return Any()\n"
    codes = [forged, "def f(x): return 4"]
    programs = [msgspec.structs.replace(PLUS_ONE, code=code, mode="shared") for code in codes]
    found = run(together(ModeDetectingSandbox(pool), programs))
    assert [(one.verdict, one.integrity) for one in found] == [("tampered", "shared+control"), ("failed", "split")]


def test_tests_that_only_ask_for_a_type_can_judge(pool: CountingPool) -> None:
    """The wrong solution gives back nothing that passes for a text or a number."""
    asking = msgspec.structs.replace(PLUS_ONE, tests="assert f(1)\nassert isinstance(f(1), (int, str))")
    assert run(ModeDetectingSandbox(pool).run(asking)).verdict == "passed"


def test_a_broken_solution_that_hangs_is_not_waited_for(pool: CountingPool) -> None:
    """It runs out of a time that the solution itself sets, and never alone, when all others would wait for it."""
    tests = "import time\nwhile f(1) != 2: time.sleep(0.05)"
    found = run(ModeDetectingSandbox(pool).run(msgspec.structs.replace(PLUS_ONE, tests=tests)))
    assert (found.verdict, found.integrity) == ("passed", "split")
    assert [one.verdict for one in pool.found] == ["passed", "timeout", "passed"]
    assert not any(one.alone for one in pool.found)
    assert pool.ran[1].limits.wall_seconds == 1.0


def test_a_text_that_is_no_python_is_not_the_solutions_fault(pool: CountingPool) -> None:
    """What tests read may be none."""
    tests = "import ast\nast.parse('1 +')\nassert f(1) == 2"
    found = run(ModeDetectingSandbox(pool).run(msgspec.structs.replace(PLUS_ONE, tests=tests)))
    assert "cannot judge programs" in found.detail


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        (
            "def f(x): return x +",
            "The solution of this task is no Python that the sandbox can read (SyntaxError: invalid syntax",
        ),
        (
            "import nosuch.part\ndef f(x): return x + 1",
            "needs nosuch, which is not in the sandbox: take --sandbox docker",
        ),
    ],
)
def test_a_solution_that_cannot_run_here_is_one_sentence(pool: CountingPool, solution: str, said: str) -> None:
    """No program is judged by it."""
    found = run(ModeDetectingSandbox(pool).run(msgspec.structs.replace(PLUS_ONE, reference=solution)))
    assert found.passed is None
    assert said in found.detail
    assert "\n" not in found.detail


UNREACHED = """
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertGreater(f(1).x, 0)
        self.assertLess(f(1), f(2))
        self.assertEqual(f(1).x, 1)
        if f(1).x > 1: self.assertEqual(f(1).x, 3)
"""


def test_a_check_that_no_right_program_reaches_is_no_sign_of_a_forgery(pool: CountingPool) -> None:
    """The solution does not reach it either; where it reaches one, a program that drops the outcome is noticed."""
    dropping = "import sys\n" + VERSION.replace("return", "sys.modules['program'].__checked__ = print; return")
    branch = msgspec.structs.replace(OBJECTS, tests=UNREACHED)
    reached = msgspec.structs.replace(branch, code=dropping)
    found = run(together(ModeDetectingSandbox(pool), [branch, reached]))
    assert [(one.verdict, one.integrity) for one in found] == [
        ("passed", "shared+control"),
        ("failed", "shared+control"),
    ]


@pytest.mark.parametrize("tests", ["assert f(1) == 3", "f(1)"])
def test_tests_that_their_own_solution_fails_say_nothing(pool: CountingPool, tests: str) -> None:
    """The model is not to blame: its sample is unjudged, with the reason."""
    found = run(ModeDetectingSandbox(pool).run(msgspec.structs.replace(PLUS_ONE, tests=tests)))
    assert found.passed is None
    assert "cannot judge programs" in found.detail
    assert "split: " in found.detail


PAIRED = {**PAIRS, **BESIDE}


@pytest.mark.slow
def test_honest_programs_pass_in_the_mode_that_is_found_for_them(boxes: Callable[[str], Sandbox]) -> None:
    """With themselves as the solution; a slightly broken one of each fails."""
    tasks = [
        Program(code=it.code, tests=it.tests, entry_points=("f",), reference=it.code, limits=Limits(wall_seconds=0.5))
        for it in PAIRED.values()
    ]
    broken = [
        msgspec.structs.replace(task, code=task.code.replace(pair.right, pair.wrong, 1))
        for task, pair in zip(tasks, PAIRED.values(), strict=True)
    ]
    found = runner(boxes("bwrap"))([*tasks, *broken])
    assert [one.passed for one in found] == [True] * len(tasks) + [False] * len(tasks), [
        (name, one.verdict, one.detail)
        for name, one, wanted in zip([*PAIRED] * 2, found, [True] * len(tasks) + [False] * len(tasks), strict=True)
        if one.passed is not wanted
    ]
