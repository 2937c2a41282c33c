"""A program in a process of its own on this machine, without a sandbox around it."""

import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator

from model_accuracy_eval.sandbox.inside import program_process
from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection


@contextlib.contextmanager
def program_apart(code: str) -> Iterator[ProgramConnection]:
    """The connection that its tests have to it."""
    ours, theirs = socket.socketpair()
    lifeline, writer = os.pipe()
    folder = tempfile.mkdtemp()
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        ours.close()
        os.close(lifeline)
        os.chdir(folder)
        sys.stdout, sys.stderr = (open(os.devnull, "w") for _ in range(2))  # noqa: PTH123, SIM115
        program_process.serve(code, theirs.fileno())
    theirs.close()
    os.close(writer)
    connection = ProgramConnection(ours.fileno(), lifeline, pid)
    try:
        connection.wait_until_ready()
        yield connection
    finally:
        ours.close()
        os.close(lifeline)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        shutil.rmtree(folder)
