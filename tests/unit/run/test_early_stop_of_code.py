"""Programs are judged as they come where gates are followed: the verdict waits for the sandbox, and nothing runs twice."""

import json
from pathlib import Path

from tests.fake_ports import MemoryHub, ScriptedChat, ScriptedSandbox, fake_ports
from tests.unit.run.test_background_judge import task

from model_accuracy_eval.records import ClientLimits, Report, Request, RunPlan, Sampling, Settings
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.scoring.verdicts import gate_lines

PROBLEMS = 150
ROWS = [
    {"task_id": n, "text": f"Add number {n}.", "code": f"def add{n}(x): return x + {n}"}
    | {"test_list": [f"assert add{n}(1) == {n + 1}"], "test_setup_code": ""}
    for n in range(PROBLEMS)
]


def run(sandbox: ScriptedSandbox, out: Path, gate: str) -> Report:
    def answer(request: Request, choice: int) -> str:
        number = next(n for n in range(PROBLEMS) if f"number {n}." in request.messages[-1].content)
        return f"def add{number}(x): return x + {number} + {(request.seed or 0) + choice}"

    plan = RunPlan(
        run_id="0" * 32,
        stamp="s",
        tasks=(task(),),
        sampling=Sampling(n=3),
        k=(3,),
        gates=gate_lines.parse(gate),
        client_limits=ClientLimits(concurrency=4),
        settings=Settings(endpoint=("http://localhost",), out=str(out), stop_when_decided=True),
    )
    rows = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    hub = MemoryHub({task().data.name: rows})
    chat = ScriptedChat(lambda request, choice: answer(request, choice) if "number" in str(request) else "ready")
    return pipeline.run(plan, fake_ports(chat=chat, hub=hub, open_sandbox=lambda: sandbox))


def test_programs_decide_gates_early(tmp_path: Path) -> None:
    """All pass: a few dozen of 450 programs are run, each once, and the gate on pass@3 asks one of each problem."""
    sandbox = ScriptedSandbox(lambda program: "passed")
    report = run(sandbox, tmp_path, f"{task().name}: pass@3 >= 50")
    part = report.dataset_results[0].part
    assert report.outcome.conclusion == "passed", report.outcome
    assert part is not None
    assert part.read == part.problems < 60
    ours = [repr(program) for program in sandbox.programs]
    assert len(ours) == len(set(ours))
