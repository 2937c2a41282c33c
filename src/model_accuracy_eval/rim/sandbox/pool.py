"""Workers side by side: programs wait for a free one, and a worker that raises any doubt is replaced."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records.code import Execution, Isolation, Program
from model_accuracy_eval.rim.sandbox.files import check
from model_accuracy_eval.rim.sandbox.modes import Judged, judge
from model_accuracy_eval.rim.sandbox.recipes import find
from model_accuracy_eval.rim.sandbox.worker import Backend, Room, Worker, WorkerLost


def _cores() -> int:
    """Those that we may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Slot:
    """Holds a worker, or the place of one. Used by one thread at a time, but for `close`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._worker: Worker | None = None
        self._closed = False

    def worker(self, room: Room) -> Worker:
        """A living worker of that size."""
        if self._worker and self._worker.room != room:
            self.discard()
        if self._worker is None:
            try:
                self._worker = Worker(self._backend, room)
            except EvalError as error:
                raise WorkerLost(error.sentence) from error
        if self._closed:
            raise WorkerLost("The sandbox was closed.")
        return self._worker

    def discard(self) -> None:
        worker, self._worker = self._worker, None
        if worker:
            worker.kill()

    def close(self) -> None:
        self._closed = True
        if self._worker:
            self._worker.hang_up()


class Ticket:
    """One program's claim; may be given up at any time."""

    def __init__(self) -> None:
        self.abandoned = False
        self._worker: Worker | None = None

    def take(self, worker: Worker | None) -> None:
        """Whoever comes second, this or `abandon`, sees what the other has set."""
        self._worker = worker
        if worker and self.abandoned:
            worker.hang_up()

    def abandon(self) -> None:
        self.abandoned = True
        if self._worker:
            self._worker.hang_up()


class Pool:
    """Implements `ports.sandbox.Sandbox`. Each slot has a thread, because engines and pipes are waited for in them."""

    def __init__(
        self,
        backend: Backend,
        *,
        slots: int | None = None,
        passed_over: tuple[str, ...] = (),
    ) -> None:
        count = slots or _cores()
        self.passed_over = passed_over
        self._backend = backend
        self._slots = [Slot(backend) for _ in range(count)]
        self._free: LifoQueue[Slot] = LifoQueue()  # a warm worker rather than a new one
        for slot in self._slots:
            self._free.put(slot)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="sandbox")

    @property
    def isolation(self) -> Isolation:
        return self._backend.isolation

    @property
    def image(self) -> str:
        return self._backend.image

    def warm(self) -> Worker:
        """Starts the first worker, which shows whether this kind of isolation works here."""
        slot = self._free.get()
        try:
            return slot.worker(Room.of(Program(code="", tests="").limits))
        finally:
            self._free.put(slot)

    async def run(self, program: Program) -> Execution:
        if program.language != "python":
            find(program.language)
        check(program)
        ticket = Ticket()
        future = self._threads.submit(self._serve, program, ticket)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            ticket.abandon()
            raise

    async def close(self) -> None:
        for slot in self._slots:
            slot.close()
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """Blocks until every worker is gone."""
        self._threads.shutdown(cancel_futures=True)
        with ThreadPoolExecutor(len(self._slots)) as threads:
            list(threads.map(Slot.discard, self._slots))
        self._backend.close()

    def _serve(self, program: Program, ticket: Ticket) -> Execution:
        """An infrastructure fault is tried again on a fresh worker, once; it is never the program's fault."""
        slot, fault = self._free.get(), ""
        try:
            for attempt in (1, 2):
                try:
                    worker = slot.worker(Room.of(program.limits))
                    ticket.take(worker)
                    judged = judge(worker, program)
                except WorkerLost as error:
                    fault = str(error)
                    slot.discard()
                    if ticket.abandoned:
                        break
                    continue
                doubt = judged.answer["doubt"]
                if doubt or not judged.answer["clean"]:
                    slot.discard()
                if not doubt or attempt == 2:
                    return self._execution(judged, attempt)
            return self.unknown(program, fault, attempts=2)
        finally:
            ticket.take(None)
            self._free.put(slot)

    def _execution(self, judged: Judged, attempts: int) -> Execution:
        answer = judged.answer
        return Execution(
            verdict=answer["verdict"],
            detail=answer["detail"].encode("utf-8", "replace").decode(),
            output=answer["output"],
            output_bytes=answer["output_bytes"],
            wall_seconds=answer["wall"],
            cpu_seconds=answer["cpu"],
            memory_mb=answer["memory_kb"] / 1024,
            isolation=self.isolation,
            integrity=judged.integrity,
            image=self.image,
            attempts=attempts,
        )

    def unknown(self, program: Program, why: str, attempts: int = 1) -> Execution:
        """What is said of a program that could not be judged."""
        return Execution(
            verdict="harness_error",
            detail=why,
            isolation=self.isolation,
            integrity=program.mode,
            image=self.image,
            attempts=attempts,
        )
