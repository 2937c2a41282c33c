"""Threads of the tests call the program at the same time: each gets its own answers, in whatever order they run."""

from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.records.code import Limits, Program

CODE = "seen = []\ndef f(x):\n    seen.append(x)\n    return x * x + 1"
TESTS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(f, [1, 2, 3, 4, 5])) == [2, 5, 10, 17, 26]
"""
TIMES = 40
"""Without order one run in three to one in thirty was wrong."""


def test_no_answer_goes_to_another_thread(run_any: RunAll) -> None:
    """A right program passes whenever it runs, at the first attempt; a wrong one fails."""
    right = Program(code=CODE, tests=TESTS, entry_points=("f",), limits=Limits(wall_seconds=6.0))
    wrong = Program(code=CODE.replace("+ 1", "+ 2"), tests=TESTS, entry_points=("f",))
    *done, failed = run_any([right] * TIMES + [wrong])
    assert {(one.verdict, one.integrity, one.attempts, one.detail) for one in done} == {("passed", "split", 1, "")}
    assert failed.verdict == "failed"
