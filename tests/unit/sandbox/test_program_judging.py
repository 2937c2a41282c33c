"""What a control run says, and what it does not."""

import pytest
from msgspec import structs

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.inside.messages import NOT_DATA, CheckOutcome, JobOrder, JobResult
from model_accuracy_eval.sandbox.inside.tests_ends import CHECKED
from model_accuracy_eval.sandbox.program_judging import judge

PROGRAM = Program(code="def f(x): return x", tests="assert f(1) == 1", mode="shared")
PASSED = JobResult(
    verdict="passed", detail="", checks=[], wall_seconds=0.1, limit_seconds=10.0, cpu_seconds=0.1,
    waited_seconds=0.0, memory_kb=1, output="", output_bytes=0, clean=True, doubtful=False, starved=False,
)  # fmt: skip
STARVED = PASSED._replace(verdict="timeout", starved=True, cpu_seconds=3.0)
RIGHT = "right"
Answer = JobResult | str


class AnsweringWorker:
    """A worker that has its results ready; `RIGHT` stands for what the tests report of a right program."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)

    def run(self, order: JobOrder, tests: str, _program: Program) -> JobResult:
        answer = self._answers.pop(0)
        if isinstance(answer, JobResult):
            return answer
        found = [CheckOutcome(number, True) for number in order.ends]

        def f(x: int) -> int:
            return x

        exec(tests, {"f": f, CHECKED: lambda *outcome: found.append(CheckOutcome(*outcome))})
        return PASSED._replace(checks=found)


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ([RIGHT, RIGHT, RIGHT], "passed"),
        ([RIGHT, RIGHT, PASSED, RIGHT], "passed"),  # once is no proof: programs may draw lots
        ([RIGHT, RIGHT, PASSED, PASSED], "tampered"),
        ([RIGHT, RIGHT, PASSED._replace(verdict="exited"), PASSED], "tampered"),
        ([PASSED], "failed"),
        ([RIGHT, STARVED], "timeout"),
        ([RIGHT, RIGHT, STARVED], "timeout"),
    ],
)
def test_a_pass_is_believed_after_two_control_runs(answers: list[Answer], verdict: str) -> None:
    """Tests whose end was not seen, and checks that do not answer, speak against it; a lack of time accuses nobody."""
    judged = judge(AnsweringWorker(*answers), PROGRAM)  # type: ignore[arg-type]
    assert (judged.result.verdict, judged.integrity) == (verdict, "shared+control")
    if verdict == "timeout":
        assert judged.result == STARVED  # with its times: they say whether the machine is to blame


def test_a_solution_that_was_starved_lowers_no_integrity() -> None:
    """Whether the task's own solution reaches the checks is not known, so it is not known how sure the pass is."""
    program = structs.replace(PROGRAM, reference=PROGRAM.code)
    judged = judge(AnsweringWorker(RIGHT, PASSED, STARVED), program)  # type: ignore[arg-type]
    assert (judged.result, judged.integrity) == (STARVED, "shared+control")


def test_what_the_solution_does_not_reach_need_not_be_reached() -> None:
    """Neither an end nor a check; then there was no control, and the label says so."""
    program = structs.replace(PROGRAM, reference=PROGRAM.code)
    judged = judge(AnsweringWorker(*[PASSED] * 6), program)  # type: ignore[arg-type]
    assert (judged.result.verdict, judged.integrity) == ("passed", "shared")


@pytest.mark.parametrize("verdict", ["harness_error", "tampered", "perfect", "ready", NOT_DATA])
def test_a_verdict_that_no_tests_give_is_an_error(verdict: str) -> None:
    """A program that forges the report of its tests gains nothing by a word of ours."""
    judged = judge(AnsweringWorker(PASSED._replace(verdict=verdict)), PROGRAM)  # type: ignore[arg-type]
    assert judged.result.verdict == "error"


@pytest.mark.parametrize(
    ("answers", "verdict"), [([RIGHT, RIGHT, RIGHT], "passed"), ([RIGHT, PASSED, PASSED], "tampered")]
)
def test_what_is_no_data_is_judged_again_beside_its_tests(answers: list[Answer], verdict: str) -> None:
    """It is doubted there, and the detail says why it was there."""
    given = PASSED._replace(verdict=NOT_DATA, detail="an object of type generator")
    program = structs.replace(PROGRAM, mode="split")
    judged = judge(AnsweringWorker(given, *answers), program)  # type: ignore[arg-type]
    assert (judged.result.verdict, judged.integrity) == (verdict, "shared+control")
    assert "judged in one process with its tests, because of an object of type generator" in judged.result.detail
