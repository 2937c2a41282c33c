"""A stop is a stop at any moment: the exit code of shells, soon, and no traceback."""

import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer, Style, default_answer
from tests.servers.http import Exchange, HttpServer
from tests.waiting import HANGING, until

MOMENTS = 6


def handles_stops(process: "subprocess.Popen[str]") -> bool:
    """Whether the program's own handler of SIGTERM is there: the interpreter itself has none."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def stopped(process: "subprocess.Popen[str]", number: signal.Signals = signal.SIGINT) -> command.Done:
    """Stops it: it ends soon, with the code of the signal, and blames nobody."""
    process.send_signal(number)
    done = command.finish(process)
    assert done.code == 128 + number, done.err
    assert "Traceback" not in done.err
    assert "destroyed" not in done.err
    return done


def test_some_moments_of_a_start(tmp_path: Path) -> None:
    """Before the handlers of a run, while it is planned, probing and asking: always 130 or 143."""
    chance = random.Random(20261122)
    with FaultServer(style=Style(delay=1.0)) as server:  # no run ends before it is stopped
        asked = ["--endpoint", server.url, "--datasets", "demo_gsm8k", "--out", tmp_path]
        for moment in range(MOMENTS):
            process = command.start("run", *asked)
            until(lambda process=process: handles_stops(process), "a handler")  # type: ignore[misc]
            time.sleep(moment / MOMENTS + chance.uniform(0.0, 0.05))
            stopped(process, chance.choice([signal.SIGINT, signal.SIGTERM]))


def test_a_large_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    """50 MB of own questions take seconds to understand and to render; all of it is in memory when the stop comes."""
    file = tmp_path / "large.jsonl"
    row = {"question": f"What is this? {'x' * 480}", "answer": "4"}
    file.write_text((json.dumps(row) + "\n") * 100_000)
    process = command.start("run", "--endpoint", "http://127.0.0.1:9", "--datasets", file, "--out", tmp_path / "out")
    size = file.stat().st_size
    until(lambda: _bytes_read(process) > size, "the file was read")
    stopped(process)
    assert not (tmp_path / "out").exists()


def _bytes_read(process: "subprocess.Popen[str]") -> int:
    return int(Path(f"/proc/{process.pid}/io").read_text().split()[1])


def test_a_service_that_never_answers_the_probe(tmp_path: Path) -> None:
    """The connection stands and nothing comes: the stop does not wait for it, and the run can be gone on with."""

    async def silent(exchange: Exchange) -> None:
        await exchange.stall()

    with HttpServer(silent) as server:
        process = command.start("run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "--out", tmp_path)
        assert server.wait_for(lambda one: bool(one.requests))
        done = stopped(process)
    assert "Cancelled (exit code 130)" in done.out
    with FaultServer() as server:
        done = command.run("run", "--reuse", command.only_run(tmp_path), "--endpoint", server.url)
    assert done.code == 0, done.err
    assert len(command.journal(command.only_run(tmp_path), "demo_gsm8k")) == 100


@pytest.mark.parametrize("words", [[], ["nohup"]], ids=["alone", "nohup"])
def test_a_terminal_that_is_closed(words: list[str], tmp_path: Path) -> None:
    """As when a connection breaks off: the run ends with a report, and goes on with --reuse. Under nohup it stays."""
    out, goes_on = tmp_path / "out", Event()

    def answer(request: dict[str, Any]) -> list[str]:
        if len(server.requests) > 12:
            goes_on.wait(HANGING)
        return default_answer(request)

    with FaultServer(answer) as server:
        asked = ["--endpoint", server.url, "--datasets", "demo_gsm8k", "--out", str(out), "--concurrency", "4"]
        process, terminal = in_terminal([*words, sys.executable, "-m", "model_accuracy_eval", "run", *asked], tmp_path)
        until(lambda: any(path.stat().st_size for path in out.glob("*/predictions/*/*.jsonl")), "some answers")
        os.close(terminal)
        if words:
            goes_on.set()
        with process:
            code = process.wait()
        goes_on.set()
        folder = command.only_run(out)
        assert (code, command.facts(folder)["status"]) == ((0, "complete") if words else (129, "stopped"))
        assert (folder / "report.html").is_file()
        again = command.run("run", "--reuse", folder, "--endpoint", server.url)
    assert again.code == 0, again.err
    assert len(command.journal(folder, "demo_gsm8k")) == 100


def in_terminal(words: list[str], folder: Path) -> "tuple[subprocess.Popen[bytes], int]":
    """A process in a terminal of its own, which ends when the descriptor is closed, also where the tests run in nohup."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", "env", "--default-signal=HUP", *words], stdin=its, stdout=its, stderr=its, env=command.environment(TERM="xterm"),
        cwd=folder,
    )  # fmt: skip
    os.close(its)
    return process, ours
