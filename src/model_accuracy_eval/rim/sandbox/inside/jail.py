"""What a child of the server does before anything foreign runs in it: descriptors, limits, user, filter."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from model_accuracy_eval.rim.sandbox.inside.kernel import Kernel

_MOST_FILES = 256
_MEGABYTE = 1 << 20


class Bounds(NamedTuple):
    """Limits that the kernel keeps; time and output are watched by the server."""

    memory_mb: int | None
    file_mb: int
    processes: int | None
    """None where something else counts them, or where the count would hold everything of this user."""


def fork(work: Callable[[], None]) -> int:
    """A child that does the work and nothing else: no handler, buffer or `finally` of ours runs in it."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - told on the server's own channel, while it is open
        os.write(2, f"a process of the sandbox gave up: {type(error).__name__}: {error}\n".encode()[:500])
    os._exit(code)


def settle(descriptors: list[int]) -> None:
    """Moves these to 3, 4, …; closes all others but 0 to 2."""
    high = [os.dup2(one, _MOST_FILES + number) for number, one in enumerate(descriptors)]
    for number, one in enumerate(high, start=3):
        os.dup2(one, number)
    os.closerange(3 + len(high), _MOST_FILES + len(high) + 1)


def silence(output: int | None = None) -> None:
    """Input and output are nothing, or the output a pipe."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, one in enumerate((nothing, output or nothing, output or nothing)):
        os.dup2(one, number)


def confine(kernel: Kernel, bounds: Bounds, uid: int | None, *, secret: bool) -> None:
    """Limits, user and filter, none of which can be taken back. `secret` hides the memory from its own user."""
    kernel.be_dumpable(True)
    # First to go when memory ends: the server must stay to tell.
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    for kind, most in (
        (resource.RLIMIT_AS, bounds.memory_mb and bounds.memory_mb * _MEGABYTE),
        (resource.RLIMIT_FSIZE, bounds.file_mb * _MEGABYTE),
        (resource.RLIMIT_NPROC, bounds.processes),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        if most is not None:
            _lower(kind, most)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    # After the change of user, which resets both.
    kernel.end_with_parent()
    kernel.be_dumpable(not secret)
    kernel.filter()


def _lower(kind: int, most: int) -> None:
    """Both limits; the machine's own may be lower already."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
