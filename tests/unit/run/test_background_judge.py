"""Programs run while the service is still answering, and a sandbox that fails is no failure of the model."""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.fake_ports import MemoryHub, ScriptedChat, ScriptedSandbox, fake_ports

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Published, Sink, Store
from model_accuracy_eval.records import (
    ClientLimits,
    Outcome,
    Report,
    Request,
    RunPlan,
    Sampling,
    Settings,
    Slice,
    TaskSpec,
)
from model_accuracy_eval.records.code import ExecutionVerdict, Program
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.sinks import FILES

PROBLEMS = 8


def rows(problems: int) -> list[dict[str, object]]:
    return [
        {"task_id": n, "text": f"Add {n}.", "code": f"def add{n}(x): return x + {n}", "test_list": [f"assert add{n}(1) == {n + 1}"]}
        | {"test_setup_code": ""}
        for n in range(problems)
    ]  # fmt: skip


def task() -> TaskSpec:
    own = find("mbpp")
    return msgspec.structs.replace(own, slice=Slice(), data=msgspec.structs.replace(own.data, pin=None))


def run(
    sandbox: ScriptedSandbox,
    seen: list[int],
    out: Path,
    sinks: Sequence[Sink] = FILES,
    *,
    problems: int = PROBLEMS,
    n: int = 1,
    gate: str = "",
) -> Report:
    """`seen` gets how many programs had been run when each question was asked; a gate stops the run once it is decided."""
    asked = rows(problems)

    def answer(request: Request, choice: int) -> str:
        seen.append(len(sandbox.programs))
        number = next((row["task_id"] for row in asked if str(row["text"]) in request.messages[-1].content), 0)
        return f"def add{number}(x): return x + {number}"

    plan = RunPlan(
        run_id="0" * 32, stamp="s", tasks=(task(),), sampling=Sampling(n=n), k=(n,),
        client_limits=ClientLimits(concurrency=1), gates=gate_lines.parse(gate),
        settings=Settings(endpoint=("http://localhost",), out=str(out), stop_when_decided=bool(gate)),
    )  # fmt: skip
    data = "".join(json.dumps(row) + "\n" for row in asked).encode()
    hub = MemoryHub({task().data.name: data})
    return pipeline.run(plan, fake_ports(chat=ScriptedChat(answer), hub=hub, open_sandbox=lambda: sandbox), sinks)


def test_programs_run_before_the_last_question_is_asked(tmp_path: Path) -> None:
    """Each program once, the first ones while questions are still open; the probe before anything is asked."""
    sandbox, seen = ScriptedSandbox(lambda program: "passed"), list[int]()
    report = run(sandbox, seen, tmp_path)
    assert [row.value for row in report.dataset_results[0].rows] == [100.0]
    assert seen[-1] > 1
    assert len({program.code for program in sandbox.programs}) == PROBLEMS
    assert sandbox.closed


def test_a_sandbox_that_fails_is_no_verdict(tmp_path: Path) -> None:
    """Harness errors are counted apart, and the run ends with exit code 5 instead of a figure that looks honest."""
    probed: list[Program] = []

    def judge(program: Program) -> ExecutionVerdict:
        probed.append(program)
        return "passed" if len(probed) == 1 else "harness_error"

    report = run(ScriptedSandbox(judge), [], tmp_path)
    outcome: Outcome = report.outcome
    assert (outcome.conclusion, outcome.exit_code) == ("broken", 5)
    assert report.dataset_results[0].counts.unjudged == PROBLEMS


def test_a_place_where_the_reference_fails_is_refused(tmp_path: Path) -> None:
    """Nothing is asked of the service, as its answers could not be judged."""
    seen: list[int] = []
    with pytest.raises(Refused, match=r"cannot judge mbpp: a reference solution does not pass in it \(timeout"):
        run(ScriptedSandbox(lambda program: "timeout"), seen, tmp_path)
    assert seen == []


def test_a_place_that_is_too_busy_is_not_called_unfit(tmp_path: Path) -> None:
    """Nothing is known about the reference solution, and the sentence asks for another time, not for another image."""
    with pytest.raises(Refused, match=r"cannot judge mbpp now: nothing is known .* Try again when less runs"):
        run(ScriptedSandbox(lambda program: "harness_error"), [], tmp_path)


class ClosedSandboxSink:
    """Notes whether the sandbox was closed when the report was published."""

    name = "noted"

    def __init__(self, sandbox: ScriptedSandbox) -> None:
        self._sandbox = sandbox
        self.closed: list[bool] = []

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self.closed.append(self._sandbox.closed)
        return published


class StubbornSandbox(ScriptedSandbox):
    """Cannot be closed."""

    async def close(self) -> None:
        await super().close()
        raise Refused("The engine is gone.")


def test_the_sandbox_is_closed_before_the_report_is_published(tmp_path: Path) -> None:
    """Publishing may take all seconds that a stop leaves, so the sandbox does not wait for it."""
    sandbox = ScriptedSandbox(lambda program: "passed")
    sink = ClosedSandboxSink(sandbox)
    run(sandbox, [], tmp_path, [sink])
    assert sink.closed == [True]


def test_a_sandbox_that_cannot_be_closed_does_not_lose_the_report(tmp_path: Path) -> None:
    """The report is published, and the error is raised after it."""
    sandbox = StubbornSandbox(lambda program: "passed")
    sink = ClosedSandboxSink(sandbox)
    with pytest.raises(Refused, match="The engine is gone"):
        run(sandbox, [], tmp_path, [sink])
    assert sink.closed == [True]


def test_programs_decide_gates_early(tmp_path: Path) -> None:
    """All pass: a few dozen of 450 programs are run, each once, and the gate on pass@3 asks one of each problem."""
    sandbox = ScriptedSandbox(lambda program: "passed")
    report = run(sandbox, [], tmp_path, problems=150, n=3, gate=f"{task().name}: pass@3 >= 50")
    part = report.dataset_results[0].part
    assert report.outcome.conclusion == "passed", report.outcome
    assert part is not None
    assert part.read == part.problems < 60
    ours = [repr(program) for program in sandbox.programs]
    assert len(ours) == len(set(ours))
