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
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import psutil

from model_accuracy_eval.adapter.adapter_files import (
    NO_PIP,
    STACK_READER,
    STACK_SECONDS,
    NewLines,
    adapter_environment,
    deploy_command,
    port_owner,
    refuse_replacing,
    tail,
    visible_npus,
    wants_packages,
)
from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused
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
        self._order, self._user = order, user
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

    def listening(self) -> dict[int, int]:
        """Port → process, of what it started."""
        found: dict[int, int] = {}
        with contextlib.suppress(psutil.Error, OSError):
            for process in psutil.Process(self._supervisor.pid).children(recursive=True):
                connections = process.net_connections("tcp")
                found |= {each.laddr.port: process.pid for each in connections if each.status == psutil.CONN_LISTEN}
        return found

    def stack(self, port: int) -> str:
        """Asked of the Python that the adapter has, as its user and below a supervisor: who wrote the adapter may have
        replaced that Python."""
        order, end = self._order, time.monotonic() + STACK_SECONDS
        python = shutil.which("python3", path=order.environment.get("PATH", os.defpath)) or "python3"
        with tempfile.TemporaryDirectory() as place, contextlib.suppress(AdapterFailed):
            asked = AdapterProcess(
                [python, "-c", STACK_READER, str(port)], folder=order.folder, environment=order.environment,
                log=f"{place}/stack", user=self._user,
            )  # fmt: skip
            try:
                while asked.exit_code() is None and time.monotonic() < end:
                    asked.wait(0.1)
            finally:
                asked.stop()
            return asked.tail(1)
        return ""

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


# Starts adapters as plain processes of this machine: `requirements.txt` is installed, then `deploy.sh` runs.


_VENV_MAKER = Path(__file__).with_name("venv_maker.py")
_TAIL_LINES = 40


class ProcessLauncher:
    """Implements `ports.Launcher`. `check` is called every 0.1 s of a wait, and may raise to end it."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        check: Callable[[], None] = lambda: None,
        user: UnprivilegedUser | None = None,
    ) -> None:
        """`user`: whom the adapter runs as, and who gets its folder; None: as we do."""
        self._environ = environ
        self._check = check
        self._user = user

    def image(self) -> str:
        return ""

    def port_owner(self, port: int) -> str | None:
        return port_owner(port)

    def objection(self, folder: str) -> EvalError | None:
        try:
            deploy_command(folder, self._environ.get("PATH", os.defpath))
            refuse_replacing(Path(folder) / "requirements.txt")
        except Refused as refusal:
            return refusal
        return None

    def start(
        self, *, folder: str, model_path: str, port: int, log: str, npus: tuple[int, ...] | None = None
    ) -> AdapterProcess:
        environment = adapter_environment(self._environ, model_path=model_path, port=port)
        environment |= visible_npus(self._environ, npus)
        command = deploy_command(folder, environment.get("PATH", os.defpath))
        packages = wants_packages(Path(folder) / "requirements.txt")
        if self._user is None and not packages:
            _check_port(port)
            return self._process(command, folder, environment, log, None)
        home = tempfile.mkdtemp(prefix="adapter-home-")
        try:
            if self._user:
                environment |= self._settle(self._user, home, folder, model_path)
            if packages:
                environment = self._make_python(home, environment, log)
                self._install(folder, environment, log)
            _check_port(port)
            return self._process(command, folder, environment, log, home)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise

    def _settle(self, user: UnprivilegedUser, home: str, folder: str, model_path: str) -> dict[str, str]:
        """Gives the user a home and the adapter's folder; returns its variables. No account has its number, so that
        programs read its name from these."""
        if model_path and not user.can_read(model_path):
            raise Refused(
                f"deploy.sh runs as a user without rights, who cannot read the weights in {model_path}; make them "
                f"readable for everybody (chmod -R o+rX), or name an image to run it in (adapter-image)."
            )
        user.owns(home)
        user.owns(folder)
        return {"HOME": home, "USER": "adapter", "LOGNAME": "adapter"}

    def _make_python(self, home: str, environment: Mapping[str, str], log: str) -> dict[str, str]:
        """Makes the adapter's own Python in `home`, and returns the environment that uses it."""
        path = environment.get("PATH", os.defpath)
        python = shutil.which("python3", path=path)
        if python is None:
            raise Refused(f"requirements.txt cannot be installed: there is no python3 on the PATH ({path}).")
        code = self._run([python, "-c", _VENV_MAKER.read_text(encoding="utf-8"), home], home, environment, log, home)
        if code == NO_PIP:
            raise Refused(f"requirements.txt cannot be installed: {python} has no pip; install pip for it.")
        if code:
            raise AdapterFailed(
                f"{python} could not make a virtual environment for requirements.txt (exit code {code}).",
                detail=tail(log, _TAIL_LINES),
            )
        return {**environment, "PATH": f"{home}/bin{os.pathsep}{path}", "VIRTUAL_ENV": home}

    def _install(self, folder: str, environment: Mapping[str, str], log: str) -> None:
        requirements = str(Path(folder).resolve() / "requirements.txt")
        home = environment["VIRTUAL_ENV"]
        # By its file and not by `-m`, which would put the folder with its modules before pip's own.
        command = [f"{home}/bin/python3", f"{home}/bin/pip", "install", "--no-input", "-r", requirements]
        quiet = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off"}
        with Path(log).open("ab") as output:
            output.write(f"── pip install -r {requirements}\n".encode(errors="replace"))
        code = self._run(command, folder, {**environment, **quiet}, log, home)
        if code:
            raise AdapterFailed(
                f"Installing {requirements} failed: pip ended with exit code {code}.",
                detail=tail(log, _TAIL_LINES),
                about=("requirements.txt", 1),
            )
        with Path(log).open("ab") as output:
            output.write("── deploy.sh\n".encode())

    def _run(self, command: list[str], folder: str, environment: Mapping[str, str], log: str, remove: str) -> int:
        process = self._process(command, folder, environment, log, remove)
        try:
            while (code := process.exit_code()) is None:
                self._check()
                process.wait(0.1)
        except BaseException:
            process.stop()
            raise
        process.finish()
        return code

    def _process(
        self, command: list[str], folder: str, environment: Mapping[str, str], log: str, remove: str | None
    ) -> AdapterProcess:
        return AdapterProcess(command, folder=folder, environment=environment, log=log, remove=remove, user=self._user)


def _check_port(port: int) -> None:
    """Looks once more: since the preflight, weights and packages took their time."""
    if owner := port_owner(port):
        raise AdapterFailed(f"Port {port} was taken by {owner} before deploy.sh was started; stop that, and run again.")
