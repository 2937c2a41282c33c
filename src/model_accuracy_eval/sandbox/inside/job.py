"""One job as the fork server sees it: what it is made of, what its processes print and report, how they end."""

import _socket
import contextlib
import math
import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from model_accuracy_eval.sandbox.inside.cleanup import ProcessEnd, reap
from model_accuracy_eval.sandbox.inside.messages import (
    CASE_BEGINS,
    CASE_ENDS,
    READY,
    CaseOutcome,
    JobReport,
    TooLarge,
    body_size,
    unpack,
)

# How much core time the processes of a job had, and how long they waited for it on a busy machine.
#
# All is read from `/proc`, from files that every kernel has: the states of threads now and then, and their times.


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


# The job itself.


MAX_OUTPUT = 4096
_MAX_OUTPUT_END = 1024
_MAX_REPORT = 1 << 20
_CHECK_SECONDS = 60.0
"""For comparing what a program gave with what was expected."""
_MAX_STRETCH = 3.0
_LEAST_STRETCH = 20.0
"""How many times its limit, and at least how many seconds more, a program may take when it has to wait for a core."""


class Pipes:
    """The descriptors of one job; each child closes those that it does not use, and the server does the same here."""

    def __init__(self) -> None:
        self.report_reader, self.report_writer = os.pipe()
        self.output_reader, self.output_writer = os.pipe()
        self.lifeline_reader, self.lifeline_writer = os.pipe()
        self.turn_reader, self.turn_writer = os.pipe()
        judge, program = _socket.socketpair()
        self.judge_socket, self.program_socket = judge.detach(), program.detach()
        self._open = set(vars(self).values())
        for descriptor in (self.report_reader, self.output_reader):
            os.set_blocking(descriptor, False)

    def close(self, *descriptors: int) -> None:
        for descriptor in descriptors or tuple(self._open):
            if descriptor in self._open:
                self._open.remove(descriptor)
                os.close(descriptor)

    def close_childrens_ends(self) -> None:
        self.close(self.report_writer, self.output_writer, self.lifeline_reader, self.judge_socket, self.program_socket)
        self.close(self.turn_reader, self.turn_writer)


