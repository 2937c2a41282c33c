"""What a child of the fork server does before a program or tests run in it: descriptors, limits, user, filter."""

import importlib
import os
import random
import resource
import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

from model_accuracy_eval.sandbox.inside.kernel import Kernel

_MAX_FILES = 256
_MEGABYTE = 1 << 20


_KEPT_SIGNALS = {
    signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD,
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,  # these may be faults of our own
    signal.SIGPIPE, signal.SIGXFSZ,  # Python ignores these in any case
}  # fmt: skip
_BLOCKED_SIGNALS = signal.valid_signals() - _KEPT_SIGNALS
_plain_signal = importlib.import_module("_signal")
"""Without the enumerations of `signal`: what is not touched after a fork need not be copied."""

_HARD_LIMITS = {
    kind: sys.maxsize if hard == resource.RLIM_INFINITY else hard
    for kind in (
        resource.RLIMIT_AS,
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_NPROC,
        resource.RLIMIT_NOFILE,
        resource.RLIMIT_CORE,
    )
    for hard in resource.getrlimit(kind)[1:]
}
"""Those of the machine, which may be lower."""


def block_signals() -> None:
    """For the server: no program may end or stop it, where the kernel lets the program signal it at all."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED_SIGNALS)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Bounds(NamedTuple):
    """Limits that the kernel enforces; the server watches time and output."""

    memory_mb: int | None
    file_mb: int
    processes: int | None
    """None where something else limits them, or where the limit would count all processes of this user."""


def fork(work: Callable[[], None]) -> int:
    """A child with its own session that does the work alone: no handler, buffer or `finally` of ours runs in it."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        _plain_signal.signal(signal.SIGCHLD, _plain_signal.SIG_DFL)
        _plain_signal.pthread_sigmask(_plain_signal.SIG_SETMASK, ())
        random.seed(0)  # for all programs: a verdict must not depend on the day
        os.setsid()  # else it could signal the group of the server, and whoever started that
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - reported on the server's stderr, while that is open
        os.write(2, f"a process of the sandbox failed: {type(error).__name__}: {error}\n".encode()[:500])
    os._exit(code)


def keep_descriptors(*descriptors: int, output: int | None = None) -> None:
    """Moves these to 3, 4, …, closes all others, and leads 0 to 2 to the null device, or 1 and 2 to `output`."""
    null = os.open(os.devnull, os.O_RDWR)
    for number, descriptor in enumerate((null, output or null, output or null)):
        os.dup2(descriptor, number)
    # Two steps, because a target may be the source of the next one.
    copies = [os.dup2(descriptor, _MAX_FILES + number) for number, descriptor in enumerate(descriptors)]
    for number, descriptor in enumerate(copies, start=3):
        os.dup2(descriptor, number)
    os.closerange(3 + len(copies), _MAX_FILES + len(copies) + 1)


def confine(kernel: Kernel, bounds: Bounds, uid: int | None, *, secret: bool) -> None:
    """Sets limits, user and filter, none of which can be undone. `secret` hides the memory from its own user."""
    kernel.set_dumpable(True)
    # The kernel ends this process first when memory runs out: the server must stay to report it.
    _write("/proc/self/oom_score_adj", b"1000")
    memory = bounds.memory_mb and bounds.memory_mb * _MEGABYTE
    limits = (memory, bounds.file_mb * _MEGABYTE, bounds.processes, _MAX_FILES, 0)
    for (kind, hard), limit in zip(_HARD_LIMITS.items(), limits, strict=True):
        if limit is not None:
            resource.setrlimit(kind, (min(limit, hard),) * 2)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    # After the change of user, which resets both.
    kernel.end_with_parent()
    kernel.set_dumpable(not secret)
    if not secret:
        _plain_signal.signal(signal.SIGINT, signal.default_int_handler)  # as any Python has it
    kernel.filter()


def _write(path: str, data: bytes) -> None:
    """As plain as can be: what a file object touches in memory is copied for each process that opens one."""
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, data)
    os.close(descriptor)
