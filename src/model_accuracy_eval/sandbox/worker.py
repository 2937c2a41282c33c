"""A worker: one fork server within its isolation, and the connection to it."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple, Protocol, get_args

from model_accuracy_eval.records.code import CaseKind, Isolation, Limits, Program
from model_accuracy_eval.sandbox.bootstrap import modules_message
from model_accuracy_eval.sandbox.inside.messages import (
    AnyMessage,
    Gone,
    JobOrder,
    JobResult,
    ServerInfo,
    ServerSettings,
    SweepResult,
    TooLarge,
    body_size,
    pack,
    unpack,
)
from model_accuracy_eval.sandbox.inside.test_process import unpack_code
from model_accuracy_eval.sandbox.toolchains import TOOLS

START_LIMIT = 60.0
_SPARE_SECONDS = 30.0
"""Beyond three times a program's limit: for short programs on a busy machine (see `JobState.seconds_left`), and for
processes to start and to end."""


_SWEEP_LIMIT = 10.0
"""Seconds in which a worker removes what a program left; then it is replaced instead."""


_SENT_AHEAD = 32 << 10
"""Bytes of an order that may wait for the job before it: as many as every pipe on the way holds."""
_KEPT_TESTS = 8
_MOST_CASES = 1000
"""How many cases a program may have that each take all of their time."""
CASE_KINDS = get_args(CaseKind)


class WorkerLost(Exception):
    """The worker cannot be used any more; nothing is known about the program that it had."""


class Interrupted(WorkerLost):
    """The worker ended for another job's sake: this one is for another worker."""


class WorkerSize(NamedTuple):
    """The limits that a worker is started with; programs with other limits get another worker."""

    memory_mb: int
    processes: int
    disk_mb: int

    @classmethod
    def of(cls, limits: Limits) -> "WorkerSize":
        return cls(limits.memory_mb, limits.processes, 4 * limits.file_mb)


class WorkerConnection(Protocol):
    """Two streams of bytes to a fork server, and the end of it."""

    settings: ServerSettings

    def send(self, data: bytes) -> None: ...

    def receive(self, count: int, deadline: float) -> bytes:
        """Returns exactly so many bytes; OSError or EOFError when they do not come."""

    def stderr(self) -> str:
        """What the server printed beside its answers."""

    def disconnect(self) -> None:
        """Ends the connection at once, from any thread: whoever waits for an answer gets an error."""

    def kill(self) -> None:
        """Ends the server and all that it started; may take a while, and may be called again."""


class Backend(Protocol):
    """A kind of isolation."""

    isolation: Isolation
    image: str
    preload: tuple[str, ...]
    """Modules that each program finds imported, where the image has them."""

    def start(self, size: WorkerSize) -> WorkerConnection: ...

    def close(self) -> None: ...


class JobRunner(Protocol):
    """What judging needs of a worker."""

    tools: list[str]

    def run(self, order: JobOrder, tests: str, program: Program) -> JobResult:
        """The tests are named apart from the program because control runs have tests of their own."""


