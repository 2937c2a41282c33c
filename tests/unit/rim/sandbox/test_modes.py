"""What a control run says, and what it does not."""

from typing import Any

import pytest

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.rim.sandbox.modes import judge

PROGRAM = Program(code="def f(x): return x", tests="assert f(1) == 1", mode="shared")
PASSED = {"verdict": "passed", "detail": "", "checks": [], "clean": True, "doubt": False}


class Answering:
    """A worker that has its answers ready."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)

    def do(self, *_order: object) -> dict[str, Any]:
        return self._answers.pop(0)


@pytest.mark.parametrize(
    ("control", "verdict"),
    [
        ({"verdict": "failed", "checks": [[1, False]]}, "passed"),
        ({"verdict": "timeout", "checks": [], "doubt": True}, "timeout"),
        ({"verdict": "timeout", "checks": [[1, True]]}, "tampered"),
        ({"verdict": "exited", "checks": []}, "tampered"),
        ({"verdict": "passed", "checks": []}, "tampered"),
    ],
)
def test_a_control_run_without_time_accuses_nobody(control: dict[str, Any], verdict: str) -> None:
    """It is no pass either; whoever met a wrong expectation, or got away from it, has tampered."""
    worker = Answering({**PASSED}, {**PASSED, **control})
    judged = judge(worker, PROGRAM)  # type: ignore[arg-type]
    assert judged.answer["verdict"] == verdict
    assert judged.answer["doubt"] == control.get("doubt", False)
