"""The example adapter's server with one of the faults of `broken_adapter.py`, as a process."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.e2e import command
from tests.waiting import free_port


@contextmanager
def serving(fault: str) -> Iterator[str]:
    """Its address; it may not listen yet."""
    port = free_port()
    words = [sys.executable, "tests/servers/broken_adapter.py", fault, str(command.WEIGHTS), str(port)]
    with subprocess.Popen(words, cwd=command.ROOT, env=command.environment(PYTHONPATH="example-adapter")) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def script(fault: str) -> str:
    """A deploy.sh that serves with the fault; `"$FAULT"`: with the one of that variable."""
    server = shlex.join([sys.executable, str(command.ROOT / "tests/servers/broken_adapter.py")])
    return f'PYTHONPATH={command.ADAPTER} exec {server} {fault} "$MODEL_PATH" "$PORT" $SERVER_ARGS\n'
