"""Adapters as plain processes of this machine: `requirements.txt` is installed, then `deploy.sh` runs.

    launcher ─ stdin: order, then silence ─► warden ─ own session ─► pip, or sh deploy.sh ─► …
             ◄─ stdout: started, exit, stopped ─                      └─ output ─► log

Every command runs below a warden (see `warden.py`), pip included, so that ending this process in any way, by
SIGKILL even, ends all of them.
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

from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused
from model_accuracy_eval.rim.adapter.adapter_python import maker, refuse_replacing, wants_packages
from model_accuracy_eval.rim.adapter.deploy_script import deploy_command
from model_accuracy_eval.rim.adapter.listener import port_owner
from model_accuracy_eval.rim.adapter.log_tail import News, tail
from model_accuracy_eval.rim.adapter.surroundings import adapter_environment

_WARDEN = str(Path(__file__).with_name("warden.py"))
_START_LIMIT = 30.0
"""Seconds for a warden to come up; 0.05 is usual, but the machine may be busy."""
_STOP_LIMIT = 5.0
_DETAIL_LINES = 40
_NO_PIP = 90


class ProcessLauncher:
    """Implements `ports.Launcher`. `check` is called every 0.1 s of a wait, and may raise to end it."""

    def __init__(self, environ: Mapping[str, str], *, check: Callable[[], None] = lambda: None) -> None:
        self._environ = environ
        self._check = check

    def port_owner(self, port: int) -> str | None:
        return port_owner(port)

    def objection(self, folder: str) -> EvalError | None:
        try:
            deploy_command(folder, self._environ.get("PATH", os.defpath))
            refuse_replacing(Path(folder) / "requirements.txt")
        except Refused as refusal:
            return refusal
        return None

    def start(self, *, folder: str, model_path: str, port: int, log: str) -> "Process":
        environment = adapter_environment(self._environ, model_path=model_path, port=port)
        command = deploy_command(folder, environment.get("PATH", os.defpath))
        if not wants_packages(Path(folder) / "requirements.txt"):
            return Process(command, folder=folder, environment=environment, log=log)
        home = tempfile.mkdtemp(prefix="adapter-python-")
        try:
            python = self._make_python(home, environment, log)
            self._install(folder, python, log)
            return Process(command, folder=folder, environment=python, log=log, remove=home)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise

    def _make_python(self, home: str, environment: Mapping[str, str], log: str) -> dict[str, str]:
        """Makes the adapter's own Python in `home`, and gives the environment that uses it."""
        path = environment.get("PATH", os.defpath)
        python = shutil.which("python3", path=path)
        if python is None:
            raise Refused(f"requirements.txt cannot be installed: there is no python3 on the PATH ({path}).")
        code = self._run([python, "-c", maker(), home], home, environment, log, home)
        if code == _NO_PIP:
            raise Refused(f"requirements.txt cannot be installed: {python} has no pip; install pip for it.")
        if code:
            raise AdapterFailed(
                f"{python} could not make a virtual environment for requirements.txt (exit code {code}).",
                detail=tail(log, _DETAIL_LINES),
            )
        return {**environment, "PATH": f"{home}/bin{os.pathsep}{path}", "VIRTUAL_ENV": home}

    def _install(self, folder: str, environment: Mapping[str, str], log: str) -> None:
        requirements = str(Path(folder).resolve() / "requirements.txt")
        home = environment["VIRTUAL_ENV"]
        # By its file and not by `-m`: that would put the folder, with whatever module names, before pip's own.
        command = [f"{home}/bin/python3", f"{home}/bin/pip", "install", "--no-input", "-r", requirements]
        calm = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off"}
        with Path(log).open("ab") as output:
            output.write(f"── pip install -r {requirements}\n".encode(errors="replace"))
        code = self._run(command, folder, {**environment, **calm}, log, home)
        if code:
            raise AdapterFailed(
                f"Installing {requirements} failed: pip ended with exit code {code}.",
                detail=tail(log, _DETAIL_LINES),
                about=("requirements.txt", 1),
            )
        with Path(log).open("ab") as output:
            output.write("── deploy.sh\n".encode())

    def _run(self, command: list[str], folder: str, environment: Mapping[str, str], log: str, remove: str) -> int:
        process = Process(command, folder=folder, environment=environment, log=log, remove=remove)
        try:
            while (code := process.exit_code()) is None:
                self._check()
                process.wait(0.1)
        except BaseException:
            process.stop()
            raise
        process.finish()
        return code


