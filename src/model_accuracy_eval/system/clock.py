"""Time, and the request to stop: SIGINT, SIGTERM and SIGHUP set a flag that every wait checks. And work that a stop
ends: coroutines, and threads that do not keep the process from ending."""

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from datetime import datetime
from types import FrameType
from typing import Any, TypeVar

from model_accuracy_eval import extras
from model_accuracy_eval.errors import Stopped, StopSignal, UsageError, stop_signals
from model_accuracy_eval.ports import Clock

_GRACE = 2.0
"""Seconds after a stop for finishing what was started. Runners kill after ten, and the adapter has to end too."""
_POLL_SECONDS = 0.05


class SignalClock:
    """Implements `ports.Clock`. The handler sets a flag; it raises only in `interruptible`, where no write is torn."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._stop_time = 0.0
        self._callback: Callable[[], object] | None = None
        self._interrupts = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes over the signals that ask for an end while entered."""
        previous = {number: signal.signal(number, self.stop) for number in stop_signals()}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def stop(self, number: int, _frame: FrameType | None = None) -> None:
        """What the signal of this number does."""
        # A second signal changes nothing: cleaning up has a time limit, and stopping it would leave processes behind.
        if self._signal is None:
            self._signal = number
            self._stop_time = self.elapsed()
            if self._callback is not None:
                self._callback()
        if self._interrupts:
            self._interrupts = False
            raise StopSignal(self._signal)

    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    def local(self, form: str) -> str:
        return datetime.now().astimezone().strftime(form)

    def sleep(self, seconds: float) -> None:
        """Sleeps in short steps and checks the flag in between. A `threading.Event` would hang if the handler set it
        while its own thread waits."""
        end = time.monotonic() + seconds
        self.check()
        while (remaining := end - time.monotonic()) > 0:
            time.sleep(min(remaining, _POLL_SECONDS))
            self.check()

    def overdue(self) -> bool:
        return self.since_stop() > _GRACE

    def since_stop(self) -> float:
        """Seconds since the request to stop; 0 when there was none."""
        return 0.0 if self._signal is None else self.elapsed() - self._stop_time

    def check(self) -> None:
        if self._signal is not None:
            raise Stopped(self._signal, signal.Signals(self._signal).name)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        self._interrupts = True
        try:
            self.check()  # after the flag is set, so that no signal is missed in between
            yield
        except (StopSignal, RuntimeError):  # Python before 3.12 wraps it while a class gets its attributes
            self.check()
            raise
        finally:
            self._interrupts = False

    @contextmanager
    def on_stop(self, callback: Callable[[], object]) -> Iterator[None]:
        self._callback = callback
        try:
            self.check()  # after the callback is set, so that no signal is missed in between
            yield
        finally:
            self._callback = None


# Runs work: a coroutine to its end, and slow work in a thread that does not keep the process from ending.


T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs it to its end: on uvloop where it can be imported, else on asyncio's own loop."""
    loop = _new_loop()
    task = loop.create_task(coroutine)
    if not _has_running_loop():
        return _finish(loop, task)
    # A notebook runs a loop of its own in this thread, and a thread has room for one.
    result: Future[T] = Future()
    thread = _thread(lambda: _finish(loop, task), "event loop", result)
    try:
        thread.start()
        return result.result()
    except BaseException:  # this thread was interrupted, at any moment since `start`, or the work has failed
        with contextlib.suppress(RuntimeError):  # the loop is closed when all is over
            loop.call_soon_threadsafe(task.cancel)
        wait([result], timeout=1.0)  # a thread that has just been started is not alive yet
        if thread.is_alive():
            thread.join()
        raise


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _finish(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[T]") -> T:
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(task)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        loop: asyncio.AbstractEventLoop = extras.load("uvloop").new_event_loop()
    except UsageError:  # it is not installed, or not for this Python
        return asyncio.new_event_loop()
    return loop


def in_background(work: Callable[[], T], name: str) -> Future[T]:
    """The future result of the work, or its error. `name` is the thread's."""
    result: Future[T] = Future()
    _thread(work, name, result).start()
    return result


def _thread(work: Callable[[], T], name: str, result: Future[T]) -> threading.Thread:
    def run_work() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised by the future
            result.set_exception(error)

    return threading.Thread(target=run_work, daemon=True, name=name)


# Asynchronous work that ends when a stop is requested, or when a regular check raises.


_CHECK_SECONDS = 0.25


async def run_checked(work: Coroutine[Any, Any, T], check: Callable[[], object], clock: Clock) -> T:
    """Returns the result of `work`; raises `Stopped` when a stop is requested, and whatever `check` raises.

    What the work raises while it is ended goes before that: it could not keep what had come until then.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    checks = asyncio.ensure_future(_repeat(check))
    try:
        # A stop may have come before: entering raises then, and both have to be ended all the same.
        with clock.on_stop(lambda: loop.call_soon_threadsafe(task.cancel)):
            both: set[asyncio.Future[Any]] = {task, checks}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
                if task.cancelled() or task.exception() is None:
                    await checks
            return await task
    except asyncio.CancelledError:
        clock.check()
        raise
    finally:
        task.cancel()
        checks.cancel()
        await asyncio.gather(task, checks, return_exceptions=True)


async def run_workers(worker: Callable[[], Coroutine[Any, Any, None]], count: int) -> None:
    """Runs `count` workers until all have ended; an exception of one ends them all."""
    workers = [asyncio.ensure_future(worker()) for _ in range(count)]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _repeat(check: Callable[[], object]) -> None:
    while True:
        check()
        await asyncio.sleep(_CHECK_SECONDS)
