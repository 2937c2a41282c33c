"""What Python's library has no function for: a filter of system calls, and three properties of a process.

The filter denies what no program of a benchmark needs: memory of other processes, a network, and kernel objects that
outlive a process.
"""

import ctypes
import os
import signal
import struct

_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | 1  # the latter fails with EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
"""From here on x86 numbers its calls a second time. Nothing uses that but programs that try to get round a filter."""

_MACHINES = {
    # architecture; socket, prlimit64; ptrace, process_vm_readv, process_vm_writev, shmget, semget, msgget, mq_open,
    # io_uring_setup, userfaultfd, bpf, keyctl, add_key, request_key, perf_event_open, pidfd_getfd, kcmp, unshare, setns
    "x86_64": (
        0xC000003E, 41, 302,
        (101, 310, 311, 29, 64, 68, 240, 425, 323, 321, 250, 248, 249, 298, 438, 312, 272, 308),
    ),
    "aarch64": (
        0xC00000B7, 198, 261,
        (117, 270, 271, 194, 190, 186, 180, 425, 282, 280, 219, 217, 218, 241, 438, 272, 97, 268),
    ),
}  # fmt: skip

_UNIX, _INET, _INET6 = 1, 2, 10
_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2


class _Code(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class Kernel:
    """The filter is built once and installed in each child; `filters` is False where the call numbers are not known."""

    def __init__(self, *, own_network: bool) -> None:
        """`own_network`: the network is a loopback of our own namespace, so programs may use it."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        known = _MACHINES.get(os.uname().machine)
        self.filters = known is not None and struct.calcsize("P") == 8
        if known and self.filters:
            code = _assemble(*known, families=(_UNIX, _INET, _INET6) if own_network else (_UNIX,))
            self._code = _Code(len(code) // 8, code)

    def filter(self) -> None:
        if self.filters:
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


def _assemble(
    architecture: int, socket: int, prlimit: int, denied: tuple[int, ...], *, families: tuple[int, ...]
) -> bytes:
    """The filter as the kernel's bytecode; a jump is the number of instructions that it skips."""
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _DENY),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _DENY),
    ]
    for number in denied:
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _DENY)]
    for number, allowed in ((socket, families), (prlimit, (0,))):  # no other family, no other process
        count = len(allowed)
        code += [
            (_EQUAL, 0, count + 3, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            *((_EQUAL, count - index, 0, value) for index, value in enumerate(allowed)),
            (_RETURN, 0, 0, _DENY),
            (_LOAD, 0, 0, _NUMBER),
        ]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)
