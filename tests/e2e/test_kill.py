"""Killed at random moments, a run goes on and ends as if nothing had been."""

import os
import random
import signal
import time
from pathlib import Path

from tests.e2e import command
from tests.servers.fault_server import FaultServer, Style

KILLS = 20


def test_twenty_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """SIGKILL twenty times at random moments, then to the end: the journal is that of an undisturbed run."""
    asked = ["--datasets", "demo_gsm8k", "-n", 7, "--concurrency", 2]
    # Half of a second of asking, which is about as long as starting up.
    with FaultServer(style=Style(delay=0.004, ignore_n=True)) as server:
        begun = time.monotonic()
        undisturbed = command.run("run", "--endpoint", server.url, "--out", tmp_path / "whole", *asked)
        longest = time.monotonic() - begun
        assert undisturbed.code == 0, undisturbed.err
        folder, lives = _killed_again_and_again(server.url, tmp_path / "killed", asked, longest)
        done = command.run("run", "--reuse", folder)
    assert done.code == 0, done.err
    expected = command.journal(command.only_run(tmp_path / "whole"), "demo_gsm8k")
    assert len(expected) == 20 * 7
    assert command.journal(folder, "demo_gsm8k") == expected
    assert any(0 < answered < len(expected) for answered in lives), "no kill fell into the asking"


def _killed_again_and_again(url: str, out: Path, asked: list[object], longest: float) -> tuple[Path, list[int]]:
    """Starts, and goes on, `KILLS` times, for parts of the longest life; says what the journal held after each."""
    chance = random.Random(20260326)
    lives: list[int] = []
    while len(lives) < KILLS:
        known = list(out.glob("[0-9a-f]*/run.json"))
        arguments = ["run", "--reuse", known[0].parent] if known else ["run", "--endpoint", url, "--out", out, *asked]
        process = command.start(*arguments)
        time.sleep(longest * chance.uniform(0.2, 1.0))
        os.kill(process.pid, signal.SIGKILL)
        command.finish(process)
        for folder in out.glob("*"):
            # A life that ended before it noted its service is begun anew; one with a journal never is.
            if not (folder / "run.json").exists():
                assert not list(folder.glob("predictions/*/*.jsonl"))
        if known or list(out.glob("[0-9a-f]*/run.json")):
            lives.append(
                sum(
                    len(path.read_bytes().splitlines()) for path in out.glob("[0-9a-f]*/predictions/*/demo_gsm8k.jsonl")
                )
            )
    (run_file,) = out.glob("[0-9a-f]*/run.json")
    return run_file.parent, lives
