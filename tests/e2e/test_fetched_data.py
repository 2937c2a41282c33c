"""A fresh machine: the dataset is named, its rows come from where the task says, and the run asks and scores."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e import command
from tests.real_data import real
from tests.servers.fault_server import FaultServer
from tests.servers.file_host import FileHost
from tests.waiting import until

from model_accuracy_eval.benchmarks import dataset_table as tasks

ASK = ("--datasets", "gsm8k", "--limit", 5, "-n", 1)


@pytest.fixture
def gsm8k() -> FileHost:
    """GitHub's place for raw files, with the one that `gsm8k` names."""
    file = tasks.find("gsm8k").data
    place = (file.hub or "").removeprefix("github:").replace("@", "/")
    return FileHost({f"/{place}": real(file)})


def surroundings(host: FileHost, tmp_path: Path) -> dict[str, str]:
    return {"GITHUB_RAW_ENDPOINT": host.url, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*"}


def test_a_fresh_machine_fetches_asks_and_scores(gsm8k: FileHost, tmp_path: Path) -> None:
    """Refused before, offline; afterwards, offline works, and a command that fetches has nothing to fetch."""
    with FaultServer() as server, gsm8k as host:
        around = surroundings(host, tmp_path)
        run = ("run", "--endpoint", server.url, *ASK, "--out")
        refused = command.run(*run, tmp_path / "0", "--offline", **around)
        assert (refused.code, host.asked) == (2, []), refused.err
        first = command.run(*run, tmp_path / "1", **around)
        assert first.code == 0, first.out + first.err
        assert "Fetching gsm8k/test.jsonl from github:openai/grade-school-math@" in first.err
        again = command.run(*run, tmp_path / "2", "--offline", **around)
        prepared = command.run("tasks", "prepare", "gsm8k", **around)
    assert "gsm8k: 5 of 5 samples answered." in first.out
    assert "gsm8k: 5 of 5 samples answered." in again.out, again.err
    assert (prepared.code, prepared.err) == (0, "")
    assert len(host.requests) == 1


def test_killed_while_it_fetches_the_next_run_goes_on(gsm8k: FileHost, tmp_path: Path) -> None:
    """Even by SIGKILL: what arrived is used, the rest is asked for, and no byte comes twice."""
    with FaultServer() as server, gsm8k as host:
        around = surroundings(host, tmp_path)
        host.hold.clear()
        killed = command.start("run", "--endpoint", server.url, *ASK, "--out", tmp_path / "1", **around)
        (whole,) = host.files.values()
        half = len(whole) // 2
        until(
            lambda: sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.partial")) == half, "half of it"
        )
        killed.send_signal(signal.SIGKILL)
        command.finish(killed)
        host.hold.set()
        done = command.run("run", "--endpoint", server.url, *ASK, "--out", tmp_path / "2", **around)
    assert done.code == 0, done.err
    assert "where it broke off" in done.err
    assert sum(host.sent.values()) == len(whole)


def test_two_runs_at_once_fetch_once(gsm8k: FileHost, tmp_path: Path) -> None:
    """The second says that it waits for the first; both evaluate."""
    with FaultServer() as server, gsm8k as host:
        around = surroundings(host, tmp_path)
        host.hold.clear()
        runs = [
            command.start("run", "--endpoint", server.url, *ASK, "--out", tmp_path / str(number), **around)
            for number in range(2)
        ]
        said = runs[0].stderr, runs[1].stderr
        lines = [stream.readline() for stream in said if stream]
        host.hold.set()
        done = [command.finish(run) for run in runs]
    assert [one.code for one in done] == [0, 0], [one.err for one in done]
    assert sorted(line.partition(" gsm8k")[0] for line in lines) == ["Another run is fetching", "Fetching"]
    assert sum(host.sent.values()) == len(next(iter(host.files.values())))


def test_a_disk_that_is_full_is_told(gsm8k: FileHost, tmp_path: Path) -> None:
    """With what is free and how to use another; nothing was asked."""
    if not shutil.which("bwrap"):
        assert os.environ.get("CI") != "true"
        pytest.skip("bubblewrap, which makes the small disk, is not installed")
    with FaultServer() as server, gsm8k as host:
        around = surroundings(host, tmp_path)
        (tmp_path / "cache").mkdir()
        small = ["bwrap", "--dev-bind", "/", "/", "--size", "120000", "--tmpfs", str(tmp_path / "cache")]
        run = [sys.executable, "-m", "model_accuracy_eval", "run", "--endpoint", server.url, *map(str, ASK)]
        done = subprocess.run(
            [*small, *run, "--out", str(tmp_path / "1")],
            capture_output=True, text=True, env=command.environment(**around), cwd=command.ROOT, check=False,
        )  # fmt: skip
    if done.returncode == 1 and done.stderr.startswith("bwrap: "):
        assert os.environ.get("CI") != "true", done.stderr
        pytest.skip(f"no small disk can be made: {done.stderr}")
    assert done.returncode == 3, done.stderr
    assert "Error: The disk is full: " in done.stderr
    assert "'gsm8k/test.jsonl' does not fit. Free some space, or name another folder with" in done.stderr
    assert not (tmp_path / "1").exists()
