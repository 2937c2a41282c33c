"""Opens a sandbox in the strongest isolation that works on this machine, or in the one that was asked for by name."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from model_accuracy_eval.errors import AdapterFailed, BadValue, Refused, UnknownName
from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Isolation
from model_accuracy_eval.sandbox.docker_backend import DockerBackend
from model_accuracy_eval.sandbox.inside.cleanup import remove_tree
from model_accuracy_eval.sandbox.inside.messages import ServerSettings
from model_accuracy_eval.sandbox.mode_detection import ModeDetectingSandbox
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.sandbox.program_environment import VARIABLES, interpreter
from model_accuracy_eval.sandbox.worker import BOOTSTRAP, Backend, WorkerConnection, WorkerLost, WorkerSize
from model_accuracy_eval.system.docker_engine import Labels
from model_accuracy_eval.system.unprivileged_user import unused_uid

IMAGE = "python:3.11-slim-bookworm"
KINDS = ("auto", "docker", "bwrap", "uid", "none")
_AUTO_KINDS = ("docker", "bwrap")
"""What `auto` may take: the others let programs see this machine, which is for the user to decide."""


def open_sandbox(
    kind: str,
    environment: Mapping[str, str],
    *,
    image: str | None = None,
    workers: int | None = None,
    labels: Labels | None = None,
    say: Callable[[str], None] = lambda sentence: None,
    check: Callable[[], None] = lambda: None,
) -> Sandbox:
    """Returns a sandbox of this kind (`KINDS`) with one worker that is up already, so that faults show at once.

    `environment` says where the engine is; `workers` is how many programs run at a time (default: one for each core);
    `labels` are for `sweep_orphans`, which removes what a killed run could not. `auto` takes the strongest
    kind that works, and `passed_over` says why it took none stronger; but who names an image gets it, or a refusal.
    An image that is not here is pulled: `say` shows how far that is, and `check` may raise to end it. Raises `Refused`
    with the next command to type; blocks for a second or so; call it from a thread that lasts as long as the sandbox.
    """
    if kind not in KINDS:
        raise UnknownName("sandbox", kind, KINDS)
    makers: dict[str, Callable[[], Backend]] = {
        "docker": lambda: DockerBackend(environment, image or IMAGE, labels or Labels(repository=""), say, check),
        "bwrap": BwrapBackend,
        "uid": UserBackend,
        "none": UnconfinedBackend,
    }
    if image is not None:
        if kind not in {"auto", "docker"}:
            raise BadValue(f"The sandbox {kind} has no images: take --sandbox docker for {image}, or name no image.")
        kind = "docker"  # on this machine's own Python programs could get other verdicts
    if kind != "auto":
        return _open(makers[kind], kind, workers, ())
    passed_over: list[str] = []
    for candidate in _AUTO_KINDS:
        try:
            return _open(makers[candidate], candidate, workers, tuple(passed_over))
        except (AdapterFailed, Refused) as error:  # noqa: PERF203 - two rounds
            passed_over.append(f"{candidate}: {error.sentence}")
    raise Refused(
        "Nothing here can hold code that a model wrote; make one of these work, or take --sandbox uid or none "
        f"if this machine may be harmed. {' '.join(passed_over)}"
    )


def _open(make: Callable[[], Backend], kind: str, workers: int | None, passed_over: tuple[str, ...]) -> Sandbox:
    backend = make()
    pool = WorkerPool(backend, workers=workers, passed_over=passed_over)
    try:
        info = pool.start_first().info
    except WorkerLost as error:
        pool.end()
        raise Refused(f"The sandbox {kind} does not work on this machine: {str(error).rstrip('.')}.") from error
    if backend.isolation in {"namespace", "uid"} and not info.filters:
        pool.end()
        raise Refused(f"The sandbox {kind} has no filter of system calls for this machine; use --sandbox docker.")
    return ModeDetectingSandbox(pool)


# Fork servers on this machine: in namespaces of their own (bwrap), as a user of their own, or unconfined.


_SWEEP_SECONDS = 5.0
_SHARED_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - where any user may leave files

_ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
"""What programs find in /etc, as in a container of Debian."""
_ETC_OF_LANGUAGES = ("alternatives", "java-*")
"""Where the links of Debian's c++, java and their like are, and the settings without which Java does not start."""


class ProcessConnection(WorkerConnection):
    """Over a socket that is the input and the output of a process."""

    def __init__(
        self, command: list[str], settings: ServerSettings, *, user: int | None = None, passed: Sequence[int] = ()
    ) -> None:
        """`passed`: descriptors that the command names."""
        ours, theirs = socket.socketpair()
        super().__init__(settings, ours)
        self._own_namespace = settings.sweep == "namespace"
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._stderr,
                env={**VARIABLES, "HOME": settings.folder},
                start_new_session=True,
                cwd="/",
                user=user,
                group=user,
                extra_groups=None if user is None else [],
                pass_fds=passed,
            )

    def stderr(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)  # it may be printing
        return os.pread(self._stderr.fileno(), 65536, 0).decode("utf-8", "replace")

    def kill(self) -> None:
        """Without a namespace only the server itself knows what it started: it gets time to end all of that."""
        self.disconnect()
        if not self._own_namespace:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_SWEEP_SECONDS)
        self._process.kill()
        self._process.wait()
        self._socket.close()
        self._sender.close()
        self._stderr.close()
        if not self._own_namespace:
            with contextlib.suppress(OSError):
                remove_tree(self.settings.folder)


