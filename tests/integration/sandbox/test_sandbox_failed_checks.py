"""What a finding says about the check that failed, in either mode."""

import pytest
from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.records.code import Mode, Program

SQUARE = "def f(x): return x + 3"
UNITS = "import unittest\nclass TestF(unittest.TestCase):\n    def test_two(self):\n        {}"
FAILING = {
    "assert f(2) == 4": "assert f(2) == 4: got 5, expected 4 (line 1",
    "assert 4 == f(2), 'four'": "four: assert 4 == f(2), 'four': got 5, expected 4 (line 1",
    "assert not f(2)": "assert not f(2): got False (line 1",
    "x = [f(n) for n in (1, 2)]\nassert [1, 4] == x": "assert [1, 4] == x: got [4, 5], expected [1, 4] (line 2",
    "def check(g):\n    assert g(2) > 7\ncheck(f)": "assert g(2) > 7: got 5, expected 7 (line 2",
    UNITS.format("self.assertEqual(f(2), 4)"): "5 != 4 (line 4",
}


@pytest.mark.parametrize("mode", ["split", "shared"])
def test_a_failed_check_shows_what_it_compared(mode: Mode, run_any: RunAll) -> None:
    """The statement, both values, and the line; of two values, the one that is written out is the expected one."""
    programs = [Program(code=SQUARE, tests=tests, entry_points=("f",), mode=mode) for tests in FAILING]
    for (tests, told), done in zip(FAILING.items(), run_any(programs), strict=True):
        assert done.verdict == "failed"
        test = "test_two: " if "unittest" in tests else ""
        assert done.detail == f"{test}AssertionError: {told} of the tests)"


HOSTILE = {
    "class A:\n    def __repr__(self): raise SystemExit\n    def __eq__(self, _): return False\n": "an object of type A",
    "class A(int):\n    def __repr__(self): return 'x' * 10 ** 9\n": "",
    "def A(): return 'x' * 10 ** 6\n": f"'{'x' * 299}…",
    "def A(): return 10 ** 10 ** 4\n": "a number of very many digits",
    "def A():\n    it = []\n    it.append(it)\n    return it\n": "an object of type list",
}


@pytest.mark.parametrize("mode", ["split", "shared"])
def test_no_object_is_asked_for_its_text(mode: Mode, run_any: RunAll) -> None:
    """It might be long, loop, or end the process; plain data is cut."""
    programs = [
        Program(code=f"{code}def f(): return A()", tests="assert f() == 1", entry_points=("f",), mode=mode)
        for code in HOSTILE
    ]
    for done, wanted in zip(run_any(programs), HOSTILE.values(), strict=True):
        assert done.passed is False
        assert len(done.detail) < 1000
        if mode == "shared" and wanted:
            assert f": got {wanted}, expected 1 (line 1" in done.detail


def test_an_error_has_its_line(run_any: RunAll) -> None:
    """Where the tests were when the program raised it."""
    (done,) = run_any([Program(code="def f(x): return 1 / x", tests="assert f(1) == 1\nassert f(0) == 1")])
    assert done.verdict == "error"
    assert done.detail.endswith("(line 2 of the tests)")


def test_the_end_of_a_long_output_is_kept(run_any: RunAll) -> None:
    """That is where a traceback says what happened."""
    code = "import sys\ndef f(x):\n    print('y' * 9000)\n    sys.stderr.write('the end')\n    return x"
    (done,) = run_any([Program(code=code, tests="assert f(1) == 2")])
    assert (len(done.output), len(done.output_end)) == (4096, 1024)
    assert done.output_end.endswith("the end")
