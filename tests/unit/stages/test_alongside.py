"""Programs run while the service is still answering, and a sandbox that fails is no failure of the model."""

import json
from pathlib import Path

import msgspec
import pytest

from model_accuracy_eval import pipeline
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records import Outcome, Patience, Report, Request, RunPlan, Sampling, Slice, TaskSpec
from model_accuracy_eval.records.code import Program, Verdict
from model_accuracy_eval.tasks import find
from model_accuracy_eval.testing import MemoryHub, ScriptedChat, ScriptedSandbox, twins

ROWS = [
    {"task_id": n, "text": f"Add {n}.", "code": f"def add{n}(x): return x + {n}", "test_list": [f"assert add{n}(1) == {n + 1}"]}
    | {"test_setup_code": ""}
    for n in range(8)
]  # fmt: skip


def task() -> TaskSpec:
    own = find("mbpp")
    return msgspec.structs.replace(own, slice=Slice(), data=msgspec.structs.replace(own.data, sha256=None))


def run(sandbox: ScriptedSandbox, seen: list[int], out: Path) -> Report:
    """`seen` gets how many programs had been run when each question was asked."""

    def answer(request: Request, choice: int) -> str:
        seen.append(len(sandbox.programs))
        number = next((row["task_id"] for row in ROWS if str(row["text"]) in request.messages[-1].content), 0)
        return f"def add{number}(x): return x + {number}"

    plan = RunPlan(
        run_id="0" * 32, stamp="s", endpoint="http://localhost", tasks=(task(),), sampling=Sampling(n=1), k=(1,),
        patience=Patience(concurrency=1), out=str(out),
    )  # fmt: skip
    rows = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    hub = MemoryHub({task().data.name: rows})
    return pipeline.run(plan, "", twins(chat=ScriptedChat(answer), hub=hub, open_sandbox=lambda: sandbox))


def test_programs_run_before_the_last_question_is_asked(tmp_path: Path) -> None:
    """Each program once, the first ones while questions are still open; the probe before anything is asked."""
    sandbox, seen = ScriptedSandbox(lambda program: "passed"), list[int]()
    report = run(sandbox, seen, tmp_path)
    assert [row.value for row in report.sheets[0].rows] == [100.0]
    assert seen[-1] > 1
    assert len({program.code for program in sandbox.programs}) == len(ROWS)
    assert sandbox.closed


def test_a_sandbox_that_fails_is_no_verdict(tmp_path: Path) -> None:
    """Harness errors are counted apart, and the run ends with exit code 5 instead of a figure that looks honest."""
    probed: list[Program] = []

    def judge(program: Program) -> Verdict:
        probed.append(program)
        return "passed" if len(probed) == 1 else "harness_error"

    report = run(ScriptedSandbox(judge), [], tmp_path)
    outcome: Outcome = report.outcome
    assert (outcome.conclusion, outcome.exit_code) == ("broken", 5)
    assert report.sheets[0].counts.unjudged == len(ROWS)


def test_a_place_where_the_reference_fails_is_refused(tmp_path: Path) -> None:
    """Nothing is asked of the service, as its answers could not be judged."""
    seen: list[int] = []
    with pytest.raises(Refused, match=r"cannot judge mbpp: a reference solution does not pass in it \(timeout"):
        run(ScriptedSandbox(lambda program: "timeout"), seen, tmp_path)
    assert seen == []
