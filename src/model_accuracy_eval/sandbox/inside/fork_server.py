"""The fork server: a Python process that is up already and forks the processes of one job after the other.

It runs as the first process of its pid namespace where there is one. It reads neither code nor tests: only its
children do, so that nothing of one job is in the memory that the next one is forked from. It sends the host two
messages for each job: the verdict, and whether the job left anything behind, as then this server ends.
"""

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from model_accuracy_eval.sandbox.inside import case_judge, program_process, tests_process, whole_program
from model_accuracy_eval.sandbox.inside.case_judge import OpenProgram
from model_accuracy_eval.sandbox.inside.cleanup import (
    MAX_FILES,
    Leftovers,
    ProcessEnd,
    end_processes,
    remove_tree,
    wakeup_of_children,
)
from model_accuracy_eval.sandbox.inside.confinement import (
    Bounds,
    Kernel,
    block_signals,
    confine,
    fork,
    keep_descriptors,
)
from model_accuracy_eval.sandbox.inside.job import JobState, Pipes
from model_accuracy_eval.sandbox.inside.messages import (
    CASE_BEGINS,
    CASE_ENDS,
    COMPILED,
    EXECUTES,
    PROGRAM_ENDED,
    READY,
    Gone,
    JobOrder,
    JobReport,
    JobResult,
    ServerInfo,
    ServerSettings,
    SweepResult,
    TooLarge,
    read_exactly,
    receive,
    send,
)
from model_accuracy_eval.sandbox.inside.program_connection import (
    PristineFiles,
    ProgramConnection,
    read_files,
    write_files,
)
from model_accuracy_eval.sandbox.inside.tests_process import ExecutedTexts

_START_LIMIT = 20.0
"""Seconds for the tests' process to report that it is ready; it does nothing before."""
_END_LIMIT = 1.0
"""Seconds for a process to end whose connection is closed already."""
_POLL_SECONDS = 0.05
_SHORTEST_POLL = 0.01

Serve = Callable[[str, int], None]
"""Serves the tests' process with a program: its code, and the descriptor of the connection."""
Judge = Callable[[str, ProgramConnection, Callable[[], None]], JobReport]
"""Judges a program by tests, its connection, and what watches the process from the time when the tests are compiled."""


