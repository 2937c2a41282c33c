"""One job as the fork server sees it: what it is made of, what its processes print and report, how they end."""

import _socket
import contextlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from model_accuracy_eval.sandbox.inside.cleanup import ProcessEnd, reap
from model_accuracy_eval.sandbox.inside.core_time import CoreTime
from model_accuracy_eval.sandbox.inside.messages import (
    CASE_BEGINS,
    CASE_ENDS,
    READY,
    CaseOutcome,
    JobOrder,
    JobReport,
    TooLarge,
    body_size,
    read_exactly,
    unpack,
)
from model_accuracy_eval.sandbox.inside.pristine_files import write_files

MAX_OUTPUT = 4096
_MAX_OUTPUT_END = 1024
_MAX_REPORT = 1 << 20
_CHECK_SECONDS = 60.0
"""For comparing what a program gave with what was expected."""
_MAX_STRETCH = 3.0
_LEAST_STRETCH = 20.0
"""How many times its limit, and at least how many seconds more, a program may take when it has to wait for a core."""


class ProgramSource(NamedTuple):
    """The code of the program and the files beside it."""

    code: str
    files: dict[str, str]

    @classmethod
    def read(cls, order: JobOrder) -> "ProgramSource":
        """Reads it from the host; the tests, which come first, have been read by then."""
        return cls(read_exactly(0, order.code_size).decode(), read_files(order))

    def write_files(self) -> None:
        """Writes the files as the program's own user, so that they are removed with it, and lets Python import them."""
        if self.files:
            write_files(self.files)
            sys.path.insert(0, str(Path.cwd()))


def read_files(order: JobOrder) -> dict[str, str]:
    files = read_exactly(0, order.files_size)
    return json.loads(files) if files else {}


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
