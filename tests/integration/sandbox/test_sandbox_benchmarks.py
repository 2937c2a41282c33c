"""Damaged solutions of MBPP get the verdicts of plain Python, and the mode of a task is found."""

from typing import Any

import msgspec
import pytest
from tests.integration.sandbox.benchmarks import damaged, mbpp, plainly
from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.sandbox.mode_detection import BREAK_ALL, BREAK_FUNCTIONS


@pytest.mark.parametrize("mode", ["split", pytest.param("shared", marks=pytest.mark.slow)])
def test_verdicts_are_those_of_plain_python(mode: str, run_any: RunAll) -> None:
    """Damaged solutions of MBPP, one by one; a damage that does no harm passes in both."""
    programs = [msgspec.structs.replace(damaged(one), mode=mode) for one in list(mbpp().values())[:80]]
    expected = [plainly(one) for one in programs]
    assert [done.passed for done in run_any(programs)] == expected


@pytest.mark.parametrize("breaking", [BREAK_FUNCTIONS, BREAK_ALL])
def test_a_broken_solution_is_still_a_program(breaking: str) -> None:
    """What creates objects stays, and nothing of its own answers: no method, lambda or function that was imported."""
    code = (
        "from math import gcd\nfrom functools import lru_cache\nclass A:\n    def __init__(self, *_): self.x = 1\n"
        "    def get(self): return 1\n    @property\n    def size(self): return 1\n    @staticmethod\n    def make(): return A()\n"
        "@lru_cache\ndef f(a, *, b=2): return a\ng = lambda x: x\nf(3)\n"
    )
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(code + breaking.format(names=("g", "gcd")), "program.py", "exec"), names)
    assert isinstance(names["A"](1), names["A"])
    assert {names["f"](1), names["g"](2)} == {...}
    if breaking is BREAK_FUNCTIONS:
        assert (names["A"]().x, names["A"]().get(), names["A"]().size, names["A"].make()) == (1, ..., ..., ...)
    else:
        assert names["gcd"](4, 6) is ...
