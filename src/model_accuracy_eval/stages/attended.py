"""Asynchronous work that does not run on alone: a stop ends it at once, and so does what a regular look brings up."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from model_accuracy_eval.ports import Clock

T = TypeVar("T")

_LOOK_SECONDS = 0.25


async def attended(work: Coroutine[Any, Any, T], look: Callable[[], object], clock: Clock) -> T:
    """The result of `work`; raises `Stopped` when somebody asks for a stop, and whatever `look` raises."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_watch(look))
    with clock.on_stop(lambda: loop.call_soon_threadsafe(task.cancel)):
        try:
            both: set[asyncio.Future[Any]] = {task, watch}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await watch
            return await task
        except asyncio.CancelledError:
            clock.check()
            raise
        finally:
            task.cancel()
            watch.cancel()
            await asyncio.gather(task, watch, return_exceptions=True)


async def crowd(work: Callable[[], Coroutine[Any, Any, None]], size: int) -> None:
    """So many workers, all to their end; an exception of one ends them all."""
    workers = [asyncio.ensure_future(work()) for _ in range(size)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _watch(look: Callable[[], object]) -> None:
    while True:
        look()
        await asyncio.sleep(_LOOK_SECONDS)
