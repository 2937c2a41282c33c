"""A worker: one fork server within its isolation, and the conversation with it."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from model_accuracy_eval.records.code import Isolation, Limits, Program
from model_accuracy_eval.rim.sandbox.inside.frames import Gone, TooLarge, pack, size, unpack
from model_accuracy_eval.rim.sandbox.recipes import TOOLS
from model_accuracy_eval.rim.sandbox.shipping import bundle

START_LIMIT = 60.0
_SPARE = 10.0
"""Seconds beyond three times a program's limit (see `job.Watch.seconds_left`), for processes to start and to end."""


class WorkerLost(Exception):
    """The worker is of no use any more; nothing is known about the program that it had."""


class Room(NamedTuple):
    """What a worker is made for; programs with other limits get another worker."""

    memory_mb: int
    processes: int
    disk_mb: int

    @classmethod
    def of(cls, limits: Limits) -> "Room":
        return cls(limits.memory_mb, limits.processes, 4 * limits.file_mb)


class Line(Protocol):
    """Two streams of bytes to a fork server, and its life."""

    settings: dict[str, Any]
    """For the server: see `inside.server.Server`."""

    def send(self, data: bytes) -> None: ...

    def receive(self, count: int, deadline: float) -> bytes:
        """Exactly so many bytes; OSError or EOFError when they do not come."""

    def last_words(self) -> str:
        """What the server said beside its answers."""

    def hang_up(self) -> None:
        """Ends the conversation at once, from any thread: whoever waits for an answer gets an error."""

    def kill(self) -> None:
        """Ends the server and all that it started; may take a while, and may be called again."""


class Backend(Protocol):
    """A kind of isolation."""

    isolation: Isolation
    image: str
    preload: tuple[str, ...]
    """Modules that each job finds loaded, where they are there."""

    def start(self, room: Room) -> Line: ...

    def close(self) -> None: ...


class Worker:
    """Does one job at a time; each call blocks. After `WorkerLost` it is dead."""

    def __init__(self, backend: Backend, room: Room) -> None:
        self.room = room
        self._line = backend.start(room)
        self._seq = 0
        with self._losing():
            settings = {"preload": backend.preload, "tools": TOOLS, **self._line.settings}
            self._line.send(bundle() + pack(settings))
            self.hello = self._receive(START_LIMIT)

    def do(self, order: dict[str, Any], tests: str, program: Program) -> dict[str, Any]:
        """The server's answer to an order (see `inside.job.Order`); control runs have tests of their own."""
        self._seq += 1
        parts = [text.encode("utf-8", "replace") for text in (tests, program.code, json.dumps(program.files))]
        with self._losing():
            sizes = zip(("tests_size", "code_size", "files_size"), map(len, parts), strict=True)
            self._line.send(b"".join([pack({"seq": self._seq, **dict(sizes), **order}), *parts]))
            answer = self._receive(3 * (order["wall_seconds"] + order["compile_seconds"]) + _SPARE)
            if answer["seq"] != self._seq:
                raise EOFError(f"answer {answer['seq']} came to order {self._seq}")
        return answer

    def hang_up(self) -> None:
        self._line.hang_up()

    def kill(self) -> None:
        self._line.kill()

    def _receive(self, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        length = size(self._line.receive(4, deadline))
        return dict(unpack(self._line.receive(length, deadline)))

    @contextlib.contextmanager
    def _losing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, ValueError, KeyError, TypeError, Gone, TooLarge) as error:
            said = self._line.last_words().strip()
            self.kill()
            last = said.splitlines()[-1] if said else str(error) or type(error).__name__
            raise WorkerLost(f"A worker of the sandbox was lost: {last}") from error
