"""One command of an adapter (pip, or deploy.sh) as a process of this machine.

    this process ─ stdin: order, then nothing ─► supervisor ─ own session ─► pip, or sh deploy.sh ─► …
                 ◄─ stdout: started, exit, stopped ─             └─ output ─► log

Every command runs below a supervisor (see `supervisor.py`), pip included, so that the end of this process, even by
SIGKILL, ends all of them.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from model_accuracy_eval.adapter.log_tail import NewLines, tail
from model_accuracy_eval.adapter.port_watch import PortWatch
from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_START_LIMIT = 30.0
"""Seconds for a supervisor to start; 0.05 is usual, but the machine may be busy."""
_STOP_LIMIT = 5.0
_DETAIL_LINES = 40


class SupervisorOrder(msgspec.Struct, frozen=True, kw_only=True):
    """To the supervisor, once."""

    command: list[str]
    folder: str
    environment: dict[str, str]
    parent: int
    remove: str | None
    uid: int | None = None
    """The user that the command runs as; None: ours."""
    groups: tuple[int, ...] = ()
    processes: int | None = None
    """How many that user may have at a time; None: no bound."""


class SupervisorState(msgspec.Struct):
    """What the supervisor has reported so far; each of its lines holds one of these fields."""

    started: int | None = None
    """The command's process id."""
    failed: str | None = None
    exit: int | None = None
    stopped: list[int] | None = None
    """Processes that even SIGKILL could not end."""

    def read(self, line: bytes) -> None:
        event = msgspec.json.decode(line, type=SupervisorState)
        for name in self.__struct_fields__:
            if (value := getattr(event, name)) is not None:
                setattr(self, name, value)


class AdapterProcess:
    """Implements `ports.RunningAdapter`: one command below a supervisor of its own."""

    def __init__(
        self,
        command: list[str],
        *,
        folder: str,
        environment: Mapping[str, str],
        log: str,
        remove: str | None = None,
        user: UnprivilegedUser | None = None,
    ) -> None:
        self._log = log
        self._new_lines = NewLines(log)
        self._state = SupervisorState()
        self._unread = b""
        self._closed = False
        """Whether the supervisor reports nothing more."""
        self._ended = False
        self._read_lock = threading.Lock()
        self._end_lock = threading.Lock()
        variables = dict(environment)
        self._supervisor = _start_supervisor(log, variables)
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        self._port_watch = PortWatch(self._supervisor.pid, user.uid if user else None)
        self._stdin, self._stdout = self._supervisor.stdin, self._supervisor.stdout
        os.set_blocking(self._stdout.fileno(), False)
        order = SupervisorOrder(
            command=command,
            folder=folder,
            environment=variables,
            parent=os.getpid(),
            remove=remove,
            uid=user.uid if user else None,
            groups=user.groups if user else (),
            processes=user.processes if user else None,
        )
        try:
            self._start(order)
        except BaseException:
            self.stop()
            raise

    def _start(self, order: SupervisorOrder) -> None:
        # Python's own JSON, as a variable may hold bytes that are no text.
        self._write(json.dumps(msgspec.to_builtins(order)).encode() + b"\n")
        end = time.monotonic() + _START_LIMIT
        while self._state.started is None and self._state.failed is None:
            if self._closed or time.monotonic() > end:
                raise AdapterFailed(
                    f"The process that watches over the adapter did not start within {_START_LIMIT:g} s.",
                    detail=self.tail(_DETAIL_LINES),
                )
            self.wait(0.1)
        if self._state.failed is not None:
            raise AdapterFailed(f"'{order.command[0]}' could not be started: {self._state.failed}.")

    @property
    def pid(self) -> int:
        """Of the command, which leads a process group of that number."""
        return self._state.started or 0

    def exit_code(self) -> int | None:
        """Minus the signal's number if one ended it; the supervisor's own code if that died before the command."""
        self._read()
        if self._state.exit is not None:
            return self._state.exit
        return self._supervisor.poll() if self._closed else None

    def wait(self, seconds: float) -> None:
        """Returns early when the supervisor reports something."""
        if self._closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._supervisor.wait(max(0.0, seconds))
            return
        poller = select.poll()  # unlike select(), it takes any number of open files
        poller.register(self._stdout.fileno(), select.POLLIN)
        poller.poll(max(0.0, seconds * 1000))
        self._read()

    def tail(self, lines: int) -> str:
        return tail(self._log, lines)

    def news(self) -> str:
        """What was printed since the last call, in whole lines."""
        return self._new_lines.read()

    def stranger(self, port: int) -> str | None:
        """Who listens on the port and is no process of the adapter."""
        return self._port_watch.stranger(port)

    def listening(self) -> dict[int, int]:
        """Port → process, of what it started."""
        return self._port_watch.listening()

    def stop(self) -> None:
        self._end(b"stop\n")

    def finish(self) -> None:
        """Ends what the command left behind, but keeps the folder that is to be removed after a run."""
        self._end(b"keep\n")

    def _end(self, request: bytes) -> None:
        with self._end_lock:
            if self._ended:
                return
            self._write(request)
            end = time.monotonic() + _STOP_LIMIT
            while self._supervisor.poll() is None and not self._state.stopped and time.monotonic() < end:
                self.wait(end - time.monotonic())
            self._read()
            self._handle_survivors()
            self._ended = self._closed = True
            for pipe in (self._stdin, self._stdout):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _handle_survivors(self) -> None:
        survivors = self._state.stopped
        if survivors is None and self._supervisor.poll() is not None and self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # the supervisor was killed; this is all that can be reached
        elif survivors or survivors is None:
            pids = ", ".join(map(str, survivors or [self.pid]))
            with Path(self._log).open("ab") as output:
                output.write(f"── still there after SIGKILL: pid {pids}\n".encode())

    def _write(self, message: bytes) -> None:
        with contextlib.suppress(OSError):  # a dead supervisor is noticed when its reports are read
            self._stdin.write(message)
            self._stdin.flush()

    def _read(self) -> None:
        with self._read_lock:
            while not self._closed:
                try:
                    chunk = os.read(self._stdout.fileno(), 4096)
                except BlockingIOError:
                    return
                self._closed = not chunk
                *lines, self._unread = (self._unread + chunk).split(b"\n")
                for line in lines:
                    self._state.read(line)


def _start_supervisor(log: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        with Path(log).open("ab") as output:
            return subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
                # -I and -S: neither the adapter's variables nor installed packages change what it does.
                [sys.executable, "-I", "-S", _SUPERVISOR],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd="/",
                env=environment,
                start_new_session=True,  # Ctrl-C in a terminal reaches us alone, and we decide
            )
    except OSError as error:
        raise AdapterFailed(f"The process that watches over the adapter could not be started: {error}.") from error
