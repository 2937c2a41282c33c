"""Nothing of a sandbox outlives the program that opened it, however that one ends."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.integration.sandbox.conftest import LABELS
from tests.integration.sandbox.test_sandbox_faults import containers
from tests.waiting import until

from model_accuracy_eval.ports import Sandbox

OWNER = """
import asyncio, json, os, sys
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.system.docker_engine import Labels
from model_accuracy_eval.sandbox.backends import open_sandbox
box = open_sandbox(sys.argv[1], os.environ, workers=1, labels=Labels(repository=sys.argv[2]))
code = "import os, time\\ndef f(x):\\n    if os.fork() == 0: os.setsid()\\n    time.sleep(600)"
async def story():
    running = asyncio.create_task(box.run(Program(code=code, tests="f(1)", limits=Limits(wall_seconds=60.0))))
    await asyncio.sleep(0.5)  # for the daemon to be made; earlier is harder on the program, not easier on us
    print("running", flush=True)
    await running
asyncio.run(story())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_nothing_outlives_this_program(kind: str, number: int, boxes: Callable[[str], Sandbox], tmp_path: Path) -> None:
    """However it dies, with a program running that has made a daemon."""
    boxes(kind)  # or a skip
    name = f"{LABELS.repository}-{kind}-{number}"
    errors = (tmp_path / "errors").open("wb")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, kind, name], stdout=subprocess.PIPE, stderr=errors)
    assert owner.stdout
    assert owner.stdout.readline() == b"running\n", (tmp_path / "errors").read_text()
    family = psutil.Process(owner.pid).children(recursive=True)
    assert family or containers(name)
    owner.send_signal(number)
    owner.wait()
    owner.stdout.close()
    errors.close()
    until(
        lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family),
        f"nothing of {family} is left",
    )
    until(lambda: kind != "docker" or not containers(name), "the container is gone")
