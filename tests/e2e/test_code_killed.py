"""Killed at random moments while programs run, a run of HumanEval goes on and ends as if nothing had been.

The first problems; all of them, more than a thousand programs, under `make references`.
"""

import json
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e import command
from tests.e2e.conftest import obstacle
from tests.e2e.test_code_humaneval import DATA, FILE, rows
from tests.sandboxed import EVERY
from tests.servers.fault_server import FaultServer
from tests.waiting import until

from model_accuracy_eval.system.docker_engine import MARK

PROBLEMS = 164 if EVERY else 40
SAMPLES = 4
KILLS = 6 if EVERY else 3

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="HumanEval's file is not in ../shared/data")

JSON = dict[str, Any]


def right(number: int, index: int) -> bool:
    """Which samples are reference solutions; the others give back what no test expects."""
    return (number + index) % 3 > 0


class Solver:
    """Answers by prompt and seed alone, so that every life is told the same; no two samples are the same program."""

    def __init__(self) -> None:
        self.rows = {row["prompt"].strip(): (number, row) for number, row in enumerate(rows())}

    def __call__(self, request: JSON) -> list[str]:
        question = request["messages"][-1]["content"].strip()
        found = next((found for prompt, found in self.rows.items() if question.endswith(prompt)), None)
        if found is None:
            return ["ready"] * request.get("n", 1)
        number, row = found
        first = request["seed"] - number * SAMPLES
        return [self.reply(number, row, first + offset) for offset in range(request.get("n", 1))]

    def reply(self, number: int, row: JSON, index: int) -> str:
        body = row["canonical_solution"] if right(number, index) else "    return 'nothing that a test expects'\n"
        return f"```python\n{row['prompt']}{body}# sample {index}\n```"


def owned(pid: int, *which: str) -> list[str]:
    """The engine's containers that a process has made."""
    words = ["docker", "ps", *which, "--no-trunc", "--format", f'{{{{.ID}}}} {{{{.Label "{MARK}.owner"}}}}']
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [line for line in told.splitlines() if f" {pid} " in line]


def kill(process: "subprocess.Popen[str]", kind: str, under_way: Callable[[], bool], later: float) -> None:
    """So much later than that, unless it has come to its end by itself; nothing that it started is left."""
    until(lambda: under_way() or process.poll() is not None, "verdicts come")
    time.sleep(later)
    family = [] if process.poll() is not None else psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    command.finish(process)
    until(lambda: not any(map(lives_on, family)), f"nothing of {family} is left")
    if kind == "docker":
        until(lambda: not owned(process.pid), "no container runs")


def killed_again_and_again(url: str, out: Path, kind: str, asked: list[object]) -> tuple[Path, list[int], list[int]]:
    """Starts, and goes on, `KILLS` times; says how many verdicts were kept after each life, and who lived."""
    chance = random.Random(164)
    lives: list[int] = []
    pids: list[int] = []
    while len(lives) < KILLS:
        known = list(out.glob("[0-9a-f]*/run.json"))
        arguments = ["run", "--reuse", known[0].parent] if known else ["run", "--endpoint", url, "--out", out, *asked]
        process = command.start(*arguments)
        kill(process, kind, lambda: kept(out) > sum(lives[-1:]), chance.uniform(0.0, 0.5))
        lives.append(kept(out))
        pids.append(process.pid)
    (run_file,) = out.glob("[0-9a-f]*/run.json")
    return run_file.parent, lives, pids


def lives_on(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kept(out: Path) -> int:
    return sum(
        len(path.read_bytes().splitlines()) for path in out.glob("[0-9a-f]*/predictions/*/humaneval_findings.jsonl")
    )


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", ["docker", "bwrap"])
def test_kills_lose_double_and_change_no_verdict(kind: str, tmp_path: Path) -> None:
    """SIGKILL at random moments, then to the end: each program has one verdict, which is its own; nothing is left."""
    if (why := obstacle(kind)) is not None:
        pytest.skip(why)
    asked = ["--datasets", "humaneval", "--data-dir", DATA, "--sandbox", kind, "-n", SAMPLES, "--limit", PROBLEMS]
    with FaultServer(Solver()) as server:
        folder, lives, pids = killed_again_and_again(server.url, tmp_path, kind, asked)
        done = command.finish(command.start("run", "--reuse", folder), 600)
    assert done.code == 0, done.err
    # Those that were made and not yet started when the end came are removed by the run that comes next.
    assert kind != "docker" or not [one for pid in pids for one in owned(pid, "-a")]
    (findings,) = folder.glob("predictions/*/humaneval_findings.jsonl")
    keys = [json.loads(line)["key"] for line in findings.read_bytes().splitlines()]
    assert len(keys) == len(set(keys)), "a program has two verdicts"
    assert any(0 < one < len(keys) for one in lives), f"no kill fell into the judging: {lives} of {len(keys)}"
    (results,) = folder.glob("results/*/humaneval.json")
    found = {one["id"]: one["why"] for one in json.loads(results.read_bytes())["details"]}
    assert found == {
        number: ["right" if right(number, index) else "wrong" for index in range(SAMPLES)] for number in range(PROBLEMS)
    }