class _LocalBackend:
    """What the kinds of isolation on this machine have in common."""

    preload: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.image = self._python = interpreter()

    def close(self) -> None:
        """Workers end by themselves."""


class BwrapBackend(_LocalBackend):
    """Implements `worker.Backend`: a container's namespaces without an engine; no control group."""

    isolation: Isolation = "namespace"

    def __init__(self) -> None:
        command = shutil.which("bwrap")
        if not command:
            raise Refused("bubblewrap is not installed; type: apt-get install bubblewrap.")
        super().__init__()
        self._command = command
        # From version 0.8 on; the filter of system calls refuses the same to every program.
        known = subprocess.run([command, "--help"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        self._options = [one for one in ("--disable-userns",) if one in known]

    def start(self, size: WorkerSize) -> WorkerConnection:
        settings = ServerSettings(
            folder="/tmp", places=["/tmp", "/dev/shm"], sweep="namespace",  # noqa: S108
            uid=None, judge_uid=None, own_processes=2,
        )  # fmt: skip
        with contextlib.ExitStack() as opened:
            etc = {name: opened.enter_context(_file_of(text)).fileno() for name, text in _ETC.items()}
            # The kernel counts pipes, watches and processes by user, and none of the superuser's.
            user = unused_uid() if os.geteuid() == 0 else None
            return ProcessConnection(self._command_line(size, etc), settings, user=user, passed=list(etc.values()))

    def _command_line(self, size: WorkerSize, etc: Mapping[str, int]) -> list[str]:
        disk = str(size.disk_mb << 20)
        tree = ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            path = Path("/", name)
            if path.is_symlink():
                tree += ["--symlink", f"usr/{name}", f"/{name}"]
            elif path.is_dir():
                tree += ["--ro-bind", str(path), str(path)]
        for folder in (found for name in _ETC_OF_LANGUAGES for found in sorted(Path("/etc").glob(name))):
            tree += ["--ro-bind", str(folder), str(folder)]
        home = str(Path(self._python).parent.parent)
        if not home.startswith("/usr"):
            tree += ["--ro-bind", home, home]
        for name, descriptor in etc.items():
            tree += ["--ro-bind-data", str(descriptor), f"/etc/{name}"]
        return [
            self._command, "--unshare-all", "--unshare-user", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL",
            *self._options, "--hostname", "sandbox", "--uid", "65534", "--gid", "65534", *tree,
            "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev",
            "--size", disk, "--tmpfs", "/dev/shm", "--remount-ro", "/dev",  # noqa: S108
            "--size", disk, "--tmpfs", "/tmp", "--remount-ro", "/", self._python, "-s", "-c", BOOTSTRAP,  # noqa: S108
        ]  # fmt: skip


def _file_of(text: str) -> IO[bytes]:
    """A file without a name, to be read from its beginning."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - its caller's
    file.write(text.encode())
    file.seek(0)
    return file


class UserBackend(_LocalBackend):
    """Implements `worker.Backend`: two users that nobody else is, for the program and for its tests."""

    isolation: Isolation = "uid"

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise Refused("The sandbox uid changes the user of its processes, which only root may; run it as root.")
        super().__init__()

    def start(self, size: WorkerSize) -> WorkerConnection:
        folder = _own_folder()
        uid = unused_uid()
        os.chmod(folder, 0o1777)  # noqa: PTH101, S103 - the program's, which runs as another user
        settings = ServerSettings(
            folder=folder, places=[folder, *_SHARED_PLACES], sweep="user",
            uid=uid, judge_uid=uid + 1, own_processes=0,
        )  # fmt: skip
        return ProcessConnection([self._python, "-s", "-c", BOOTSTRAP], settings)


class UnconfinedBackend(_LocalBackend):
    """Implements `worker.Backend`: limits and honest verdicts, and nothing that confines a program."""

    isolation: Isolation = "none"

    def start(self, size: WorkerSize) -> WorkerConnection:
        folder = _own_folder()
        settings = ServerSettings(
            folder=folder, places=[folder], sweep="children", uid=None, judge_uid=None, own_processes=None
        )
        return ProcessConnection([self._python, "-s", "-c", BOOTSTRAP], settings)


def _own_folder() -> str:
    return tempfile.mkdtemp(prefix="model-accuracy-eval-sandbox-")
