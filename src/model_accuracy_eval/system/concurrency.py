"""Runs work: a coroutine to its end, and slow work in a thread that does not keep the process from ending."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from model_accuracy_eval.errors import UsageError
from model_accuracy_eval.optional import uvloop

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs it to its end: on uvloop where it can be imported, else on asyncio's own loop."""
    loop = _new_loop()
    task = loop.create_task(coroutine)
    if not _has_running_loop():
        return _finish(loop, task)
    # A notebook runs a loop of its own in this thread, and a thread has room for one.
    result = in_background(lambda: _finish(loop, task), "event loop")
    try:
        return result.result()
    except BaseException:
        if not result.done():  # the wait was interrupted, so the work has to be
            loop.call_soon_threadsafe(task.cancel)
            wait([result])
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
        return uvloop.new_event_loop()
    except UsageError:  # it is not installed, or not for this Python
        return asyncio.new_event_loop()


def in_background(work: Callable[[], T], name: str) -> Future[T]:
    """The future result of the work, or its error. `name` is the thread's."""
    future: Future[T] = Future()

    def run_work() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised by the future
            future.set_exception(error)

    threading.Thread(target=run_work, daemon=True, name=name).start()
    return future
