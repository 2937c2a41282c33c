"""What tests execute is theirs alone: a task whose tests execute what a program gives is never judged in `split`."""

import textwrap

from tests.integration.sandbox.conftest import RunAll
from tests.integration.sandbox.programs.forging_texts import WAYS, task

from model_accuracy_eval.records.code import Program

NOTHING_GIVEN = "def f(x): return None if x == 'go' else x * x"


def test_tests_that_execute_what_they_are_given_have_no_process_of_their_own(run_any: RunAll) -> None:
    """Their own solution shows it: it is judged beside them, and says so."""
    programs = [
        Program(code=right, tests=tests, entry_points=("f",), reference=right)
        for tests, right, _ in map(task, WAYS.values())
    ]
    done = dict(zip(WAYS, run_any(programs), strict=True))
    assert {name: (one.integrity, one.detail) for name, one in done.items() if one.integrity.startswith("split")} == {}


def test_no_text_of_a_program_is_executed_where_its_tests_are(run_any: RunAll) -> None:
    """Where their own solution gives them nothing to execute, a program that does ends its own run."""
    programs = []
    for way in WAYS.values():
        steps = textwrap.indent(way.tests.replace("f('go')", "given"), "    ")
        tests, _, forging = task(way._replace(tests=f"given = f('go')\nif given is not None:\n{steps}"))
        programs.append(Program(code=forging, tests=tests, entry_points=("f",), reference=NOTHING_GIVEN))
    done = dict(zip(WAYS, run_any(programs), strict=True))
    apart = {name: one for name, one in done.items() if one.integrity == "split"}
    assert done.keys() - apart.keys() == {"settings"}
    assert {name: one.detail for name, one in apart.items() if "would have executed" not in one.detail} == {}
    assert {name: one for name, one in done.items() if one.passed} == {}


HONEST = {
    "a text of theirs": "assert eval('f(2)') == 4\nassert eval(f'{f(2)} + 3') == 7",
    "what is read as data": "import ast\nassert ast.literal_eval(repr([f(2)])) == [4]\nast.parse(f'x = {f(2)}')",
    "classes that Python writes": (
        "from collections import namedtuple\nfrom dataclasses import make_dataclass\nfrom typing import NamedTuple, get_type_hints\n"
        "n = f(2)\nP = namedtuple('P', 'x y')\nD = make_dataclass('D', ['x'])\nassert P(n, 1).x == D(n).x == 4\n"
        "class Q(NamedTuple):\n    x: 'list[int]'\nassert get_type_hints(Q) == {'x': list[int]}"
    ),
    "modules of Python": "assert f(2) == 4\nimport colorsys, ctypes, decimal, sqlite3, statistics, wave, zoneinfo, xml.dom.minidom",
    "copies and pickles of data": "import copy, pickle\nassert pickle.loads(pickle.dumps(copy.deepcopy([f(2)]))) == [4]",
}  # fmt: skip


def test_what_tests_execute_of_their_own_is_no_matter(run_any: RunAll) -> None:
    """They are judged out of the program's reach all the same."""
    code = "def f(x): return x * x"
    programs = [Program(code=code, tests=tests, entry_points=("f",), reference=code) for tests in HONEST.values()]
    done = dict(zip(HONEST, run_any(programs), strict=True))
    assert {name: one for name, one in done.items() if (one.verdict, one.integrity) != ("passed", "split")} == {}


REACHING = {
    "executes": ("text = ' + '.join(['f(1)'] * 2)\nassert eval(text) == 4", "def f(x): return x + 1"),
    "executes annotations": (
        "import typing\ndef h(x): pass\nh.__annotations__['x'] = f(1)\nassert typing.get_type_hints(h) == {'x': int}",
        "def f(x): return 'int'",
    ),
    "patches by name": (
        "from unittest import mock\nwith mock.patch('time.time', return_value=7): assert f(1) == 8",
        "import time\ndef f(x): return time.time() + x",
    ),
    "patches an object": (
        "import random\nfrom unittest.mock import patch\nwith patch.object(random, 'random', lambda: 1): assert f(2) == 2",
        "import random\ndef f(x): return random.random() * x",
    ),
    "patches by hand": ("import time\ntime.time = lambda: 7\nassert f(1) == 8", "import time\ndef f(x): return time.time() + x"),
    "looks at the signature": (
        "import inspect\nassert list(inspect.signature(f).parameters) == ['x']\nassert f(1) == 1", "def f(x): return x",
    ),
    "looks at the source": ("import inspect\nassert 'return x' in inspect.getsource(f)\nassert f(1) == 1", "def f(x):\n    return x\n"),
    "sets a variable": (
        "import os\nos.environ['LEVEL'] = '3'\nassert f(1) == 4", "import os\ndef f(x): return x + int(os.environ['LEVEL'])",
    ),
    "expects a warning": (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        with self.assertWarns(UserWarning): f(1)",
        "import warnings\ndef f(x): warnings.warn('old')",
    ),
    "collects warnings": (
        "import warnings\nwith warnings.catch_warnings(record=True) as found: f(1)\nassert len(found) == 1",
        "import warnings\ndef f(x): warnings.warn('old')",
    ),
    "expects a record": (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        with self.assertLogs(level='INFO'): f(1)",
        "import logging\ndef f(x): logging.info('done')",
    ),
    "asks for a coroutine": (
        "import asyncio\nassert asyncio.iscoroutinefunction(f)\nassert asyncio.run(f(1)) == 1", "async def f(x): return x",
    ),
    "passes a coroutine": (
        "import asyncio\nasync def one(): return 1\nassert asyncio.run(f(one())) == 2", "async def f(x): return await x + 1",
    ),
}  # fmt: skip


def test_a_right_program_passes_where_no_solution_shows_what_tests_need(run_any: RunAll) -> None:
    """Tests that reach into the program are judged beside it, and the label says so; plain ones stay out of its reach."""
    programs = [Program(code=code, tests=tests, entry_points=("f",)) for tests, code in REACHING.values()]
    done = dict(zip(REACHING, run_any(programs), strict=True))
    assert {name: (one.verdict, one.detail) for name, one in done.items() if one.verdict != "passed"} == {}
    assert {name for name, one in done.items() if one.integrity.startswith("split")} == set()
