"""A machine that misbehaves: full disks, a run folder in use. One sentence each, and nothing lost."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer, default_answer
from tests.waiting import HANGING, until


def test_a_full_disk_costs_nothing_that_was_answered(tmp_path: Path) -> None:
    """One sentence, exit code 6; figures of what is there are shown, and with room again the run goes on from there."""
    small, saved = tmp_path / "small", tmp_path / "saved"
    small.mkdir()
    if not shutil.which("bwrap"):
        assert os.environ.get("CI") != "true"
        pytest.skip("bubblewrap, which makes the small disk, is not installed")
    asked = ["--datasets", "demo_gsm8k,demo_arithmetic", "-n", "3", "--limit", "60"]
    with FaultServer() as server:
        run = [
            sys.executable,
            "-m",
            "model_accuracy_eval",
            "run",
            "--endpoint",
            server.url,
            "--out",
            str(small),
            *asked,
        ]
        keep = f'"$@"; code=$?; cp -r {small} {saved}; exit $code'
        done = subprocess.run(
            ["bwrap", "--dev-bind", "/", "/", "--size", "120000", "--tmpfs", small, "sh", "-c", keep, "sh", *run],
            capture_output=True, text=True, env=command.environment(), cwd=command.ROOT, check=False,
        )  # fmt: skip
        if done.returncode == 1 and done.stderr.startswith("bwrap: "):
            assert os.environ.get("CI") != "true", done.stderr
            pytest.skip(f"no small disk can be made: {done.stderr}")
        assert done.returncode == 6, done.stderr
        error = next(line for line in done.stderr.splitlines() if line.startswith("Error: "))
        assert error.endswith("/demo_arithmetic.jsonl cannot be written: No space left on device.")
        assert "demo_arithmetic: The run ended early" in done.stderr
        folder = command.only_run(saved)
        for journal in folder.glob(f"predictions/{command.LABEL}/*.jsonl"):
            journal.write_bytes(journal.read_bytes().rpartition(b"\n")[0] + b"\n")  # without the half of a line
        before = {name: command.journal(folder, name) for name in ("demo_gsm8k", "demo_arithmetic")}
        assert before["demo_arithmetic"]
        assert command.run("run", "--reuse", folder).code == 0
    after = {name: command.journal(folder, name) for name in before}
    assert len(after["demo_arithmetic"]) == 180
    assert all(before[name].items() <= after[name].items() for name in before)


def test_a_run_folder_in_use_is_refused(tmp_path: Path) -> None:
    """Two processes never answer into one journal."""
    refused = Event()

    def answer(request: dict[str, Any]) -> list[str]:
        if len(server.requests) > 20:
            refused.wait(HANGING)
        return default_answer(request)

    with FaultServer(answer) as server:
        asked = ["--datasets", "demo_gsm8k", "--concurrency", 1]
        first = command.start("run", "--endpoint", server.url, "--out", tmp_path, *asked)
        until(lambda: list(tmp_path.glob("[0-9a-f]*/predictions/*/*.jsonl")), "the first run is asking")
        second = command.run("run", "--reuse", command.only_run(tmp_path))
        refused.set()
        done = command.finish(first)
    assert second.code == 2
    assert "is under way in another process" in second.err
    assert done.code == 0, done.err


def test_an_out_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A file where the folder should be: exit code 2 and its name."""
    (tmp_path / "file").write_text("")
    with FaultServer() as server:
        done = command.run("run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "--out", tmp_path / "file")
    assert done.code == 2
    assert "cannot be created: Not a directory." in done.err


def test_a_defect_of_ours_is_no_failed_gate(tmp_path: Path) -> None:
    """An unforeseen exception ends in exit code 70 with its traceback, never in 1."""
    code = (
        "from model_accuracy_eval import cli\n"
        "from model_accuracy_eval.run import plan_parts\n"
        "def broken(*_, **__): raise ZeroDivisionError('planted')\n"
        "plan_parts.plan = broken\n"
        "cli.main(['run'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "ZeroDivisionError: planted" in done.stderr
    assert "please report it" in done.stderr
