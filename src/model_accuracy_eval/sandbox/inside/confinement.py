"""What a child of the fork server does before a program or tests run in it: descriptors, limits, user, filter."""

import ctypes
import importlib
import os
import random
import resource
import signal
import struct
import sys
from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

# A filter of system calls as the kernel's bytecode.
#
# It refuses what no program of a benchmark needs: memory of other processes, a network, namespaces, signals to the fork
# server, and kernel objects that outlive a process. To change a priority, or to wait for a disk, succeeds without
# effect.


_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_REFUSE, _MISSING, _PRETEND = _ERRNO | 1, _ERRNO | 38, _ERRNO
"""EPERM; ENOSYS, upon which C libraries take the older call; success without any effect."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
"""From here on x86 numbers its calls a second time. Nothing uses that but programs that try to get round a filter."""

_UNIX, _INET, _INET6 = 1, 2, 10
_NEW_NAMESPACES = 0x7E020000
"""The flags of clone, for mounts, control groups, names, IPC, users, processes and the network."""

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Which number in the tables below, and what the kernel calls this machine."""

_REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "io_uring_setup": (425, 425), "userfaultfd": (323, 282), "bpf": (321, 280), "perf_event_open": (298, 241),
    "unshare": (272, 97), "setns": (308, 268), "pidfd_send_signal": (424, 424),
}  # fmt: skip
_SIGNALS = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
"""Their first argument is whom they signal."""
_PRIORITIES = {
    "setpriority": (141, 140), "ioprio_set": (251, 30),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
}  # fmt: skip
_DISKS = {"sync": (162, 81), "syncfs": (306, 267), "fsync": (74, 82), "fdatasync": (75, 83)}
"""Programs have no disk, and would wait for what others write to the machine's."""
_SOCKET, _PRLIMIT, _SET_AFFINITY = (41, 198), (302, 261), (203, 122)
_CLONE, _CLONE3 = (56, 220), (435, 435)
_MEMFD_CREATE, _MEMFD_SECRET = (319, 279), (447, 447)

_Instruction = tuple[int, int, int, int]
"""What to do, how many instructions to skip if it holds and if not, and a value."""


class _Rule(NamedTuple):
    """What becomes of a call whose first argument meets the test with any of the values, and what of all others."""

    numbers: tuple[int, int]
    otherwise: int
    values: tuple[int, ...] = ()
    met: int = _ALLOW
    test: int = _EQUAL

    def assembled(self, column: int) -> list[_Instruction]:
        number, count = self.numbers[column], len(self.values)
        if not count:
            return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, self.otherwise)]
        return [
            (_EQUAL, 0, count + 3, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            *((self.test, count - index, 0, value) for index, value in enumerate(self.values)),
            (_RETURN, 0, 0, self.otherwise),
            (_RETURN, 0, 0, self.met),
        ]


def assemble(machine: str, server: int, *, own_network: bool) -> bytes | None:
    """The filter for jobs of the fork server with that process id; None where the numbers of calls are not known."""
    if machine not in _MACHINES or struct.calcsize("P") != 8:
        return None
    column, architecture = _MACHINES[machine]
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
    ]
    rules = _rules(server, (_UNIX, _INET, _INET6) if own_network else (_UNIX,))
    rules.sort(key=lambda rule: rule.numbers[column])
    middle = len(rules) // 2
    # Each process that the filter is for pays for its length: no call is compared with more than half of the numbers.
    lower, upper = ([*chain(*(rule.assembled(column) for rule in half)), (_RETURN, 0, 0, _ALLOW)]
                    for half in (rules[:middle], rules[middle:]))  # fmt: skip
    code += [(_AT_LEAST, len(lower), 0, rules[middle].numbers[column]), *lower, *upper]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def _rules(server: int, families: tuple[int, ...]) -> list[_Rule]:
    protected = tuple(pid & 0xFFFFFFFF for pid in (server, -server, -1))  # itself, its group, and everybody
    return [
        *(_Rule(numbers, _REFUSE) for numbers in _REFUSED.values()),
        *(_Rule(numbers, _PRETEND) for numbers in (*_PRIORITIES.values(), *_DISKS.values())),
        *(_Rule(numbers, _ALLOW, protected, _REFUSE) for numbers in _SIGNALS.values()),
        _Rule(_SOCKET, _REFUSE, families),
        _Rule(_PRLIMIT, _REFUSE, (0,)),  # of no other process
        _Rule(_SET_AFFINITY, _PRETEND, (0,)),
        _Rule(_CLONE, _ALLOW, (_NEW_NAMESPACES,), _REFUSE, _ANY_BIT),
        _Rule(_CLONE3, _MISSING),  # its flags are where no filter can see them
        _Rule(_MEMFD_CREATE, _MISSING),  # files in memory that no limit counts
        _Rule(_MEMFD_SECRET, _MISSING),
    ]


# What Python's library has no function for: installing a filter of system calls, and three properties of a process.


_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2


class _Code(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class Kernel:
    """The filter is built once and installed in each child; `filters` is False where the call numbers are not known."""

    def __init__(self, *, own_network: bool) -> None:
        """`own_network`: the network is a loopback of our own namespace, so programs may use it."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        code = assemble(os.uname().machine, os.getpid(), own_network=own_network)
        self.filters = code is not None
        self._code = _Code(len(code) // 8, code) if code else None

    def filter(self) -> None:
        if self._code:
            self._prctl(_SET_NO_NEW_PRIVILEGES, 1)
            self._prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(self._code))

    def end_with_parent(self) -> None:
        self._prctl(1, signal.SIGKILL)

    def set_dumpable(self, dumpable: bool) -> None:
        """Where it is False, /proc shows the process's memory, environment and descriptors to the superuser alone."""
        self._prctl(4, int(dumpable))

    def adopt_orphans(self) -> None:
        self._prctl(36, 1)

    def _prctl(self, *arguments: int) -> None:
        if self._libc.prctl(*map(ctypes.c_ulong, (*arguments, *(0,) * (5 - len(arguments))))):
            raise OSError(ctypes.get_errno(), f"prctl{arguments} was refused")


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