class ForkServer:
    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        # A namespace of processes never comes without one of the network.
        self._kernel = Kernel(own_network=settings.sweep == "namespace")
        self._kernel.set_dumpable(False)
        self._kernel.adopt_orphans()
        block_signals()
        if os.getsid(0) != os.getpid():
            os.setsid()
        self._wakeup = wakeup_of_children()
        self._libraries_mb = preload(settings.preload)
        self._leftovers = Leftovers(settings, objects_refused=self._kernel.filters)
        os.chdir(settings.folder)
        # Where no program looks around, if there is such a place.
        self._quiet_place = next((it for it in settings.places if it == "/dev/shm"), settings.folder)  # noqa: S108
        os.umask(0o022)
        gc.collect()
        gc.freeze()  # a collection would write to all objects, and so copy their memory for each process

    def info(self) -> ServerInfo:
        folders = os.get_exec_path()
        tools = [it for it in self._settings.tools if any(os.access(f"{folder}/{it}", os.X_OK) for folder in folders)]
        return ServerInfo(sys.version.split()[0], self._kernel.filters, tools)

    def serve(self, order: JobOrder) -> None:
        result, all_ended = self.run(order)
        send(1, result)
        clean = all_ended and self._leftovers.remove()
        send(1, SweepResult(clean))
        if not clean:
            raise Gone

    def run(self, order: JobOrder) -> tuple[JobResult, bool]:
        """The verdict, and whether all processes of the job have ended."""
        pipes = Pipes()
        state = JobState(pipes, self._wakeup, order.wall_seconds, alone=order.alone)
        pids = KINDS[order.kind](self, order, pipes, state)
        pipes.close_childrens_ends()
        try:
            report = self._wait_for_report(order, pids, pipes, state)
        except (ValueError, RecursionError, TooLarge) as error:  # only a forged report has another form
            report = JobReport("error", f"The report of the tests cannot be read: {error}")
        report = state.end_cases(report, order.first_case)
        wall_seconds = state.elapsed()
        state.poll(0)
        killed = state.any_killed()
        waited_seconds = state.core_time.waited(state.ended)
        all_ended = self._end_processes(state.ended)
        pipes.close()
        usage = state.ended.get(pids[-1], ProcessEnd(0, 0.0, 0))
        result = JobResult(
            verdict=report.verdict,
            detail=report.detail[:4000],
            checks=report.checks,
            wall_seconds=wall_seconds,
            limit_seconds=report.limit_seconds or state.limit,
            cpu_seconds=state.core_time.used(state.ended, all_ended=all_ended),
            waited_seconds=waited_seconds,
            memory_kb=usage.memory_kb,
            output=state.output.decode("utf-8", "replace"),
            output_bytes=state.output_bytes,
            output_end=state.output_end.decode("utf-8", "replace"),
            doubtful=killed and report.verdict == "crashed",
            starved=state.starved and report.verdict == "timeout",
            cases=state.cases,
            all_cases=state.all_cases,
        )
        return result, all_ended

    def _wait_for_report(self, order: JobOrder, pids: list[int], pipes: Pipes, state: JobState) -> JobReport:
        """Waits until there is a verdict or the time is over."""
        program = pids[-1]
        while (seconds := state.seconds_left()) > 0:
            state.poll(max(_SHORTEST_POLL, min(seconds, state.core_time.gap)))
            if state.orphaned:
                self._end_processes(state.ended)
                raise Gone
            if state.output_bytes > order.output_bytes:
                return JobReport("output_limit", f"More than {order.output_bytes:,} bytes were printed.")
            if self._leftovers.too_many():
                return JobReport("error", f"It made more than {MAX_FILES:,} files.")
            while (report := state.next_report()) and report.verdict in INTERIM.get(order.kind, ()):
                state.go_on(report, order.wall_seconds)
            if report is not None:
                return report if report.verdict != PROGRAM_ENDED else self._report_of_end(program, state)
            if pids[0] in state.ended:
                return state.report_of_end(order.kind, pids[0])
            if program in state.ended:
                pipes.close(pipes.lifeline_writer)  # tells the tests, which may not need the program any more
        return state.report_of_timeout()

    def _report_of_end(self, program: int, state: JobState) -> JobReport:
        """Why the program does not answer the tests any more."""
        for _ in range(int(_END_LIMIT / _POLL_SECONDS)):
            if program in state.ended:
                return state.report_of_end("split", program)
            state.poll(_POLL_SECONDS)
        return JobReport("exited", "The program closed its connection before the tests had ended.")

    def _start_split(self, order: JobOrder, pipes: Pipes, state: JobState) -> list[int]:
        def judge(tests: str, connection: ProgramConnection, watch: Callable[[], None]) -> JobReport:
            parts = tests_process.Tests(tests, order.entry_points, order.borrowed, order.ends, order.helpers)
            return tests_process.judge_apart(parts, connection, watch)

        state.await_start(_START_LIMIT, order.wall_seconds)
        return self._start_apart(order, pipes, judge, partial(program_process.serve, imports=order.imports))

    def _start_stdin(self, order: JobOrder, pipes: Pipes, state: JobState) -> list[int]:
        def run_cases(code: str, link: int) -> None:
            self._kernel.adopt_orphans()
            free = partial(self._kernel.set_dumpable, True)
            whole_program.serve(code, order.toolchain, link, order.output_bytes, free)

        return self._start_cases(order, pipes, state, case_judge.open_script, run_cases)

    def _start_calls(self, order: JobOrder, pipes: Pipes, state: JobState) -> list[int]:
        return self._start_cases(order, pipes, state, case_judge.open_function, program_process.serve)

    def _start_cases(
        self, order: JobOrder, pipes: Pipes, state: JobState, open_program: OpenProgram, serve: Serve
    ) -> list[int]:
        def judge(tests: str, connection: ProgramConnection, watch: Callable[[], None]) -> JobReport:
            tell = partial(send, 5)
            return case_judge.judge(tests, order, connection, tell, open_program=open_program, watch=watch)

        state.await_start(_START_LIMIT, order.compile_seconds or max(order.wall_seconds, _START_LIMIT), "start")
        return self._start_apart(order, pipes, judge, serve)

    def _start_apart(self, order: JobOrder, pipes: Pipes, judge: Judge, serve: Serve) -> list[int]:
        """Tests and program in two processes, connected by a socket."""

        def run_tests() -> None:
            tests = read_exactly(0, order.tests_size).decode()
            files = read_files(order) if order.kind == "split" else {}
            os.environ["HOME"] = "/nonexistent"  # in its own, the program can leave settings for what tests start
            keep_descriptors(pipes.judge_socket, pipes.lifeline_reader, pipes.report_writer, pipes.turn_writer)
            self._confine(order, self._settings.judge_uid, secret=True)
            pristine = PristineFiles(self._quiet_place, files) if files else None
            send(5, JobReport(READY))
            os.write(6, b"\n")
            os.close(6)
            connection = ProgramConnection(3, 4, program)
            executed = ExecutedTexts(f"{order.helpers}\n{tests}" if order.kind == "split" else "")
            if pristine:
                pristine.watch(connection)
            report = judge(tests, connection, executed.watch)
            if executed.refused:
                report = JobReport(EXECUTES, executed.refused)
            elif pristine and pristine.changed():
                report = JobReport("error", "The files that its tests read were changed.")
            send(5, report)

        def run_program() -> None:
            os.close(pipes.turn_writer)
            if not os.read(pipes.turn_reader, 1):  # the tests' process reads its part first, and nobody may look on
                os._exit(1)
            code, files = read_exactly(0, order.code_size).decode(), read_files(order)
            keep_descriptors(pipes.program_socket, output=pipes.output_writer)
            self._become_program(order, files, secret=order.kind == "stdin")
            serve(code, 3)

        program = fork(run_program)
        return [fork(run_tests), program]

    def _start_shared(self, order: JobOrder, pipes: Pipes, _state: JobState) -> list[int]:
        def run_both(tests: str, code: str) -> None:
            send(3, tests_process.judge_together(code, tests, order.ends))

        return [fork(lambda: self._run_together(order, pipes, run_both))]

    def _start_exit_code(self, order: JobOrder, pipes: Pipes, state: JobState) -> list[int]:
        toolchain = order.toolchain
        if toolchain is None:
            raise RuntimeError("an order without the commands of its language")

        def run_program(tests: str, code: str) -> None:
            whole_program.run_compiled(f"{code}\n{tests}", toolchain, lambda report: send(3, report))

        if toolchain.compiling:
            state.restart_clock(order.compile_seconds, "compile")
        return [fork(lambda: self._run_together(order, pipes, run_program))]

    def _run_together(self, order: JobOrder, pipes: Pipes, work: Callable[[str, str], None]) -> None:
        """In a child: does the work with tests and code, which have one process."""
        tests, code = (read_exactly(0, size).decode() for size in (order.tests_size, order.code_size))
        files = read_files(order)
        keep_descriptors(pipes.report_writer, output=pipes.output_writer)
        self._become_program(order, files)
        work(tests, code)

    def _become_program(self, order: JobOrder, files: dict[str, str], *, secret: bool = False) -> None:
        """The files are its own user's, so that they are removed with it, and Python imports them."""
        self._confine(order, self._settings.uid, secret=secret)
        if files:
            write_files(files)
            sys.path.insert(0, str(Path.cwd()))

    def _confine(self, order: JobOrder, uid: int | None, *, secret: bool = False) -> None:
        own = self._settings.own_processes
        processes = None if own is None else own + order.processes
        # Virtual machines reserve far more than they use; and preloaded libraries do not count against the program.
        memory = None if order.toolchain else order.memory_mb + self._libraries_mb
        confine(self._kernel, Bounds(memory, order.file_mb, processes), uid, secret=secret)

    def _end_processes(self, ended: dict[int, ProcessEnd]) -> bool:
        settings = self._settings
        return end_processes(settings.sweep, list({settings.uid, settings.judge_uid}), ended)


