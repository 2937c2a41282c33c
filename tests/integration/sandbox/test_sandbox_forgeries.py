"""Programs that solve nothing do not pass, whether they share a process with their tests or not."""

import msgspec
import pytest
from tests.integration.sandbox.conftest import RunAll
from tests.integration.sandbox.programs.forging_any_task import FORGERIES, forged

from model_accuracy_eval.records.code import Limits, Program

ASSERTS = "import math\ndef check(f):\n    assert f(2) == 4\n    assert math.isclose(f(3), 9)\ncheck(f)\n"
UNITS = """
import unittest
class TestSquares(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(f(2), 4)
        self.assertIsInstance(f(3), int)
    def test_large(self):
        found = f(1000)
        self.assertTrue(found > 999)
        self.assertEqual(found, 10 ** 6)
"""
SOLUTION = "def f(x):\n    return x * x\n"
TASKS = {
    f"{mode}, {kind}": Program(
        code=SOLUTION, tests=tests, entry_points=("f",), mode=mode, limits=Limits(wall_seconds=5.0)
    )
    for mode in ("split", "shared")
    for kind, tests in (("asserts", ASSERTS), ("unit tests", UNITS))
}


@pytest.mark.parametrize("task", TASKS)
def test_no_forgery_passes(task: str, run_any: RunAll) -> None:
    """The solution does, so there is something to be gained."""
    programs = {name: msgspec.structs.replace(TASKS[task], code=forged(name, "f")) for name in FORGERIES}
    solution, *forgeries = run_any([TASKS[task], *programs.values()])
    assert solution.passed, solution
    assert {name: one for name, one in zip(programs, forgeries, strict=True) if one.passed is not False} == {}


HARMLESS = {
    "skips when it may": "@unittest.skipUnless(f(1) == 2, 'not here')\n    def test(self): self.assertEqual(f(2), 4)",
    "skips itself": "def test(self): self.skipTest('not today')",
    "succeeds where it must fail": "@unittest.expectedFailure\n    def test(self): self.assertEqual(f(2), 4)",
    "fails in a part": "def test(self):\n        for n in (1, 2):\n            with self.subTest(n): self.assertEqual(f(n), 1)",
}
FITTING = {
    "fails where it must": "@unittest.expectedFailure\n    def test(self): self.assertEqual(f(2), 5)",
    "has parts": "def test(self):\n        for n in (1, 2):\n            with self.subTest(n): self.assertEqual(f(n), n * n)",
    "returns early": "def test(self):\n        self.assertEqual(f(2), 4)\n        if f(1): return\n        self.fail()",
    "runs a coroutine": "async def test(self): self.assertEqual(f(2), 4)",
}


@pytest.mark.parametrize("mode", ["split", "shared"])
def test_what_unittest_calls_a_success_is_not_always_one(mode: str, run_any: RunAll) -> None:
    """A skipped test is no pass, an expected failure is one, and each part of a test counts."""
    forms = {**HARMLESS, **FITTING}
    programs = [
        msgspec.structs.replace(
            TASKS["split, asserts"],
            tests=f"import unittest\nclass TestSquares(unittest.IsolatedAsyncioTestCase):\n    {form}\n",
            mode=mode,
        )
        for form in forms.values()
    ]
    found = {name: one.passed for name, one in zip(forms, run_any(programs), strict=True)}
    assert found == {**dict.fromkeys(HARMLESS, False), **dict.fromkeys(FITTING, True)}


def test_a_test_that_the_solution_skips_may_be_skipped(run_any: RunAll) -> None:
    """Where the task has a solution, it says which tests run to their end."""
    tests = f"{UNITS}    @unittest.skip('nothing to see')\n    def test_nothing(self): pass\n"
    program = msgspec.structs.replace(TASKS["shared, unit tests"], tests=tests, reference=SOLUTION)
    assert [one.passed for one in run_any([program])] == [True]
