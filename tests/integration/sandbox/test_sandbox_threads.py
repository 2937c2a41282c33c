"""Threads of the tests and of the program talk at the same time: each gets its own answers, in whatever order they run."""

import pytest
from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.records.code import Limits, Program

THREADS = "from concurrent.futures import ThreadPoolExecutor\n"
PROGRAMS = {
    "the program's threads call a function of the tests": (
        f"{THREADS}def f(g, xs):\n    with ThreadPoolExecutor(4) as pool: return list(pool.map(g, xs))",
        "def g(x): return x * x\nassert f(g, [1, 2, 3, 4, 5, 6]) == [1, 4, 9, 16, 25, 36]",
    ),
    "which calls one of theirs": (
        f"{THREADS}def f(g, xs):\n    with ThreadPoolExecutor(4) as p: return list(p.map(lambda x: g(lambda y: y + x, x), xs))",
        "def g(h, x): return h(x) + h(0)\nassert f(g, [1, 2, 3, 4, 5, 6]) == [3, 6, 9, 12, 15, 18]",
    ),
    "threads of the tests call a function of the program": (
        "def f(pool, xs): return list(pool.map(lambda x: x * x, xs)) + [pool.submit(pow, 2, 3).result()]",
        f"{THREADS}with ThreadPoolExecutor(2) as pool: assert f(pool, [1, 2, 3]) == [1, 4, 9, 8]",
    ),
    "which calls one of the tests": (
        "def f(pool, g, xs): return list(pool.map(lambda x: g(x) + 1, xs))",
        f"{THREADS}with ThreadPoolExecutor(4) as pool: assert f(pool, lambda x: x * x, [1, 2, 3, 4, 5]) == [2, 5, 10, 17, 26]",
    ),
    "and changes a list": (
        "def f(pool, g, xs):\n    found = []\n    for one in [pool.submit(lambda x: found.append(g(x)), x) for x in xs]: one.result()\n    return sorted(found)",
        f"{THREADS}with ThreadPoolExecutor(4) as pool: assert f(pool, lambda x: x * x, [1, 2, 3, 4, 5]) == [1, 4, 9, 16, 25]",
    ),
    "threads of the tests call the program at once": (
        "def f(g, x): return g(x) + 1",
        f"{THREADS}with ThreadPoolExecutor(4) as pool: assert list(pool.map(lambda x: f(lambda y: y * y, x), [1, 2, 3, 4, 5])) == [2, 5, 10, 17, 26]",
    ),
}
TIMES = 40
"""Without order one run in three to one in thirty was wrong, by the program."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_answer_goes_to_another_thread(name: str, strongest: RunAll) -> None:
    """A right program passes whenever it runs, at the first attempt."""
    code, tests = PROGRAMS[name]
    program = Program(code=code, tests=tests, entry_points=("f",), mode="split", limits=Limits(wall_seconds=6.0))
    done = strongest([program] * TIMES)
    assert {(one.verdict, one.integrity, one.attempts, one.detail) for one in done} == {("passed", "split", 1, "")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_wrong_one_among_the_threads_fails(name: str, strongest: RunAll) -> None:
    code, tests = PROGRAMS[name]
    program = Program(code=code, tests=tests.replace("[1, 4, 9", "[1, 4, 8").replace("[2, 5, 10", "[2, 5, 11").replace("[3, 6, 9", "[3, 6, 8"),
                      entry_points=("f",), mode="split", limits=Limits(wall_seconds=6.0))  # fmt: skip
    assert {one.verdict for one in strongest([program] * 5)} == {"failed"}
