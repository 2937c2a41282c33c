"""Asynchronous work that ends when a stop is requested, or when a regular check raises."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from model_accuracy_eval.ports import Clock

T = TypeVar("T")

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
