"""Adapters as plain processes of this machine: `requirements.txt` is installed, then `deploy.sh` runs.

    launcher ─ stdin: order, then silence ─► warden ─ own session ─► pip, or sh deploy.sh ─► …
             ◄─ stdout: started, exit, stopped ─                      └─ output ─► log

Every command runs below a warden (see `warden.py`), pip included, so that ending this process in any way, by
SIGKILL even, ends all of them.
"""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from model_accuracy_eval.errors import AdapterFailed, Refused
from model_accuracy_eval.rim import surroundings

_WARDEN = str(Path(__file__).with_name("warden.py"))
_START_LIMIT = 30.0
"""Seconds for the warden to come up; 0.05 is usual, a machine that loads weights is another matter."""
_STOP_LIMIT = 5.0
_TAIL_BYTES = 256 * 1024
_DETAIL_LINES = 40
_NO_PIP = 90
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]|[ -/]+[0-~])|\x9b[0-?]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


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
        self._said: dict[str, Any] = {}
        self._heard = b""
        self._deaf = False
        self._lock = threading.Lock()
        with Path(log).open("ab") as output:
            self._warden = subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
                # -I and -S: neither the adapter's variables nor anybody's site-packages have a say in it.
                [sys.executable, "-I", "-S", _WARDEN],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd="/",
                env=dict(environment),
                start_new_session=True,  # Ctrl-C in a terminal reaches us, and we decide
            )
        order = {
            "command": command,
            "folder": folder,
            "environment": dict(environment),
            "parent": os.getpid(),
            "remove": remove,
        }
        try:
            self._begin(order)
        except BaseException:
            self.stop()
            raise

    def _begin(self, order: dict[str, Any]) -> None:
        assert self._warden.stdout is not None
        os.set_blocking(self._warden.stdout.fileno(), False)
        self._tell(json.dumps(order).encode() + b"\n")
        end = time.monotonic() + _START_LIMIT
        while not self._said.keys() & {"started", "failed"}:
            if self._deaf or time.monotonic() > end:
                raise AdapterFailed(
                    f"The process that watches over deploy.sh did not start within {_START_LIMIT:g} s.",
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
        """None while it runs; minus the signal's number if one ended it; the warden's own if that died first."""
        self._listen()
        if "exit" in self._said:
            return int(self._said["exit"])
        return (self._warden.poll() or None) if self._deaf else None

    def wait(self, seconds: float) -> None:
        """Returns early when there is news."""
        if self._deaf or self._warden.stdout is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._warden.wait(seconds)
            return
        news = select.poll()  # unlike select(), takes any number of open files
        news.register(self._warden.stdout.fileno(), select.POLLIN)
        news.poll(seconds * 1000)
        self._listen()

    def tail(self, lines: int) -> str:
        return tail(self._log, lines)

    def stop(self) -> None:
        self._end(b"stop\n")

    def finish(self) -> None:
        """Ends what the command left behind, but keeps what is to be removed at the end of a run."""
        self._end(b"keep\n")

    def _end(self, word: bytes) -> None:
        self._tell(word)
        end = time.monotonic() + _STOP_LIMIT
        while self._warden.poll() is None and not self._said.get("stopped") and time.monotonic() < end:
            self.wait(end - time.monotonic())
        self._listen()
        if "stopped" not in self._said and self.pid and self._warden.poll() is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # somebody killed the warden: no more than this is left to do
        if self._warden.poll() is None:
            self._note_survivors()
        for pipe in (self._warden.stdin, self._warden.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
