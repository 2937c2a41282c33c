"""The real HumanEval and MBPP: what is right passes, what is wrong fails, and the mode of a task is found."""

import msgspec
import pytest
from tests.integration.sandbox.benchmarks import damaged, mbpp, plainly, spoiled
from tests.integration.sandbox.conftest import RunAll
from tests.sandboxed import EVERY


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