class Process:
    """Implements `ports.Running`: one command below a warden of its own."""

    def __init__(
        self,
        command: list[str],
        *,
        folder: str,
        environment: Mapping[str, str],
        log: str,
        remove: str | None = None,
    ) -> None:
        self._log = log
        self._news = News(log)
        self._said: dict[str, Any] = {}
        self._heard = b""
        self._deaf = False
        self._ended = False
        self._hearing = threading.Lock()
        self._ending = threading.Lock()
        variables = dict(environment)
        order = {"command": command, "folder": folder, "environment": variables, "remove": remove}
        self._warden = _start_warden(log, variables)
        assert self._warden.stdin is not None
        assert self._warden.stdout is not None
        self._stdin, self._stdout = self._warden.stdin, self._warden.stdout
        os.set_blocking(self._stdout.fileno(), False)
        try:
            self._begin({**order, "parent": os.getpid()})
        except BaseException:
            self.stop()
            raise

    def _begin(self, order: dict[str, Any]) -> None:
        self._tell(json.dumps(order).encode() + b"\n")
        end = time.monotonic() + _START_LIMIT
        while not self._said.keys() & {"started", "failed"}:
            if self._deaf or time.monotonic() > end:
                raise AdapterFailed(
                    f"The process that watches over the adapter did not start within {_START_LIMIT:g} s.",
                    detail=self.tail(_DETAIL_LINES),
                )
            self.wait(0.1)
        if "failed" in self._said:
            raise AdapterFailed(f"'{order['command'][0]}' could not be started: {self._said['failed']}.")

    @property
    def pid(self) -> int:
        """Of the command, which leads a process group of that number."""
        return int(self._said.get("started", 0))

    def exit_code(self) -> int | None:
        """Minus the signal's number if one ended it; the warden's own code if that died before the command."""
        self._listen()
        if "exit" in self._said:
            return int(self._said["exit"])
        return self._warden.poll() if self._deaf else None

    def wait(self, seconds: float) -> None:
        """Returns early when there is news."""
        if self._deaf:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._warden.wait(max(0.0, seconds))
            return
        news = select.poll()  # unlike select(), it takes any number of open files
        news.register(self._stdout.fileno(), select.POLLIN)
        news.poll(max(0.0, seconds * 1000))
        self._listen()

    def tail(self, lines: int) -> str:
        return tail(self._log, lines)

    def news(self) -> str:
        """What was printed since the last call, in whole lines."""
        return self._news.read()

    def stop(self) -> None:
        self._end(b"stop\n")

    def finish(self) -> None:
        """Ends what the command left behind, but keeps the folder that is to be removed after a run."""
        self._end(b"keep\n")

    def _end(self, word: bytes) -> None:
        with self._ending:
            if self._ended:
                return
            self._tell(word)
            end = time.monotonic() + _STOP_LIMIT
            while self._warden.poll() is None and not self._said.get("stopped") and time.monotonic() < end:
                self.wait(end - time.monotonic())
            self._listen()
            self._account()
            self._ended = self._deaf = True
            for pipe in (self._stdin, self._stdout):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _account(self) -> None:
        """Deals with what did not end as it should."""
        left = self._said.get("stopped")
        if left is None and self._warden.poll() is not None and self.pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # the warden was killed; this is all that can be reached
        elif left or left is None:
            pids = ", ".join(map(str, left or [self.pid]))
            with Path(self._log).open("ab") as output:
                output.write(f"── still there after SIGKILL: pid {pids}\n".encode())

    def _tell(self, message: bytes) -> None:
        with contextlib.suppress(OSError):  # a dead warden is noticed when it is listened to
            self._stdin.write(message)
            self._stdin.flush()

    def _listen(self) -> None:
        with self._hearing:
            while not self._deaf:
                try:
                    chunk = os.read(self._stdout.fileno(), 4096)
                except BlockingIOError:
                    return
                self._deaf = not chunk
                *lines, self._heard = (self._heard + chunk).split(b"\n")
                for line in lines:
                    self._said.update(json.loads(line))


def _start_warden(log: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        with Path(log).open("ab") as output:
            return subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
                # -I and -S: neither the adapter's variables nor anybody's packages have a say in it.
                [sys.executable, "-I", "-S", _WARDEN],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd="/",
                env=environment,
                start_new_session=True,  # Ctrl-C in a terminal reaches us alone, and we decide
            )
    except OSError as error:
        raise AdapterFailed(f"The process that watches over the adapter could not be started: {error}.") from error
