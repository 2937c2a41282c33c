"""Ends everything that a job started."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from model_accuracy_eval.sandbox.inside.messages import ServerSettings

_FIRST_FREE_UID = 1000
_MAX_ROUNDS = 2000


def kill_namespace(_uid: int | None) -> None:
    """Kills everything in the pid namespace but us, its first process, in one step that no fork can outrun."""
    if os.getpid() != 1:
        raise RuntimeError("only the first process of a pid namespace may kill all others")
    _signal_all()


def kill_user(uid: int | None) -> None:
    """Kills everything of the job's user, by a child that has become that user."""
    if uid is None or uid < _FIRST_FREE_UID:
        raise RuntimeError(f"the user {uid} is not one of ours")
    pid = os.fork()
    if not pid:
        try:
            os.setgroups([])
            os.setresuid(uid, uid, uid)
            if os.getresuid() == (uid, uid, uid):
                _signal_all()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def kill_children(_uid: int | None) -> None:
    """Kills our children. A program that forks all the time may outrun this."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    for pid in map(int, children.read_bytes().split()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # noqa: PERF203 - it ended in between
            continue


def _signal_all() -> None:
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return


SWEEPS: dict[str, Callable[[int | None], None]] = {
    "namespace": kill_namespace,
    "user": kill_user,
    "children": kill_children,
}


class ProcessEnd(NamedTuple):
    """How a process ended, and what it had used."""

    status: int
    cpu: float
    memory_kb: int


def wakeup_of_children() -> int:
    """A descriptor that can be read when a child has ended."""
    reader, writer = os.pipe()
    for descriptor in (reader, writer):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def reap(ended: dict[int, ProcessEnd], flags: int = os.WNOHANG) -> bool:
    """Notes every child that has ended, and returns whether any child is left."""
    try:
        while True:
            pid, status, used = os.wait4(-1, flags)
            if not pid:
                return True
            # The first process of a number is the job's own; the system may have given the number out again.
            ended.setdefault(pid, ProcessEnd(status, used.ru_utime + used.ru_stime, used.ru_maxrss))
    except ChildProcessError:
        return False


def end_processes(sweep: str, uids: list[int | None], ended: dict[int, ProcessEnd]) -> bool:
    """Kills and reaps until there is no child (ECHILD), and returns whether that was reached.

    Orphans become our children, so no child means that nothing of the job runs any more.
    """
    # Where children are killed one by one, their own children come to us later: there, nothing is waited for.
    flags = os.WNOHANG if sweep == "children" else 0
    for _ in range(_MAX_ROUNDS):
        for uid in uids:
            SWEEPS[sweep](uid)
        if not reap(ended, flags):
            return True
        time.sleep(0.001)
    return False


# What a job may leave behind for the next one: files, kernel objects, and the state of the network.


# Names of any bytes, and links that must not be followed: no pathlib here.
# ruff: noqa: PTH101, PTH104, PTH106, PTH108, PTH112, PTH114, PTH116, PTH118


MAX_FILES = 16_384
"""In each folder that is in memory, where a million empty files would take a gigabyte."""
_TRAFFIC = (Path("/proc/net/snmp"), Path("/proc/net/snmp6"))
"""Counters of all packets and connections."""
_MAX_COUNTERS = 1 << 16


class Leftovers:
    """Of the jobs of one fork server."""

    def __init__(self, settings: ServerSettings, *, objects_refused: bool = False) -> None:
        """`objects_refused`: a filter refuses each program the calls that make kernel objects of System V."""
        self._settings = settings
        self._may_have_objects = settings.sweep != "children" and not objects_refused
        self._places = {place: _properties(place) for place in settings.places if os.path.isdir(place)}
        # Tests write files, too, and may be another user than the program.
        self._owners = {os.getuid() if uid is None else uid for uid in (settings.uid, settings.judge_uid)}
        # A namespace of processes never comes without one of the network, and folders in memory.
        self._confined = settings.sweep == "namespace"
        counters = [path for path in _TRAFFIC if path.exists()] if self._confined else []
        self._counters = [os.open(path, os.O_RDONLY) for path in counters]
        self._traffic = self._read_traffic()

    def too_many(self) -> bool:
        """Whether the running job has made more files than it may."""
        return self._confined and any(_count_files(place) > MAX_FILES for place in self._places)

    def remove(self) -> bool:
        """Removes the user's files; returns whether nothing at all is left."""
        try:
            for place in self._places:
                for path in self._files_in(place):
                    _remove(path)
                if self._confined:
                    os.utime(place)  # which its owner may set to any time
            return self._as_at_first()
        except OSError:
            return False

    def _as_at_first(self) -> bool:
        unchanged = all(_properties(place) == properties for place, properties in self._places.items())
        # Of what was sent the kernel keeps a closed connection's port for a minute, and what it learned.
        silent = self._read_traffic() == self._traffic
        return unchanged and silent and not (any(map(self._files_in, self._places)) or self._has_objects())

    def _files_in(self, place: str) -> list[str]:
        with os.scandir(place) as entries:
            return [entry.path for entry in entries if _owner(entry) in self._owners]

    def _has_objects(self) -> bool:
        """Whether there are shared memory, semaphores or message queues of System V, which outlive their processes."""
        return self._may_have_objects and any(
            _has_kernel_objects(Path("/proc/sysvipc", kind), self._owners) for kind in ("shm", "sem", "msg")
        )

    def _read_traffic(self) -> list[bytes]:
        return [os.pread(counter, _MAX_COUNTERS, 0) for counter in self._counters]


def _properties(place: str) -> tuple[object, ...]:
    """What a program can change of a folder in a namespace, where it belongs to the program."""
    state = os.stat(place)
    return state.st_mode, state.st_uid, state.st_gid, os.listxattr(place)


def _count_files(place: str) -> int:
    space = os.statvfs(place)
    return space.f_files - space.f_ffree


def _has_kernel_objects(listing: Path, owners: set[int]) -> bool:
    if not listing.exists():
        return False
    head, *rows = listing.read_text(encoding="ascii").splitlines()
    column = head.split().index("uid")
    return any(int(row.split()[column]) in owners for row in rows)


def _owner(entry: "os.DirEntry[str]") -> "int | None":
    """None: it has gone since it was listed, as files of others do where folders are the machine's."""
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except FileNotFoundError:
        return None


def _remove(path: str) -> None:
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
    else:
        remove_tree(path)


def remove_tree(root: str) -> None:
    """Unlocks each folder, and moves what is in it up into the root, so that no path gets too long.

    Links are never followed: we may have more rights than the program that made them.
    """
    folders, free_name = [root], os.path.join(root, os.urandom(8).hex())
    for folder in folders:
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                elif folder == root:
                    folders.append(entry.path)
                else:
                    os.chmod(entry.path, 0o700)  # to move it is to write to it
                    folders.append(f"{free_name}-{len(folders)}")
                    os.rename(entry.path, folders[-1])
        if folder != root:
            os.rmdir(folder)
    os.rmdir(root)
