"""Runs a program and measures its cost; runs the server for it; writes the table."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PROGRAM = [sys.executable, "-m", "model_accuracy_eval"]
LIMIT = 180.0
"""Seconds after which a program that hangs is ended."""

CACHE = tempfile.TemporaryDirectory(prefix="bench-bytecode-")
"""Bytecode of all programs, as an installed package has it: whatever the caller's settings, only the first run of
a program compiles."""
ENVIRONMENT = {**os.environ, "PYTHONPYCACHEPREFIX": CACHE.name, "PYTHONDONTWRITEBYTECODE": ""}


class Cost(NamedTuple):
    cpu: float
    """User and system seconds of the program and of all its children, start-up included."""
    wall: float
    rss_mb: float
    output: str


def run(command: Sequence[str], folder: Path | None = None, *, quiet: bool = False) -> Cost:
    """A quiet program's progress is shown only if it fails."""
    began, errors = time.perf_counter(), subprocess.STDOUT if quiet else None
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder, env=ENVIRONMENT
    ) as process:
        assert process.stdout
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        output = process.stdout.read()
        # wait4 is the only call that returns the cost of this child alone.
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}\n{output}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output)


class ServerRun:
    """A running server. Its counts are known when it has ended."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.stats: dict[str, Any] = {}


@contextmanager
def serving(tokens: int, delay_ms: float = 0.0) -> Iterator[ServerRun]:
    command = [sys.executable, str(HERE / "fast_server.py"), f"--tokens={tokens}", f"--delay-ms={delay_ms}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        server = ServerRun(process.stdout.readline().strip())
        try:
            yield server
        finally:
            process.stdin.close()
            last = process.stdout.read()
    server.stats = json.loads(last)


class Line(NamedTuple):
    """One line of the table."""

    what: str
    ours: str
    reference: str
    ratio: str
    target: str
    met: bool | None
    """None: there is no target."""


def spread(values: Sequence[float], unit: str) -> str:
    """The median, and the range of the rounds."""
    middle = f"{median(values):.2f}{unit}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.2f} to {max(values):.2f})"


def report(lines: Sequence[Line]) -> str:
    words = {True: "yes", False: "**no**", None: ""}
    rows = [("what", "ours", "reference", "ratio", "target", "met")]
    rows += [(*line[:5], words[line.met]) for line in lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    heading, *rest = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([heading, f"|{'|'.join('-' * (width + 2) for width in widths)}|", *rest])
