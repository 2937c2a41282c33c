"""What a control run says, and what it does not."""

import pytest
from msgspec import structs

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.inside.messages import CheckOutcome, JobResult
from model_accuracy_eval.sandbox.judging_modes import judge

PROGRAM = Program(code="def f(x): return x", tests="assert f(1) == 1", mode="shared")
PASSED = JobResult(
    number=1, verdict="passed", detail="", checks=[], wall_seconds=0.1, limit_seconds=10.0, cpu_seconds=0.1,
    waited_seconds=0.0, memory_kb=1, output="", output_bytes=0, clean=True, doubtful=False, starved=False,
)  # fmt: skip
FAILED_CHECK, MET_CHECK = CheckOutcome(1, False), CheckOutcome(1, True)


class AnsweringWorker:
    """A worker that has its results ready."""

    def __init__(self, *results: JobResult) -> None:
        self._results = list(results)

    def run(self, *_order: object) -> JobResult:
        return self._results.pop(0)


@pytest.mark.parametrize(
    ("control", "verdict"),
    [
        (PASSED._replace(verdict="failed", checks=[FAILED_CHECK]), "passed"),
        (PASSED._replace(verdict="timeout", starved=True, cpu_seconds=3.0), "timeout"),
        (PASSED._replace(verdict="timeout", checks=[MET_CHECK]), "tampered"),
        (PASSED._replace(verdict="exited"), "tampered"),
        (PASSED._replace(verdict="passed"), "tampered"),
    ],
)
def test_a_control_run_without_time_accuses_nobody(control: JobResult, verdict: str) -> None:
    """It is no pass either; a program that met a wrong expectation, or got away from it, has tampered."""
    worker = AnsweringWorker(PASSED, control)
    judged = judge(worker, PROGRAM)  # type: ignore[arg-type]
    assert judged.result.verdict == verdict
    if verdict == "timeout":
        assert judged.result == control  # with its times: they say whether the machine is to blame


def test_a_solution_that_was_starved_lowers_no_integrity() -> None:
    """Whether the task's own solution reaches the checks is not known, so it is not known how sure the pass is."""
    starved = PASSED._replace(verdict="timeout", starved=True)
    program = structs.replace(PROGRAM, reference=PROGRAM.code)
    judged = judge(AnsweringWorker(PASSED, PASSED._replace(verdict="failed"), starved), program)  # type: ignore[arg-type]
    assert (judged.result, judged.integrity) == (starved, "shared+control")


@pytest.mark.parametrize("verdict", ["harness_error", "tampered", "perfect", "ready"])
def test_a_verdict_that_no_tests_give_is_an_error(verdict: str) -> None:
    """A program that forges the report of its tests gains nothing by a word of ours."""
    judged = judge(AnsweringWorker(PASSED._replace(verdict=verdict)), PROGRAM)  # type: ignore[arg-type]
    assert judged.result.verdict == "error"
