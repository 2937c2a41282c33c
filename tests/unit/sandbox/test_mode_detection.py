"""Trouble of the machine is never taken for what a task's own solution says."""

import asyncio

import pytest
from msgspec import structs
from tests.fake_ports import ScriptedSandbox

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records.code import Execution, Isolation, Program
from model_accuracy_eval.sandbox.mode_detection import ModeDetectingSandbox, detect_mode
from model_accuracy_eval.sandbox.pool import WorkerPool

RIGHT = Program(code="def f(x): return x", tests="assert f(1) == 1", reference="def f(x): return x")


@pytest.mark.parametrize("unknown", ["return x", "return ..."])
def test_no_mode_follows_from_trouble(unknown: str) -> None:
    """A solution, or a wrong one, that could not be judged apart from its tests is not judged beside them instead."""
    sandbox = ScriptedSandbox(
        lambda program: "harness_error" if unknown in program.code and program.mode == "split" else "passed"
    )
    with pytest.raises(BadData, match="It is not known in which mode this task is judged"):
        asyncio.run(detect_mode(lambda program, **_: sandbox.run(program), "this task", RIGHT))
    assert {program.mode for program in sandbox.programs} == {"split"}


class ScriptedPool(WorkerPool):
    """A pool that runs nothing: it has its verdicts ready."""

    isolation: Isolation = "none"
    image = "no image"
    passed_over: tuple[str, ...] = ()

    def __init__(self, *verdicts: str) -> None:
        self._verdicts = list(verdicts)

    async def run(self, program: Program, *, once: bool = False) -> Execution:
        return Execution(verdict=self._verdicts.pop(0), isolation="none", integrity="exit code")  # type: ignore[arg-type]


def test_a_solution_that_could_not_be_judged_runs_again() -> None:
    """For the next program; what it says then is kept."""
    sandbox = ModeDetectingSandbox(ScriptedPool("failed", "harness_error", "failed", "passed", "failed"))
    program = structs.replace(RIGHT, language="go")
    verdicts = [asyncio.run(sandbox.run(program)).verdict for _ in range(3)]
    assert verdicts == ["harness_error", "failed", "failed"]