KINDS: dict[str, Callable[[ForkServer, JobOrder, Pipes, JobState], list[int]]] = {
    "split": ForkServer._start_split,  # noqa: SLF001
    "shared": ForkServer._start_shared,  # noqa: SLF001
    "exit_code": ForkServer._start_exit_code,  # noqa: SLF001
    "stdin": ForkServer._start_stdin,  # noqa: SLF001
    "calls": ForkServer._start_calls,  # noqa: SLF001
}
"""How a job's processes are started. Of their ids the first is the one that reports, and the last the program's."""

_OF_CASES = (READY, CASE_BEGINS, CASE_ENDS)
INTERIM = {"split": (READY,), "exit_code": (COMPILED,), "stdin": _OF_CASES, "calls": _OF_CASES}
"""Reports after which a job goes on; the others end it."""


def main() -> None:
    settings = receive(0, ServerSettings)
    try:
        server = ForkServer(settings)
        send(1, server.info())
        while True:
            server.serve(receive(0, JobOrder))
    except Gone:  # the host may have ended, too: nobody else may be there to remove our folder
        if settings.sweep != "namespace":
            with contextlib.suppress(OSError):
                remove_tree(settings.folder)
        os._exit(0)


# Imports libraries before the first program comes, so that no program waits for them.


def preload(names: list[str]) -> int:
    """Returns how many megabytes of address space the modules take in each forked process.

    A module that is missing is skipped: the programs that want it then fail by themselves.
    """
    before = _memory_mb()
    with _output_to_stderr():
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
            if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - names are all that is wanted
                raise RuntimeError(
                    f"{name} starts threads when it is loaded, and a process with threads cannot be forked"
                )
    if "numpy" in sys.modules:
        # Forks share the state of its generator, which would otherwise differ from worker to worker.
        sys.modules["numpy"].random.seed(0)
    return _memory_mb() - before


@contextlib.contextmanager
def _output_to_stderr() -> Iterator[None]:
    """What a library prints when it is imported must not get among the messages to the host."""
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        # Also when a library is refused: what Python still holds would be written among the messages at its end.
        sys.stdout.flush()
        os.dup2(output, 1)
        os.close(output)


def _memory_mb() -> int:
    """Returns the address space of this process, which is what a limit of memory counts."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20
