"""Who serves on the adapter's port: processes of deploy.sh, or a program that waited for the port."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.integration.process.conftest import Launch
from tests.waiting import free_port, is_open, until

from model_accuracy_eval.errors import AdapterFailed

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


def test_a_port_that_was_taken_meanwhile(launch: Launch) -> None:
    """Fetching weights and packages takes hours, and the first look at the port came before."""
    port = free_port()
    with (
        daemon(port) as pid,
        pytest.raises(AdapterFailed, match=rf"Port {port} was taken by .*pid {pid} before deploy\.sh was started"),
    ):
        launch("sleep 999", PORT=str(port))
