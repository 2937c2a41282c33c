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
from typing import Any

import msgspec
import psutil

from model_accuracy_eval.adapter.adapter_files import (
    DEPLOY,
    DEPLOYING,
    DETAIL_LINES,
    NO_PIP,
    STACK_READER,
    STACK_SECONDS,
    AdapterOutput,
    adapter_environment,
    check_installed,
    interpreter,
    port_owner,
    read_script,
    refuse_replacing,
    visible_npus,
    wants_packages,
)
from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_START_LIMIT = 30.0
"""Seconds for a supervisor to start; 0.05 is usual, but the machine may be busy."""
_STOP_LIMIT = 5.0


class AdapterProcess(AdapterOutput):
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
        """`remove`: a folder to remove afterwards. `user`: whom the command runs as; None: as we do."""
        super().__init__(log)
        self._folder, self._environment, self._user = folder, dict(environment), user
        self._reported: dict[str, Any] = {}
        """What the supervisor has said so far: `started` (a process id) or `failed`, `exit`, and in `stopped` the
        processes that even SIGKILL could not end."""
        self._unread = b""
        self._closed = False
        """Whether the supervisor reports nothing more."""
        self._ended = False
        self._read_lock = threading.Lock()
        self._end_lock = threading.Lock()
        try:
            with Path(log).open("ab") as output:
                self._supervisor = subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
                    # -I and -S: neither the adapter's variables nor installed packages change what it does.
                    [sys.executable, "-I", "-S", _SUPERVISOR],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=output,
                    cwd="/",
                    env=self._environment,
                    start_new_session=True,  # Ctrl-C in a terminal reaches us alone, and we decide
                )
        except OSError as error:
            raise AdapterFailed(f"The process that watches over the adapter could not be started: {error}.") from error
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        self._stdin, self._stdout = self._supervisor.stdin, self._supervisor.stdout
        os.set_blocking(self._stdout.fileno(), False)
        order = {"command": command, "folder": folder, "environment": self._environment, "parent": os.getpid()}
        order |= {"remove": remove, **(msgspec.structs.asdict(user) if user else {})}
        try:
            self._start(order)
        except BaseException:
            self.stop()
            raise

    def _start(self, order: Mapping[str, Any]) -> None:
        # Python's own JSON, as a variable may hold bytes that are no text.
        self._write(json.dumps(order).encode() + b"\n")
        end = time.monotonic() + _START_LIMIT
        while not self._reported:
            if self._closed or time.monotonic() > end:
                raise AdapterFailed(
                    f"The process that watches over the adapter did not start within {_START_LIMIT:g} s.",
                    detail=self.tail(DETAIL_LINES),
                )
            self.wait(0.1)
        if "failed" in self._reported:
            raise AdapterFailed(f"'{order['command'][0]}' could not be started: {self._reported['failed']}.")

    @property
    def pid(self) -> int:
        """Of the command, which leads a process group of that number."""
        return int(self._reported.get("started", 0))

    def exit_code(self) -> int | None:
        """Minus the signal's number if one ended it; the supervisor's own code if that died before the command."""
        self._read()
        if "exit" in self._reported:
            return int(self._reported["exit"])
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
        end = time.monotonic() + STACK_SECONDS
        python = shutil.which("python3", path=self._environment.get("PATH", os.defpath)) or "python3"
        with tempfile.TemporaryDirectory() as place, contextlib.suppress(AdapterFailed):
            asked = AdapterProcess(
                [python, "-c", STACK_READER, str(port)], folder=self._folder, environment=self._environment,
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
            while self._supervisor.poll() is None and not self._reported.get("stopped") and time.monotonic() < end:
                self.wait(end - time.monotonic())
            self._read()
            survivors = self._reported.get("stopped", [self.pid])
            if "stopped" not in self._reported and self._supervisor.poll() is not None and self.pid:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)  # the supervisor was killed; this is all that can be reached
            elif survivors:
                with Path(self.log).open("ab") as output:
                    output.write(f"── still there after SIGKILL: pid {', '.join(map(str, survivors))}\n".encode())
            self._ended = self._closed = True
            for pipe in (self._stdin, self._stdout):
                with contextlib.suppress(OSError):
                    pipe.close()

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
                    self._reported |= json.loads(line)


# Starts adapters as plain processes of this machine: `requirements.txt` is installed, then `deploy.sh` runs.


_VENV_MAKER = Path(__file__).with_name("venv_maker.py").read_text(encoding="utf-8")
_INSTALL = f"""
command -v python3 >/dev/null || exit {NO_PIP}
(cd "$2" && exec python3 -c "$1" "$2") || exit
echo "── pip install -r $PWD/requirements.txt"
export VIRTUAL_ENV="$2" PATH="$2/bin:$PATH" PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_PROGRESS_BAR=off
"$2/bin/python3" "$2/bin/pip" install --no-input -r requirements.txt || exit
echo "{DEPLOYING}"
"""
"""Its arguments: the text of `venv_maker.py`, and the home of the adapter's own Python. Neither that, which runs in the
home, nor pip, which is called by its file and not by `-m`, imports modules of the adapter's folder."""


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
            read_script(Path(folder) / "deploy.sh")
            refuse_replacing(Path(folder) / "requirements.txt")
        except Refused as refusal:
            return refusal
        return None

    def start(
        self, *, folder: str, model_path: str, port: int, log: str, npus: tuple[int, ...] | None = None
    ) -> AdapterProcess:
        environment = adapter_environment(self._environ, model_path=model_path, port=port)
        environment |= visible_npus(self._environ, npus)
        command = ["/bin/sh", "-c", DEPLOY, "deploy", *interpreter(Path(folder) / "deploy.sh")]
        packages = wants_packages(Path(folder) / "requirements.txt")
        home = tempfile.mkdtemp(prefix="adapter-home-") if self._user or packages else None
        try:
            if self._user and home:
                environment |= self._settle(self._user, home, folder, model_path)
            if packages and home:
                environment = self._install(home, folder, environment, log)
            _check_port(port)
            return self._process(command, folder, environment, log, home)
        except BaseException:
            if home:
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

    def _install(self, home: str, folder: str, environment: Mapping[str, str], log: str) -> dict[str, str]:
        """Makes the adapter's own Python in `home`, with its packages; returns the environment that uses it."""
        process = self._process(
            ["/bin/sh", "-c", _INSTALL, "install", _VENV_MAKER, home], folder, environment, log, home
        )
        try:
            while (code := process.exit_code()) is None:
                self._check()
                process.wait(0.1)
        except BaseException:
            process.stop()
            raise
        process.finish()
        check_installed(code, folder, log, place="this machine")
        path = f"{home}/bin{os.pathsep}{environment.get('PATH', os.defpath)}"
        return {**environment, "PATH": path, "VIRTUAL_ENV": home}

    def _process(
        self, command: list[str], folder: str, environment: Mapping[str, str], log: str, remove: str | None
    ) -> AdapterProcess:
        return AdapterProcess(command, folder=folder, environment=environment, log=log, remove=remove, user=self._user)


def _check_port(port: int) -> None:
    """Looks once more: since the preflight, weights and packages took their time."""
    if owner := port_owner(port):
        raise AdapterFailed(f"Port {port} was taken by {owner} before deploy.sh was started; stop that, and run again.")
