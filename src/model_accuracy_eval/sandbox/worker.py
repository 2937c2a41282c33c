"""A worker: one fork server within its isolation, and the connection to it."""

import contextlib
import json
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import NamedTuple, Protocol, get_args

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records.code import CaseKind, Isolation, Limits, Program
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
from model_accuracy_eval.sandbox.program_environment import TOOLS

START_LIMIT = 60.0
_SPARE_SECONDS = 30.0
"""Beyond three times a program's limit: for short programs on a busy machine (see `JobState.seconds_left`), and for
processes to start and to end."""
_SWEEP_LIMIT = 10.0
"""Seconds in which a worker removes what a program left; then it is replaced instead."""
_MOST_CASES = 1000
"""How many cases a program may have that each take all of their time."""
CASE_KINDS = get_args(CaseKind)


class WorkerLost(Exception):
    """The worker cannot be used any more; nothing is known about the program that it had."""


class WorkerSize(NamedTuple):
    """The limits that a worker is started with; programs with other limits get another worker."""

    memory_mb: int
    processes: int
    disk_mb: int

    @classmethod
    def of(cls, limits: Limits) -> "WorkerSize":
        return cls(limits.memory_mb, limits.processes, 4 * limits.file_mb)


class WorkerConnection(ABC):
    """A socket with both streams of a fork server, and the end of that."""

    def __init__(self, settings: ServerSettings, connection: socket.socket) -> None:
        self.settings = settings
        self._socket, self._sender = connection, connection.dup()  # with time limits of their own

    def send(self, data: bytes) -> None:
        self._sender.settimeout(START_LIMIT)
        self._sender.sendall(data)

    def receive(self, count: int, deadline: float) -> bytes:
        """Returns exactly so many bytes; OSError or EOFError when they do not come."""
        data = bytearray()
        while len(data) < count:
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            chunk = self._socket.recv(count - len(data))
            if not chunk:
                raise EOFError("its process has ended")
            data += chunk
        return bytes(data)

    def disconnect(self) -> None:
        """Ends the connection at once, from any thread: whoever waits for an answer gets an error."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    @abstractmethod
    def stderr(self) -> str:
        """What the server printed beside its answers."""

    @abstractmethod
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
    """Runs one job after the other. After `WorkerLost` it is dead."""

    def __init__(self, backend: Backend, size: WorkerSize) -> None:
        self.size = size
        self._connection = backend.start(size)
        with self._killed_on_error():
            settings = self._connection.settings._replace(preload=list(backend.preload), tools=TOOLS)
            self._connection.send(modules_message() + pack(settings))
            self.info = self._receive(ServerInfo, START_LIMIT)
        self.tools = self.info.tools

    def run(self, order: JobOrder, tests: str, program: Program) -> JobResult:
        """The tests are named apart from the program because control runs have tests of their own."""
        files = json.dumps(program.files) if program.files else ""
        parts = [text.encode("utf-8", "replace") for text in (tests, program.code, files)]
        tests_size, code_size, files_size = map(len, parts)
        if order.kind == "split":  # tests have files of their own
            parts.insert(1, parts[-1])
        order = order._replace(tests_size=tests_size, code_size=code_size, files_size=files_size)
        with self._killed_on_error():
            self._connection.send(b"".join([pack(order), *parts]))
            seconds = order.wall_seconds * (_MOST_CASES if order.kind in CASE_KINDS else 1) + order.compile_seconds
            result = self._receive(JobResult, 3 * seconds + _SPARE_SECONDS)
        try:
            with self._killed_on_error():
                return result._replace(clean=self._receive(SweepResult, _SWEEP_LIMIT).clean)
        except WorkerLost:  # no matter for the verdict, which it has given
            return result

    def interrupt(self) -> None:
        """From any thread: whoever waits for this worker gets `WorkerLost`."""
        self._connection.disconnect()

    def kill(self) -> None:
        """Where no other thread waits for it."""
        self._connection.kill()

    def _receive(self, kind: type[AnyMessage], seconds: float) -> AnyMessage:
        deadline = time.monotonic() + seconds
        size = body_size(self._connection.receive(4, deadline))
        return unpack(kind, self._connection.receive(size, deadline))

    @contextlib.contextmanager
    def _killed_on_error(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, ValueError, Gone, TooLarge) as error:
            lines = self._connection.stderr().strip().splitlines()
            self.kill()
            reason = lines[-1] if lines else str(error) or type(error).__name__
            raise WorkerLost(f"A worker of the sandbox was lost: {reason}") from error


class ReplaceableWorker:
    """A worker that is started when it is needed, and replaced when it may be damaged. One thread at a time has it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._worker: Worker | None = None
        self.closed = False

    def get(self, size: WorkerSize) -> Worker:
        """A living worker of that size; raises `WorkerLost` when none can be started."""
        if self._worker and self._worker.size != size:
            self.discard()
        if self._worker is None:
            try:
                self._worker = Worker(self._backend, size)
            except EvalError as error:
                raise WorkerLost(error.sentence) from error
        if self.closed:
            raise WorkerLost("The sandbox was closed.")
        return self._worker

    def discard(self) -> None:
        worker, self._worker = self._worker, None
        if worker:
            worker.kill()

    def close(self) -> None:
        """From any thread; whoever has it discards it."""
        self.closed = True
        if worker := self._worker:
            worker.interrupt()


# How the fork server's modules reach a Python that has no package of ours: as text, through its standard input.


PACKAGE = "model_accuracy_eval.sandbox.inside"

BOOTSTRAP = """
import importlib, json, os, sys
from importlib.machinery import ModuleSpec
if sys.version_info < (3, 10):
    sys.exit("Python 3.10 or newer is needed, and this is " + sys.version.split()[0])
def read(descriptor, count):
    data = b""
    while len(data) < count:
        chunk = os.read(descriptor, count - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data
def message(descriptor):
    return read(descriptor, int.from_bytes(read(descriptor, 4), "big"))
class SentModules:
    def __init__(self, sources):
        self.sources = sources
        self.packages = {name.rpartition(".")[0] for name in sources}
    def find_spec(self, name, path=None, target=None):
        if name in self.sources:
            return ModuleSpec(name, self, is_package=name in self.packages)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(self.sources.pop(module.__name__), module.__name__, "exec"), module.__dict__)
sys.path[:] = [place for place in sys.path if place]
sys.meta_path.insert(0, SentModules(json.loads(message(0))))
importlib.import_module("PACKAGE.fork_server").main()
""".replace("PACKAGE", PACKAGE)
"""For `python3 -c`: it prints nothing before it has received all modules, and does not import from its own folder."""


@lru_cache(maxsize=1)
def modules_message() -> bytes:
    """What BOOTSTRAP reads: the source of every module by its name, and empty packages above them."""
    parts = PACKAGE.split(".")
    sources = {".".join(parts[:depth]): "" for depth in range(1, len(parts) + 1)}
    for file in resources.files(PACKAGE).iterdir():
        if file.name.endswith(".py") and file.name != "__init__.py":
            sources[f"{PACKAGE}.{file.name.removesuffix('.py')}"] = file.read_text(encoding="utf-8")
    body = json.dumps(sources).encode()
    return len(body).to_bytes(4, "big") + body
