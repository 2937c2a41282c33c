"""Killed at random moments, a run goes on and ends as if nothing had been: while it asks, and while programs run."""

import json
import math
import random
import signal
import time
from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.test_ray_judging import programs
from tests.e2e.test_shards import JSON, told
from tests.servers.fault_server import FaultServer, Style


def test_ten_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """SIGKILL ten times at random moments, then to the end: the journal is that of an undisturbed run."""
    asked = ["--datasets", "demo_gsm8k", "-n", 7, "--concurrency", 2]
    # Half of a second of asking, which is about as long as starting up.
    with FaultServer(style=Style(delay=0.004, ignore_n=True)) as server:
        whole, folder = killed_and_gone_on_with(server.url, tmp_path, asked, "demo_gsm8k", kills=10)
    expected = command.journal(whole, "demo_gsm8k")
    assert len(expected) == 20 * 7
    assert command.journal(folder, "demo_gsm8k") == expected


def added(request: JSON) -> list[str]:
    """By question and seed alone; no two samples are the same program."""
    number = int("".join(filter(str.isdigit, request["messages"][-1]["content"])) or 0)
    seeds = [(request.get("seed") or 0) + at for at in range(request.get("n", 1))]
    return [f"```python\ndef add(a):\n    return a + {number + seed % 2}  # {seed}\n```" for seed in seeds]


def test_kills_lose_double_and_change_no_verdict(sandbox: str, tmp_path: Path) -> None:
    """Each program has one verdict, which is its own."""
    asked = ["--datasets", programs(tmp_path), "-n", 3, "--sandbox", sandbox]
    with FaultServer(added) as server:
        whole, folder = killed_and_gone_on_with(server.url, tmp_path, asked, "add_findings", kills=4)
    name = f"predictions/{command.LABEL}/add_findings.jsonl"
    keys, expected = (
        [json.loads(line)["key"] for line in (one / name).read_text().splitlines()] for one in (folder, whole)
    )
    assert len(keys) == len(set(keys)), "a program has two verdicts"
    assert sorted(keys) == sorted(expected)
    assert told(folder, "add") == told(whole, "add")


def killed_and_gone_on_with(url: str, place: Path, asked: list[object], file: str, *, kills: int) -> tuple[Path, Path]:
    """An undisturbed run, and one that is killed so often: by turns at a random moment, and once a random part of
    what it has to write is written."""
    chance = random.Random(20260326)
    begun = time.monotonic()
    undisturbed = command.run("run", "--endpoint", url, "--out", place / "whole", *asked)
    longest = time.monotonic() - begun
    assert undisturbed.code == 0, undisturbed.err
    out, whole = place / "killed", lines_of(place / "whole", file)
    lives: list[int] = []
    while len(lives) < kills:
        known = list(out.glob("[0-9a-f]*/run.json"))
        arguments = ["run", "--reuse", known[0].parent] if known else ["run", "--endpoint", url, "--out", out, *asked]
        process = command.start(*arguments)
        written = chance.randint(min(lines_of(out, file) + 1, whole), whole) if len(lives) % 2 else whole + 1
        until = time.monotonic() + longest * chance.uniform(0.2, 1.0) if written > whole else math.inf
        while time.monotonic() < until and lines_of(out, file) < written and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        command.finish(process)
        for folder in out.glob("*"):
            # A life that ended before it noted its service is begun anew; one with a journal never is.
            if not (folder / "run.json").exists():
                assert not list(folder.glob("predictions/*/*.jsonl"))
        if known or list(out.glob("[0-9a-f]*/run.json")):
            lives.append(lines_of(out, file))
    (run_file,) = out.glob("[0-9a-f]*/run.json")
    done = command.run("run", "--reuse", run_file.parent)
    assert done.code == 0, done.err
    assert any(0 < life < whole for life in lives), f"no kill fell into it: {lives}"
    return command.only_run(place / "whole"), run_file.parent


def lines_of(out: Path, file: str) -> int:
    return sum(path.read_bytes().count(b"\n") for path in out.glob(f"[0-9a-f]*/predictions/*/{file}.jsonl"))
