"""Fork servers on this machine: in namespaces of their own (bwrap), as a user of its own, or with nothing around it."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.code import Isolation
from model_accuracy_eval.rim.sandbox.shipping import BOOT
from model_accuracy_eval.rim.sandbox.surroundings import VARIABLES, interpreter
from model_accuracy_eval.rim.sandbox.worker import START_LIMIT, Line, Room

_LAST_SECONDS = 5.0
_SHARED_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - where any user may leave things

_ALTERNATIVES = Path("/etc/alternatives")
"""Where Debian's c++, java and their like are links to."""


class ProcessLine:
    """Implements `worker.Line` over a socket that is the input and the output of a process."""

    def __init__(self, command: list[str], settings: dict[str, Any], *, user: int | None, patient: bool) -> None:
        self.settings = settings
        self._folder: str | None = settings["folder"] if settings["sweep"] != "namespace" else None
        self._patient = patient
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._socket, theirs = socket.socketpair()
        identity: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._errors,
                env=VARIABLES,
                start_new_session=True,
                cwd="/",
                **identity,
            )

    def send(self, data: bytes) -> None:
        self._socket.settimeout(START_LIMIT)
        self._socket.sendall(data)

    def receive(self, count: int, deadline: float) -> bytes:
        found = bytearray()
        while len(found) < count:
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            chunk = self._socket.recv(count - len(found))
            if not chunk:
                raise EOFError("its process has ended")
            found += chunk
        return bytes(found)

    def last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)  # it may be speaking
        return os.pread(self._errors.fileno(), 65536, 0).decode("utf-8", "replace")

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        """Without a namespace only the server itself knows what it started: it is given time to sweep."""
        self.hang_up()
        if self._patient:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LAST_SECONDS)
        self._process.kill()
        self._process.wait()
        self._socket.close()
        self._errors.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


class BwrapBackend:
    """Implements `worker.Backend`: the container's namespaces without its engine; no control group."""

    isolation: Isolation = "namespace"
    preload: tuple[str, ...] = ()

    def __init__(self) -> None:
        found = shutil.which("bwrap")
        if not found:
            raise Refused("bubblewrap is not installed; type: apt-get install bubblewrap.")
        self._command = found
        self.image = self._python = interpreter()
        # The superuser's processes are not counted, so its servers run as somebody else.
        self._user = random.SystemRandom().randrange(100_000, 60_000_000) if os.geteuid() == 0 else None

    def start(self, room: Room) -> Line:
        settings = {
            "folder": "/tmp", "places": ["/tmp", "/dev/shm"], "sweep": "namespace",  # noqa: S108
            "uid": None, "judge_uid": None, "own_processes": 2,
        }  # fmt: skip
        return ProcessLine(self._words(room), settings, user=self._user, patient=False)

    def close(self) -> None:
        """Workers end by themselves."""

    def _words(self, room: Room) -> list[str]:
        disk = str(room.disk_mb << 20)
        tree = ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            place = Path("/", name)
            if place.is_symlink():
                tree += ["--symlink", f"usr/{name}", f"/{name}"]
            elif place.is_dir():
                tree += ["--ro-bind", str(place), str(place)]
        if _ALTERNATIVES.is_dir():
            tree += ["--ro-bind", str(_ALTERNATIVES), str(_ALTERNATIVES)]
        home = str(Path(self._python).parent.parent)
        if not home.startswith("/usr"):
            tree += ["--ro-bind", home, home]
        return [
            self._command, "--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL",
            "--hostname", "sandbox", "--uid", "65534", "--gid", "65534", *tree,
            "--proc", "/proc", "--dev", "/dev", "--size", disk, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",  # noqa: S108
            "--size", disk, "--tmpfs", "/tmp", "--remount-ro", "/", self._python, "-s", "-c", BOOT,  # noqa: S108
        ]  # fmt: skip


class UserBackend:
    """Implements `worker.Backend`: two users that nobody else is, for the program and for its tests."""

    isolation: Isolation = "uid"
    preload: tuple[str, ...] = ()

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise Refused("The sandbox uid changes the user of its processes, which only root may; run it as root.")
        self.image = self._python = interpreter()

    def start(self, room: Room) -> Line:
        folder = _own_folder()
        uid = random.SystemRandom().randrange(*_free_uids()) & ~1
        os.chmod(folder, 0o1777)  # noqa: PTH101, S103 - the program's, who is another user
        settings = {
            "folder": folder, "places": [folder, *_SHARED_PLACES], "sweep": "user",
            "uid": uid, "judge_uid": uid + 1, "own_processes": 0,
        }  # fmt: skip
        return ProcessLine([self._python, "-s", "-c", BOOT], settings, user=None, patient=True)

    def close(self) -> None:
        """Workers end by themselves."""


class BareBackend:
    """Implements `worker.Backend`: limits and honest verdicts, and nothing that contains a program."""

    isolation: Isolation = "none"
    preload: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.image = self._python = interpreter()

    def start(self, room: Room) -> Line:
        folder = _own_folder()
        settings = {
            "folder": folder, "places": [folder], "sweep": "children",
            "uid": None, "judge_uid": None, "own_processes": None,
        }  # fmt: skip
        return ProcessLine([self._python, "-s", "-c", BOOT], settings, user=None, patient=True)

    def close(self) -> None:
        """Workers end by themselves."""


def _own_folder() -> str:
    return tempfile.mkdtemp(prefix="model-accuracy-eval-sandbox-")


def _free_uids() -> tuple[int, int]:
    """The upper half of the users that this namespace knows."""
    first, _, count = map(int, Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()[-1].split())
    last = min(first + count, 2**31) - 2
    return (first + last) // 2, last
