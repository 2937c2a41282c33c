"""One job, as the server sees it: its processes, what they print and report, its end."""

import contextlib
import json
import os
import select
import socket
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from model_accuracy_eval.rim.sandbox.inside.frames import TooLarge, size, take, unpack
from model_accuracy_eval.rim.sandbox.inside.leftovers import Ended, reap

KEPT_OUTPUT = 4096
_LONGEST_REPORT = 1 << 20
_STRETCH = 3.0
"""How many times the limit a program may take in all, when it had to wait for a core."""


class Order(NamedTuple):
    """What the host asks for. Tests, code and files are not in it: they follow, and only children read them."""

    seq: int
    kind: str
    """A key of `server.KINDS`."""
    tests_size: int
    code_size: int
    files_size: int
    """Of a JSON object: path → text."""
    entry_points: list[str]
    recipe: dict[str, Any]
    wall_seconds: float
    compile_seconds: float
    memory_mb: int
    processes: int
    file_mb: int
    output_bytes: int


class Material(NamedTuple):
    """What the program is made of."""

    code: str
    files: dict[str, str]

    @classmethod
    def read(cls, order: Order) -> "Material":
        """From the host; the tests, which come first, have been taken by then."""
        return cls(take(0, order.code_size).decode(), json.loads(take(0, order.files_size)))

    def lay_out(self) -> None:
        """Writes the files as the program's own user, so that they go with it, and lets Python import them."""
        for name, text in self.files.items():
            place = Path(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", errors="replace")
        if self.files:
            sys.path.insert(0, str(Path.cwd()))


class Pipes:
    """The descriptors of one job; what a child does not keep is closed in it, what we do not keep is closed here."""

    def __init__(self) -> None:
        self.report, self.reporting = os.pipe()
        self.output, self.printing = os.pipe()
        self.lifeline, self.alive = os.pipe()
        judge, program = socket.socketpair()
        self.judge_link, self.program_link = judge.detach(), program.detach()
        self._open = set(vars(self).values())
        for one in (self.report, self.output):
            os.set_blocking(one, False)

    def close(self, *some: int) -> None:
        for one in some or tuple(self._open):
            if one in self._open:
                self._open.remove(one)
                os.close(one)


class Watch:
    """What is known of a running job."""

    def __init__(self, pipes: Pipes, bell: int, wall_seconds: float) -> None:
        self._pipes, self._bell = pipes, bell
        self._poller = select.poll()
        for one in (pipes.report, pipes.output, bell):
            self._poller.register(one, select.POLLIN)
        self._poller.register(0, 0)  # only its end is news: no order comes before this one is answered
        self._reported = bytearray()
        self.kept = bytearray()
        self.printed = 0
        self.ended: dict[int, Ended] = {}
        self.restart(wall_seconds)
        self.orphaned = False
        """Whether the host has gone away."""
        self.starved = False
        """Whether what is past the limit was spent waiting for a core, so that too little is known to call it slow."""

    def restart(self, seconds: float, awaited: str = "end") -> None:
        """The clock, when everything is there that the program needs."""
        self._limit = seconds
        self.overdue = f"It did not {awaited} within {seconds:g} s."
        self._begin = time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self._begin

    def look(self, seconds: float) -> None:
        """Waits for news. Ends are noted before reports are read: what an ended process reported is whole then."""
        ready = dict(self._poller.poll(max(1, seconds * 1000) if seconds else 0))
        self.orphaned = 0 in ready
        if self._bell in ready:
            os.read(self._bell, 4096)
            reap(self.ended)
        while len(self._reported) <= _LONGEST_REPORT and (chunk := self._read(self._pipes.report)):
            self._reported += chunk
        if self._pipes.output in ready:
            chunk = self._read(self._pipes.output)
            self.printed += len(chunk)
            self.kept += chunk[: KEPT_OUTPUT - len(self.kept)]

    def report(self) -> Any:
        """The next whole message; the end of the stream is no sign, as a descendant may hold it open."""
        found = self._reported
        whole = 4 + (size(bytes(found[:4])) if len(found) >= 4 else 0)
        if whole > _LONGEST_REPORT:
            raise TooLarge(f"{whole:,} bytes where at most {_LONGEST_REPORT:,} may be reported")
        if len(found) <= 4 or len(found) < whole:
            return None
        message = unpack(bytes(found[4:whole]))
        del found[:whole]
        return message

    def seconds_left(self, pids: list[int]) -> float:
        """Until the limit, which does not count the time that these waited for a core of a busy machine."""
        used = self.elapsed()
        if used < self._limit:
            return self._limit - used
        waited = sum(map(_waited, pids))
        self.starved = used - waited < self._limit
        return min(self._limit + waited, self._limit * _STRETCH) - used

    def _read(self, pipe: int) -> bytes:
        try:
            chunk = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return b""
        if not chunk:  # closed by all who had it, which would be news for ever
            with contextlib.suppress(KeyError):
                self._poller.unregister(pipe)
        return chunk


def _waited(pid: int) -> float:
    """Seconds that a process was ready to run and did not; 0 where the kernel does not count them."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