class JobState:
    """What is known of a running job."""

    def __init__(self, pipes: Pipes, wakeup: int, wall_seconds: float, *, alone: bool = False) -> None:
        """`wakeup` can be read when a child has ended."""
        self._pipes, self._wakeup = pipes, wakeup
        self._poller = select.poll()
        for descriptor in (pipes.report_reader, pipes.output_reader, wakeup):
            self._poller.register(descriptor, select.POLLIN)
        self._poller.register(0, 0)  # for its end alone: the next order may be there, and waits
        self._memory_kills = memory_kills()
        self._reported = bytearray()
        self.output = bytearray()
        """The beginning of what was printed."""
        self.output_end = b""
        """The end of what was printed after that."""
        self.output_bytes = 0
        self.ended: dict[int, ProcessEnd] = {}
        self.core_time = CoreTime(alone=alone)
        self.restart_clock(wall_seconds)
        self._started = True
        """Whether the processes are there in which the job runs."""
        self.orphaned = False
        """Whether the host has gone away."""
        self.starved = False
        """Whether the time beyond the limit was spent waiting for a core, so that the program may not be slow."""
        self.cases: list[CaseOutcome] = []
        self.all_cases = 0
        """How many the task has."""
        self._case_begun = False
        self._case_seconds: list[float] = []

    def restart_clock(self, seconds: float, awaited: str = "end") -> None:
        """Called when everything is there that the program needs."""
        self.limit = seconds
        self.timeout_text = f"It did not {awaited} within {seconds:g} s."
        self._begin = time.monotonic()
        self.core_time.begin()

    def await_start(self, seconds: float, then: float, awaited: str = "end") -> None:
        """Sets a clock for the start of the processes, and another one for `then`."""
        self._started = False
        self._first_clock = (then, awaited)
        self.restart_clock(seconds, "start")

    def go_on(self, report: JobReport, wall_seconds: float) -> None:
        """Sets the clock after a report that is no verdict. Comparing is not the program's time."""
        if report.verdict == READY:
            self._started = True
            self.restart_clock(*self._first_clock)
            return
        self.cases += report.cases
        if report.verdict == CASE_ENDS:
            self._case_seconds.append(self.core_time.used(self.ended))
            self.restart_clock(_CHECK_SECONDS, "get its output compared")
            return
        self._case_begun = report.verdict == CASE_BEGINS
        self.all_cases = report.all_cases
        self.restart_clock(wall_seconds)
        self.core_time.forget_used(self.ended)

    def end_cases(self, report: JobReport, first_case: int) -> JobReport:
        """Notes the case that the job ended in, and the core time of all; returns the report with its number."""
        self.cases += report.cases
        if report.verdict == "crashed" and memory_kills() > self._memory_kills:
            report = report._replace(verdict="out_of_memory")
        begun = self._case_begun and not report.cases
        if begun:
            number = first_case + len(self.cases)
            report = report._replace(detail=f"Case {number + 1}: {report.detail}")
            self.cases.append(CaseOutcome(number, report.verdict, report.detail))
            self._case_seconds.append(self.core_time.used(self.ended))
        seconds = [*self._case_seconds, *[0.0] * len(self.cases)]
        self.cases = [case._replace(cpu_seconds=spent) for case, spent in zip(self.cases, seconds, strict=False)]
        return report

    @property
    def _longest(self) -> float:
        return max(self.limit * _MAX_STRETCH, self.limit + _LEAST_STRETCH)

    def elapsed(self) -> float:
        return time.monotonic() - self._begin

    def poll(self, seconds: float) -> None:
        """Waits for news. Ends are noted before reports are read, so the report of an ended process is complete."""
        ready = dict(self._poller.poll(max(1, seconds * 1000) if seconds else 0))
        self.orphaned = 0 in ready
        if self._wakeup in ready:
            os.read(self._wakeup, 4096)
            reap(self.ended)
        while len(self._reported) <= _MAX_REPORT and (chunk := self._read(self._pipes.report_reader)):
            self._reported += chunk
        if self._pipes.output_reader in ready:
            chunk = self._read(self._pipes.output_reader)
            self.output_bytes += len(chunk)
            room = MAX_OUTPUT - len(self.output)
            self.output += chunk[:room]
            self.output_end = (self.output_end + chunk[room:])[-_MAX_OUTPUT_END:]

    def next_report(self) -> JobReport | None:
        """The next complete report; the end of the stream means nothing, as a descendant may hold it open."""
        data = self._reported
        size = 4 + (body_size(bytes(data[:4])) if len(data) >= 4 else 0)
        if size > _MAX_REPORT:
            raise TooLarge(f"{size:,} bytes where at most {_MAX_REPORT:,} may be reported")
        if len(data) <= 4 or len(data) < size:
            return None
        report = unpack(JobReport, bytes(data[4:size]))
        del data[:size]
        return report

    def seconds_left(self) -> float:
        """Seconds until the limit, which does not count the time that the job waited for a core of a busy machine."""
        elapsed = self.elapsed()
        if elapsed < self.limit:
            self.core_time.look_if_due()
            return self.limit - elapsed
        self.core_time.look()
        waited = self.core_time.waited(self.ended)
        self.starved = elapsed - waited < self.limit
        return min(self.limit + waited, self._longest) - elapsed

    def report_of_end(self, kind: str, pid: int) -> JobReport:
        """What the end of a process says about its program, when it came before any verdict."""
        self._check_started()
        code = os.waitstatus_to_exitcode(self.ended[pid].status)
        if kind == "exit_code" and code >= 0:
            return JobReport("failed", f"It ended with exit code {code}.") if code else JobReport("passed")
        if code >= 0:
            return JobReport("exited", f"The program ended itself with code {code} before the tests had ended.")
        if code == -signal.SIGKILL and memory_kills() > self._memory_kills:
            return JobReport("out_of_memory", "The system ended it, because the memory of its container was used up.")
        return JobReport("crashed", f"It was ended by signal {-code} ({signal.strsignal(-code)}).")

    def report_of_timeout(self) -> JobReport:
        self._check_started()
        return JobReport("timeout", self.timeout_text)

    def _check_started(self) -> None:
        """Where they did not start, nothing is known about the program."""
        if not self._started:
            raise RuntimeError("the tests' process did not start")

    def any_killed(self) -> bool:
        """Whether a process was ended by SIGKILL."""
        return any(
            os.WIFSIGNALED(end.status) and os.WTERMSIG(end.status) == signal.SIGKILL for end in self.ended.values()
        )

    def _read(self, pipe: int) -> bytes:
        try:
            chunk = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return b""
        if not chunk:  # all writers have closed it, and poll() would return at once from now on
            with contextlib.suppress(KeyError):
                self._poller.unregister(pipe)
        return chunk


def memory_kills() -> int:
    """How often the kernel has ended a process of our control group for lack of memory."""
    if _KILL_COUNTER is None:
        return 0
    lines = os.pread(_KILL_COUNTER, 4096, 0).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(b"oom_kill "))


def _open_kill_counter() -> int | None:
    """It stays open: each job is asked about, and jobs close what they have from us."""
    for name in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        with contextlib.suppress(OSError):
            return os.open(name, os.O_RDONLY)
    return None


_KILL_COUNTER = _open_kill_counter()
