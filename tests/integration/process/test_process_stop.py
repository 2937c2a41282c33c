import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.integration.process.conftest import Launch
from tests.integration.process.tools import PYTHON, alive, make_adapter
from tests.waiting import free_port, is_open, until

from model_accuracy_eval.adapter.adapter_files import port_owner
from model_accuracy_eval.adapter.adapter_process import AdapterProcess

ADAPTERS = {
    "well-behaved": f"{PYTHON} server.py $PORT plain $MARK",
    "well-behaved, replaced shell": f"exec {PYTHON} server.py $PORT plain $MARK",
    "ignores SIGTERM": f"trap '' TERM\n{PYTHON} server.py $PORT stubborn $MARK",
    "daemon, deploy.sh gone": f"{PYTHON} server.py $PORT daemon $MARK",
    "daemon, deploy.sh there": f"{PYTHON} server.py $PORT daemon $MARK; sleep 999",
    "forks on SIGTERM": f"{PYTHON} server.py $PORT respawning $MARK",
    "never keeps its pid": f"{PYTHON} server.py $PORT restless $MARK",
    "suspended": f"{PYTHON} server.py $PORT plain $MARK & echo $! >pid; kill -STOP $$",
}


def listening(process: AdapterProcess, port: int) -> None:
    until(lambda: is_open(port), f"port {port} is open; log: {process.tail(9)}")


@pytest.mark.parametrize("name", ADAPTERS)
def test_stop(launch: Launch, name: str) -> None:
    """A stop ends everything, and the port is free then."""
    port, mark = free_port(), f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process = launch(ADAPTERS[name], PORT=str(port), MARK=mark)
    listening(process, port)
    process.stop()
    assert alive(mark) == []
    assert port_owner(port) is None
    assert process.exit_code() is not None


def test_daemon_outlives_deploy(launch: Launch) -> None:
    """A deploy.sh that ends while its daemon goes on is reported as ended; the daemon lives until the stop."""
    port, mark = free_port(), f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process = launch(f"{PYTHON} server.py $PORT daemon $MARK; exit 7", PORT=str(port), MARK=mark)
    until(lambda: process.exit_code() is not None, "deploy.sh ends")
    listening(process, port)
    assert process.exit_code() == 7
    (daemon,) = alive(mark)
    os.kill(daemon, signal.SIGKILL)  # it would take the whole grace


def test_clean_up_may_finish(launch: Launch) -> None:
    """What a trap starts for cleaning up is not shot down with the rest."""
    process = launch("trap 'sleep 0.3; echo clean; exit 0' TERM\necho up\nsleep 999 & wait")
    until(lambda: process.tail(1) == "up", "it runs")
    process.stop()
    assert process.tail(1) == "clean"
    assert process.exit_code() == 0


def test_killed_supervisor(launch: Launch) -> None:
    """When the supervisor is killed, that counts as the end of deploy.sh, and a stop ends the process group."""
    port, mark = free_port(), f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process = launch(f"{PYTHON} server.py $PORT stubborn $MARK", PORT=str(port), MARK=mark)
    listening(process, port)
    psutil.Process(process.pid).parent().kill()  # type: ignore[union-attr]
    until(lambda: process.exit_code() == -signal.SIGKILL, "its end is noticed")
    process.stop()
    until(lambda: not alive(mark), "the group is gone")


RUN = """
import sys, time
from model_accuracy_eval.adapter.adapter_process import ProcessLauncher
folder, log, port, mark, path, temporary = sys.argv[1:]
environment = {"PATH": path, "PORT": port, "MARK": mark, "TMPDIR": temporary, "PIP_NO_INDEX": "1"}
running = ProcessLauncher(environment).start(folder=folder, model_path="/weights", port=int(port), log=log)
while True:
    time.sleep(999)
"""


@pytest.mark.parametrize("how", ["plain", "daemon"])
def test_our_own_death(tmp_path: Path, log: str, how: str) -> None:
    """SIGKILL of the run leaves no process, an open port or temporary Python behind."""
    port, mark = free_port(), f"mark-{os.getpid()}-{time.monotonic_ns()}"
    requirements = "pip\n" if how == "plain" else None
    folder = make_adapter(tmp_path / "adapter", f"{PYTHON} server.py $PORT {how} $MARK", requirements)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    arguments = [folder, log, str(port), mark, os.environ["PATH"], str(temporary)]
    variables = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", RUN, *arguments], env=variables) as run:
        try:
            until(lambda: is_open(port), "it serves")
            assert len(list(temporary.glob("adapter-home-*"))) == (how == "plain")
            family = psutil.Process(run.pid).children(recursive=True)
        finally:
            run.kill()
    until(lambda: not any(process.is_running() for process in family), "the family is gone")
    until(lambda: not alive(mark), "daemons are gone")
    assert port_owner(port) is None
    assert list(temporary.glob("adapter-home-*")) == []
