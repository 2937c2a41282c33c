"""How much core time the processes of a job had, and how long they waited for it on a busy machine.

Everything is read from `/proc`, from files that every kernel has: the states of threads now and then, and their times.
"""

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

from model_accuracy_eval.sandbox.inside.cleanup import ProcessEnd

_TICKS = os.sysconf("SC_CLK_TCK")
_SHORTEST_GAP, _GAP_SPREAD = 0.05, 0.1
_GOLDEN_RATIO = 0.618
"""Looks follow no rhythm: a program that wakes up ten times a second must not be seen awake each time."""


class CoreTime:
    """The core time of one job, whose processes are all below this one."""

    def __init__(self, *, alone: bool = False) -> None:
        """`alone`: as nothing else in the sandbox reads, to wait for a disk is the program's own doing."""
        self._states = "R" if alone else "RD"
        self._looks = 0
        self._used_before = 0.0
        self.begin()

    def begin(self) -> None:
        """Forgets how long a core was waited for."""
        self._wanted = self._had = 0.0
        self._run: dict[str, float] = {}
        self._last_look = time.monotonic()

    def forget_used(self, ended: dict[int, ProcessEnd]) -> None:
        """Forgets the core time until now too."""
        self._used_before += self.used(ended)

    @property
    def gap(self) -> float:
        """Seconds between the last look and the next."""
        return _SHORTEST_GAP + _GAP_SPREAD * (self._looks * _GOLDEN_RATIO % 1)

    def look_if_due(self) -> None:
        if time.monotonic() - self._last_look >= self.gap:
            self.look()

    def look(self) -> None:
        """Notes whether any thread wants a core. Where the look itself is late, nothing else here had one either."""
        now = time.monotonic()
        since, late = now - self._last_look, now - self._last_look - 2 * self.gap
        self._last_look = now
        self._looks += 1
        wanting = [thread for pid in _processes() for thread in _threads(pid) if _is_in(self._states, thread)]
        self._wanted += since if wanting else max(0.0, late)
        self._had += since * self._largest_share(wanting, since)

    def _largest_share(self, wanting: list[str], since: float) -> float:
        """Which share of that time one of these threads had a core. The kernel forgets what processes used that nobody
        waits for, if their parent has said so; so no program looks as if it had waited by doing its work in them."""
        before, self._run = self._run, {thread: _core_seconds(thread) for thread in wanting}
        shares = [
            run - before[thread] if thread in before else run * since / max(_age(thread), since / 1e3)
            for thread, run in self._run.items()
        ]
        return min(1.0, max(shares, default=0.0) / since) if since > 0 else 0.0

    def used(self, ended: dict[int, ProcessEnd], *, all_ended: bool = False) -> float:
        """Seconds of all processes, whether they have ended or not."""
        living = 0.0 if all_ended else sum(_used(pid) for pid in _processes() if pid not in ended)
        return living + sum(end.cpu for end in ended.values()) - self._used_before

    def waited(self, ended: dict[int, ProcessEnd]) -> float:
        """Seconds in which the job wanted a core and had none."""
        return max(0.0, self._wanted - max(self._had, self.used(ended))) if self._wanted else 0.0


def _processes() -> list[int]:
    """All that are below us: those whose parents have ended become our children."""
    found = list(_children(os.getpid()))
    for pid in found:
        found += _children(pid)
    return found


def _children(pid: int) -> Iterator[int]:
    for thread in _threads(pid):
        yield from map(int, _read(f"{thread}/children").split())


def _is_in(states: str, thread: str) -> bool:
    """Whether it is ready to run (R), with or without a core, or waits for a disk (D). All else is in S."""
    state = _fields(f"{thread}/stat")[:1]
    # Who waits for a child that it made by vfork is in D, too, as long as the child likes.
    return state in states if state != "D" else state in states and not _read(f"{thread}/children")


def _threads(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/task/{name}" for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - names alone
    except OSError:
        return []  # it has ended


def _used(pid: int) -> float:
    """Its own time and that of the children it has waited for."""
    fields = _fields(f"/proc/{pid}/stat").split()
    return sum(map(int, fields[11:15])) / _TICKS


def _core_seconds(thread: str) -> float:
    """That it had a core, on kernels that tell it."""
    return int((_read(f"{thread}/schedstat").split() or ["0"])[0]) / 1e9


def _age(thread: str) -> float:
    fields = _fields(f"{thread}/stat").split()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / _TICKS if fields else math.inf


def _fields(path: str) -> str:
    """The fields after the process's name, which may contain anything; the first is its state."""
    return _read(path).rpartition(") ")[2]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # it has ended