class Worker:
    """Runs one job after the other. Threads may call `run` side by side: then an order is there when the job before it
    ends. After `WorkerLost` it is dead."""

    def __init__(self, backend: Backend, size: WorkerSize) -> None:
        self.size = size
        self._connection = backend.start(size)
        self._sending = threading.Lock()
        self._receiving = threading.RLock()
        self._changed = threading.Condition()
        self._ordered = self._answered = 0
        self._compiled: dict[tuple[str, int], bytes] = {}
        """Bytecode of tests that the tests' process, which the program cannot reach, has made of them."""
        self._over = False
        """Whether no further job is run here."""
        with self._killed_on_error():
            settings = self._connection.settings._replace(preload=list(backend.preload), tools=TOOLS)
            self._connection.send(modules_message() + pack(settings))
            self.info = self._receive(ServerInfo, START_LIMIT)
        self.tools = self.info.tools

    def run(self, order: JobOrder, tests: str, program: Program) -> JobResult:
        """The tests are named apart from the program because control runs have tests of their own."""
        files = json.dumps(program.files) if program.files else ""
        # The same for all samples of a problem: the numbers of its ends, which are drawn for each, are not in it.
        key = tests, len(order.ends)
        compiled = self._compiled.get(key, b"") if order.kind == "split" else b""
        texts = [text.encode("utf-8", "replace") for text in (tests, program.code, files)]
        parts = [texts[0], compiled, *texts[1:]]
        tests_size, compiled_size, code_size, files_size = map(len, parts)
        order = order._replace(
            tests_size=tests_size, compiled_size=compiled_size, code_size=code_size, files_size=files_size
        )
        number = self._send(order, parts)
        self._wait_for_turn(number)
        clean = False
        try:
            with self._receiving:
                result = self._result(order, number)
            if order.kind == "split" and result.compiled:
                self._keep_compiled(key, unpack_code(result.compiled))
            clean = result.clean
        finally:
            with self._changed:
                self._answered = number
                self._over |= not clean
                self._changed.notify_all()
        return result

    def _keep_compiled(self, key: tuple[str, int], code: bytes) -> None:
        """Samples of one problem come one after the other: of old ones nothing is kept."""
        with self._changed:
            self._compiled[key] = code
            while len(self._compiled) > _KEPT_TESTS:
                del self._compiled[next(iter(self._compiled))]

    def interrupt(self) -> None:
        """Ends the connection at once, from any thread, for another reason than the job that runs."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self._connection.disconnect()

    def kill(self) -> None:
        self.interrupt()
        # A thread that is about to wait for a socket that was closed would wait for whatever gets its number next.
        with self._receiving, self._sending:
            self._connection.kill()

    def _send(self, order: JobOrder, parts: list[bytes]) -> int:
        """Sends the order, ahead of its turn if it is short, and returns its number."""
        with self._sending:
            self._ordered = number = self._ordered + 1
            data = b"".join([pack(order._replace(number=number)), *parts])
            if len(data) > _SENT_AHEAD:
                self._wait_for_turn(number)
            failure = self._try_sending(data)
        if failure:
            self._wait_for_turn(number)  # the job before may have lost the worker
            with self._killed_on_error():
                raise failure
        return number

    def _try_sending(self, data: bytes) -> OSError | None:
        try:
            self._connection.send(data)
        except OSError as error:
            return error
        return None

    def _wait_for_turn(self, number: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._answered == number - 1)
            if self._over:
                raise Interrupted("A worker of the sandbox ended before its next program.")

    def _result(self, order: JobOrder, number: int) -> JobResult:
        with self._killed_on_error():
            seconds = order.wall_seconds * (_MOST_CASES if order.kind in CASE_KINDS else 1) + order.compile_seconds
            result = self._receive(JobResult, 3 * seconds + _SPARE_SECONDS)
            if result.number != number:
                raise EOFError(f"the result of job {result.number} came for job {number}")
        try:
            with self._killed_on_error():
                return result._replace(clean=self._receive(SweepResult, _SWEEP_LIMIT).clean)
        except WorkerLost:  # no matter for the verdict, which it has given
            return result

    def _receive(self, kind: type[AnyMessage], seconds: float) -> AnyMessage:
        deadline = time.monotonic() + seconds
        size = body_size(self._connection.receive(4, deadline))
        return unpack(kind, self._connection.receive(size, deadline))

    @contextlib.contextmanager
    def _killed_on_error(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, ValueError, Gone, TooLarge) as error:
            if self._over:
                raise Interrupted("A worker of the sandbox was given up.") from error
            lines = self._connection.stderr().strip().splitlines()
            self.kill()
            reason = lines[-1] if lines else str(error) or type(error).__name__
            raise WorkerLost(f"A worker of the sandbox was lost: {reason}") from error


def receive_exactly(connection: socket.socket, count: int, deadline: float) -> bytes:
    data = bytearray()
    while len(data) < count:
        connection.settimeout(max(0.01, deadline - time.monotonic()))
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise EOFError("its process has ended")
        data += chunk
    return bytes(data)
