"""The command line as a user has it: its output, its exit code, a process of its own where that matters."""

import json
import os
import subprocess
import sys
from contextvars import Context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tests.waiting import HANGING

from model_accuracy_eval.cli import main
from model_accuracy_eval.records import Report
from model_accuracy_eval.run import engines, pipeline, plan_parts
from model_accuracy_eval.system.clock import SignalClock

ROOT = Path(__file__).parent.parent.parent
ADAPTER = ROOT / "example-adapter"
WEIGHTS = ADAPTER / "weights"
LABEL = "vllm-api-stream-chat"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def lengths(file: Path, problems: int) -> Path:
    """As many questions of how long they are, in that file."""
    texts = [f"How long is {'x' * number}?" for number in range(problems)]
    file.write_text("".join(json.dumps({"question": text, "answer": len(text)}) + "\n" for text in texts))
    return file


def environment(**more: str) -> dict[str, str]:
    """This process's, with the interpreter that runs the tests first in PATH, as an activated environment has it."""
    first = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": first, "PIP_NO_INDEX": "1", **more}


def start(*arguments: object, **more: str) -> "subprocess.Popen[str]":
    return start_in(ROOT, *arguments, **more)


def start_in(folder: Path, *arguments: object, **more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "model_accuracy_eval", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more), cwd=folder
    )


def finish(process: "subprocess.Popen[str]", seconds: float = HANGING) -> Done:
    with process:
        out, err = process.communicate(timeout=seconds)
    return Done(process.returncode, out, err)


def run(*arguments: object, **more: str) -> Done:
    return run_in(ROOT, *arguments, **more)


def run_in(folder: Path, *arguments: object, **more: str) -> Done:
    """In this process, since to start another one takes longer than most commands do; with E2E=processes in another."""
    if os.environ.get("E2E") == "processes":
        return finish(start_in(folder, *arguments, **more))
    runner, before = CliRunner(env=environment(**more)), Path.cwd()
    os.chdir(folder)
    try:
        # In a new context no test has said how functions are loaded.
        done = Context().run(runner.invoke, main, [*map(str, arguments)], prog_name="model-accuracy-eval")
    finally:
        os.chdir(before)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def evaluate(values: dict[str, Any]) -> Report:
    """A run of these settings in this process: real plan, real ports."""
    plan = plan_parts.plan(values, {})
    return pipeline.run(plan, engines.ports(plan, {}, SignalClock()))


def only_run(out: Path) -> Path:
    """The folder of the one run under `out`."""
    (folder,) = (path for path in out.iterdir() if not path.is_symlink())
    return folder


def journal(folder: Path, dataset: str) -> dict[tuple[int, int], str]:
    """(problem, sample) → text; a sample that stands there twice is an error."""
    lines = [json.loads(line) for line in (folder / f"predictions/{LABEL}/{dataset}.jsonl").read_bytes().splitlines()]
    samples = {(line["id"], line.get("index", -1)): line["prediction"] for line in lines}
    assert len(samples) == len(lines), "a sample stands in the journal twice"
    return samples


def facts(folder: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((folder / "run.json").read_bytes())
    return whole
