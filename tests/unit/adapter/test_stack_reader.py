"""Which process is told to serve."""

import subprocess
import sys
from contextlib import ExitStack

from tests.waiting import free_port

from model_accuracy_eval.adapter import stack_reader

LISTENS = "import socket, sys; one = socket.create_server((sys.argv[1], int(sys.argv[2]))); print(flush=True); sys.stdin.read()"


def test_of_two_that_listen_the_one_on_the_loopback_serves() -> None:
    """The other forwards to it, whichever of them the system lists first."""
    port = str(free_port())
    with ExitStack() as ends:
        for host in ("127.0.0.2", "127.0.0.1", "127.0.0.3"):
            words = [sys.executable, "-c", LISTENS, host, port]
            process = ends.enter_context(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            assert process.stdin
            ends.callback(process.stdin.close)
            assert process.stdout
            process.stdout.readline()
        assert stack_reader.serving(int(port))[3:] == ["127.0.0.1", port]
