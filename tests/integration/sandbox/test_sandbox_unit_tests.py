"""Unit tests in a process of their own: what they share with the program in plain Python is there in both."""

import pytest
from tests.integration.sandbox.conftest import RunAll
from tests.sandboxed import EVERY, lacks
from tests.sandboxed import run_all as run_all_on

from model_accuracy_eval.records.code import Limits, Program

LIBRARIES = "mae-bigcodebench"
LIMITS = Limits(wall_seconds=60.0, memory_mb=2048)

CASE = "import unittest\n{imports}\nclass TestF(unittest.TestCase):\n    def test(self):\n        {body}\n"

NEEDS_LIBRARIES = pytest.mark.skipif(
    not EVERY or lacks(LIBRARIES) is not None, reason=f"REFERENCES=all is not set, or there is no image {LIBRARIES}"
)


def program(code: str, body: str, imports: str = "", helpers: str = "") -> Program:
    return Program(code=code, tests=CASE.format(imports=imports, body=body), entry_points=("f",), helpers=helpers)


FITTING = {
    "what the tests import": program(
        "def f(x): return math.sqrt(x)", "self.assertEqual(f(4), 2)", imports="import math"
    ),
    "what the task gives": program(
        "LIMIT = 3\ndef f(x): return min(x, LIMIT)", "self.assertEqual(f(LIMIT + 1), LIMIT)", helpers="LIMIT = 3"
    ),
    "seeds": program(
        "import random\ndef f(): return [random.random() for _ in range(3)]",
        "random.seed(7); found = f(); more = f(); random.seed(7)\n"
        "        self.assertEqual(found + more, [random.random() for _ in range(6)])",
        imports="import random",
    ),
    "files": program(
        "def f(name):\n    with open(name) as file: text = file.read()\n    with open(name, 'w') as file: file.write(text * 2)",
        "open('a.txt', 'w').write('ab'); f('a.txt'); self.assertEqual(open('a.txt').read(), 'abab')",
    ),
    "objects of a known class": program(
        "import logging, re\ndef f(x): return [re.match('a', x), logging.getLogger(x)]",
        "found = f('ab'); self.assertIsInstance(found[0], re.Match); self.assertIsInstance(found[1], logging.Logger)\n"
        "        self.assertNotIsInstance(found[1], re.Match); self.assertEqual(found[1].name, 'ab')",
        imports="import logging, re",
    ),
}
WANTING = {
    "what the task gives is not the program's": program(
        "LIMIT = 0\ndef f(x): return 0", "self.assertEqual(f(LIMIT + 1), LIMIT)", helpers="LIMIT = 3"
    ),
    "a program chooses no seed for the tests": program(
        "import random\ndef f():\n    random.seed(1)\n    return random.random()",
        "random.seed(7); self.assertEqual(f(), random.random())",
        imports="import random",
    ),
    "no object claims to be plain data": program(
        "class C:\n    pass\nC.__name__ = C.__qualname__ = 'Decimal'\nC.__module__ = 'decimal'\ndef f(): return C()",
        "self.assertIsInstance(f(), decimal.Decimal)",
        imports="import decimal",
    ),
}
DECIDING = {
    "a comparison by name": program(
        "class C:\n    equals = lambda *_: True\ndef f(): return C()", "self.assertTrue(f().equals([1, 2]))"
    ),
}


def test_both_processes_have_what_they_would_share(kind: str, run_all: RunAll) -> None:
    """Imports, the task's own names, seeds and files; none of them lets a program through that is wrong."""
    programs = {**FITTING, **WANTING, **DECIDING}
    found = {name: one.verdict for name, one in zip(programs, run_all(programs.values()), strict=True)}
    # Two users may not write to each other's files: there, such a task is judged in one process.
    files = {"files": "error"} if kind == "uid" else {}
    assert found == {
        **dict.fromkeys(FITTING, "passed"),
        **dict.fromkeys(WANTING, "failed"),
        **dict.fromkeys(DECIDING, "tampered"),
        **files,
    }


def test_a_difference_between_large_values_costs_nothing(run_all: RunAll) -> None:
    """unittest would compare all numbers with all others, line by line, for minutes; so in control runs."""
    code = (
        "import random\ndef f(seed):\n    r = random.Random(seed)\n    return {str(n): r.random() for n in range(5000)}"
    )
    body = "self.assertEqual(f(1), f(1)); self.assertNotEqual(f(1), f({other}))"
    found = run_all([program(code, body.format(other=other)) for other in (2, 1)])
    wrong = run_all([program(code, "self.assertEqual(f(1), f(2))")])
    assert [one.verdict for one in found + wrong] == ["passed", "failed", "failed"]


def test_files_of_the_tests_are_gone_before_the_next_program(run_all: RunAll) -> None:
    """Also where they belong to another user than the program's."""
    leaving = program("def f(): pass", "f(); open('left.txt', 'w').write('something')")
    looking = program("import os\ndef f(): return os.path.exists('left.txt')", "self.assertEqual(f(), False)")
    assert [one.verdict for one in run_all([leaving, looking, leaving, looking])] == ["passed"] * 4


ARRAYS = """
import unittest, numpy as np, pandas as pd
class TestF(unittest.TestCase):
    def test(self):
        table = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"]}, index=pd.date_range("2020", periods=2, tz="UTC"))
        pd.testing.assert_frame_equal(f(table), table)
        for value in (np.arange(6).reshape(2, 3), np.array(["a", None], object), np.float32(0.1), np.datetime64("2020-01-01")):
            np.testing.assert_array_equal(f(value), value)
            self.assertIs(type(f(value)), type(value))
        array = np.zeros(3)
        f(array, change=True)
        self.assertEqual(array.tolist(), [9, 0, 0])
"""
HONEST_ARRAYS = "def f(it, change=False):\n    if change: it[0] = 9\n    return it\n"
LYING_ARRAYS = """
import numpy as np, pandas as pd
class Array(np.ndarray):
    __eq__ = lambda *_: np.True_
class Frame(pd.DataFrame):
    equals = lambda *_: True
def f(it, change=False):
    if change: it[0] = 9
    return Frame({"a": [1]}) if isinstance(it, pd.DataFrame) else np.zeros(3).view(Array)
"""


@NEEDS_LIBRARIES
def test_arrays_and_tables_cross_as_data() -> None:
    """With their types, indexes and changes in place; classes that a program derives from them do not."""
    programs = [
        Program(code=code, tests=ARRAYS, entry_points=("f",), limits=LIMITS) for code in (HONEST_ARRAYS, LYING_ARRAYS)
    ]
    honest, lying = run_all_on("docker", programs, LIBRARIES)
    assert (honest.verdict, honest.integrity) == ("passed", "split"), honest
    assert lying.passed is False
