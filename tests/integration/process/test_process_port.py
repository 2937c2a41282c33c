"""Who serves on the adapter's port: processes of deploy.sh, or a program that waited for the port."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.process.conftest import Launch
from tests.integration.process.tools import PYTHON, environment, make_adapter
from tests.waiting import free_port, is_open, until

from model_accuracy_eval.adapter.adapter_process import ProcessLauncher
from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.system.unprivileged_user import unprivileged_user

LISTEN = "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(999)"


@contextmanager
def daemon(port: int, program: str = sys.executable, user: int | None = None) -> Iterator[int]:
    """A program of nobody's, which has the port."""
    command = [program, "-I", "-S", "-c", LISTEN, str(port)]
    with subprocess.Popen(command, user=user, start_new_session=True) as process:
        try:
            until(lambda: is_open(port), "it listens")
            yield process.pid
        finally:
            process.kill()


@pytest.mark.parametrize("how", ["plain", "daemon"])
def test_processes_of_deploy_sh_are_no_strangers(launch: Launch, how: str) -> None:
    """Also those that have left its session and forgotten its environment."""
    port = free_port()
    running = launch(f"{PYTHON} server.py $PORT {how} {os.getpid()}\nsleep 999", PORT=str(port))
    until(lambda: is_open(port), "it listens")
    assert running.stranger(port) is None
    assert running.stranger(port) is None


def test_a_program_that_waited_for_the_port_is_named(launch: Launch) -> None:
    """deploy.sh runs, and somebody else serves, whose answers would be measured."""
    port = free_port()
    running = launch("sleep 999", PORT=str(port))
    assert running.stranger(port) is None
    with daemon(port) as pid:
        assert str(running.stranger(port)).endswith(f", pid {pid}, of user {os.geteuid()}")
    until(lambda: running.stranger(port) is None, "the daemon is gone")


def test_another_address_is_another_server(launch: Launch) -> None:
    """A stranger beside the adapter's own server is found, too: it depends on the address who answers."""
    port = free_port()
    running = launch(f"exec {PYTHON} server.py $PORT plain x", PORT=str(port))
    until(lambda: is_open(port), "it listens")
    with socket.create_server(("127.0.0.2", port)):
        assert f"pid {os.getpid()}" in str(running.stranger(port))


def test_the_engines_proxy_is_no_stranger(launch: Launch, tmp_path: Path) -> None:
    """deploy.sh may start a container, whose port is held by a process of the engine."""
    proxy = tmp_path / "docker-proxy"
    port = free_port()
    proxy.write_text(f"#!{sys.executable}\nimport sys\nsys.argv = ['', '{port}']\n{LISTEN}\n")
    proxy.chmod(0o755)
    running = launch("sleep 999", PORT=str(port))
    with daemon(port, str(proxy)):
        assert running.stranger(port) is None


def test_a_port_that_was_taken_meanwhile(launch: Launch) -> None:
    """Fetching weights and packages takes hours, and the first look at the port came before."""
    port = free_port()
    with (
        daemon(port) as pid,
        pytest.raises(AdapterFailed, match=rf"Port {port} was taken by .*pid {pid} before deploy\.sh was started"),
    ):
        launch("sleep 999", PORT=str(port))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes as another user")
def test_with_a_user_of_its_own_the_user_decides() -> None:
    """Nothing else has its number: neither root nor another adapter's user."""
    user, port = unprivileged_user(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        launcher = ProcessLauncher(environment(), user=user)
        adapter = make_adapter(Path(folder) / "adapter", "exec python3 server.py $PORT plain x")
        running = launcher.start(folder=adapter, model_path="", port=port, log=f"{folder}/log")
        try:
            until(lambda: is_open(port), f"it listens: {running.tail(5)}")
            assert running.stranger(port) is None
            running.stop()
            for other in (0, 65534):
                with daemon(port, "/usr/bin/python3", other):
                    assert str(running.stranger(port)).endswith(f"of user {other}")
        finally:
            running.stop()
