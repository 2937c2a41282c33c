"""Workers side by side: programs wait for a free one, and a worker that may be damaged is replaced."""

import asyncio
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import LifoQueue
from typing import Any

from msgspec import structs

from model_accuracy_eval.records.code import CaseResult, Execution, Isolation, Limits, Program
from model_accuracy_eval.sandbox.inside.messages import JobOrder, JobResult
from model_accuracy_eval.sandbox.program_environment import check_files, find_toolchain
from model_accuracy_eval.sandbox.program_judging import VERDICTS, JudgedProgram, judge
from model_accuracy_eval.sandbox.worker import Backend, ReplaceableWorker, Worker, WorkerLost, WorkerSize

PLAIN = Program(code="def f(x): return x + 1", tests="assert f(1) == 2", entry_points=("f",))
"""What passes wherever a worker works."""


class Turns:
    """Used by the threads of a pool. Who wants to be alone goes before those that have not begun."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._alone = 0
        """How many are alone or wait for it."""

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._alone += 1
            self._changed.wait_for(lambda: not self._running)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._alone -= 1
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()


class Cancellation:
    """The way to give up one program at any time, from the thread of the event loop."""

    def __init__(self) -> None:
        self.cancelled = False
        self._worker: Worker | None = None

    def set_worker(self, worker: Worker | None) -> None:
        """Either this or `cancel` comes second, and sees what the other one has set."""
        self._worker = worker
        if worker and self.cancelled:
            worker.interrupt()

    def cancel(self) -> None:
        self.cancelled = True
        if self._worker:
            self._worker.interrupt()


class _ProgramRunner:
    """Implements `worker.JobRunner`: each job of one program runs on a worker that nothing was left on."""

    def __init__(
        self, replaceable: ReplaceableWorker, size: WorkerSize, cancellation: Cancellation, *, alone: bool = False
    ) -> None:
        """Raises `WorkerLost` when none can be started."""
        self._replaceable, self._size, self._cancellation, self._alone = replaceable, size, cancellation, alone
        self.tools = replaceable.get(size).tools

    def run(self, order: JobOrder, tests: str, program: Program) -> JobResult:
        """Raises `WorkerLost` when the worker ends under this job."""
        worker = self._replaceable.get(self._size)
        self._cancellation.set_worker(worker)
        try:
            result = worker.run(order._replace(alone=self._alone), tests, program)
        except WorkerLost:
            self._replaceable.discard()
            raise
        if not result.clean:
            self._replaceable.discard()
        return result


class WorkerPool:
    """Implements `ports.Sandbox`. Each program has a thread, which waits for its worker's engine and pipes."""

    def __init__(self, backend: Backend, *, workers: int | None = None, passed_over: tuple[str, ...] = ()) -> None:
        count = workers or _cores()
        self.passed_over = passed_over
        self.isolation: Isolation = backend.isolation
        self.image = backend.image
        self._backend = backend
        self._workers = [ReplaceableWorker(backend) for _ in range(count)]
        self._turns = Turns()
        self._free: LifoQueue[ReplaceableWorker] = LifoQueue()  # those that are started already come first
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="sandbox")

    def start_first(self) -> Worker:
        """Starts the first worker, which shows whether this kind of isolation works here."""
        replaceable = self._free.get()
        try:
            return replaceable.get(WorkerSize.of(Limits()))
        finally:
            self._free.put(replaceable)

    async def run(self, program: Program, *, once: bool = False) -> Execution:
        """`once`: where it ran out of time, that is all that is asked, and nobody waits for it to run alone."""
        if program.language != "python":
            find_toolchain(program.language)
        check_files(program)
        cancellation = Cancellation()
        future = self._threads.submit(self._execute, program, cancellation, once=once)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    async def close(self) -> None:
        for worker in self._workers:
            worker.close()
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """Blocks until every worker is gone."""
        self._threads.shutdown(cancel_futures=True)
        with ThreadPoolExecutor(len(self._workers)) as threads:
            list(threads.map(ReplaceableWorker.discard, self._workers))
        self._backend.close()

    def _execute(self, program: Program, cancellation: Cancellation, *, once: bool) -> Execution:
        replaceable = self._free.get()
        try:
            return self._judge_in_turns(replaceable, program, cancellation, once=once)
        except WorkerLost as error:
            if cancellation.cancelled or replaceable.closed:
                return self.harness_error(program, str(error), attempts=2)
            with self._turns.alone():
                return self._judge_beside_witness(replaceable, program, cancellation)
        finally:
            cancellation.set_worker(None)
            self._free.put(replaceable)

    def _judge_in_turns(
        self, replaceable: ReplaceableWorker, program: Program, cancellation: Cancellation, *, once: bool
    ) -> Execution:
        """A program that ran out of time but had little core time runs again, when nothing else does."""
        with self._turns.beside_others():
            execution = self._run_on(replaceable, program, cancellation)
        if once or not execution.is_undecided(program.limits):
            return execution
        with self._turns.alone():
            again = self._run_on(replaceable, program, cancellation, alone=True)
        return structs.replace(again, attempts=execution.attempts + again.attempts)

    def _run_on(
        self, replaceable: ReplaceableWorker, program: Program, cancellation: Cancellation, *, alone: bool = False
    ) -> Execution:
        """What may be a fault of the infrastructure is tried again on a fresh worker, once."""
        attempt = 0
        while True:
            attempt += 1
            try:
                runner = _ProgramRunner(replaceable, WorkerSize.of(program.limits), cancellation, alone=alone)
                judged = judge(runner, program)
            except WorkerLost:
                if attempt == 2 or cancellation.cancelled:
                    raise
                continue
            if not judged.result.doubtful or attempt == 2:
                return self._execution(judged, attempt, alone=alone)
            replaceable.discard()

    def _judge_beside_witness(
        self, replaceable: ReplaceableWorker, program: Program, cancellation: Cancellation
    ) -> Execution:
        """Whose fault it is when workers were lost twice: the program's, if it ends a third one and no other ended."""
        size = WorkerSize.of(program.limits)
        witness = ReplaceableWorker(self._backend)
        try:
            runner, beside = (_ProgramRunner(one, size, cancellation, alone=True) for one in (replaceable, witness))
            judge(beside, PLAIN)
            try:
                return self._execution(judge(runner, program), 3, alone=True)
            except WorkerLost as error:
                works = judge(beside, PLAIN).result.verdict == "passed"
                if not works or cancellation.cancelled or replaceable.closed:
                    raise
                detail = f"It ended its worker three times, and a worker beside it went on. {error}"
                return structs.replace(self.harness_error(program, detail, attempts=3), verdict="crashed", alone=True)
        except WorkerLost as error:
            return self.harness_error(program, str(error), attempts=3)
        finally:
            witness.discard()

    def _execution(self, judged: JudgedProgram, attempts: int, *, alone: bool) -> Execution:
        result = judged.result
        verdict, detail = VERDICTS[result.verdict], result.detail
        if alone and result.starved:
            verdict, detail = "harness_error", _starved_sentence(result)
        measured: dict[str, Any] = {name: getattr(result, name) for name in _MEASURED}
        return Execution(
            **measured,
            verdict=verdict,
            detail=detail.encode("utf-8", "replace").decode(),
            memory_mb=result.memory_kb / 1024,
            isolation=self.isolation,
            integrity=judged.integrity,
            image=self.image,
            attempts=attempts,
            alone=alone,
            cases=tuple(
                CaseResult(verdict=VERDICTS.get(case.verdict, "error"), cpu_seconds=case.cpu_seconds)
                for case in result.cases
            ),
        )

    def harness_error(self, program: Program, reason: str, attempts: int = 1) -> Execution:
        """The execution of a program that could not be judged."""
        return Execution(
            verdict="harness_error",
            detail=reason,
            isolation=self.isolation,
            integrity=program.mode,
            image=self.image,
            attempts=attempts,
        )


_MEASURED = (
    "output", "output_end", "output_bytes", "wall_seconds", "limit_seconds", "cpu_seconds", "waited_seconds",
    "all_cases",
)  # fmt: skip
"""What a result and an execution both have."""


def _starved_sentence(result: JobResult) -> str:
    return (
        f"In {result.wall_seconds:.0f} s alone in the sandbox it had a core for {result.cpu_seconds:.1f} s of its "
        f"{result.limit_seconds:g} s, and waited for one: the machine is too busy to judge it."
    )


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
