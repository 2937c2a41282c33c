"""Workers, and work that is checked: an error of either is never lost."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, cast

import pytest

from model_accuracy_eval.ports import Clock
from model_accuracy_eval.system.clock import run_checked, run_workers


async def _fails_after(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
    raise OSError("no room")


def test_an_error_of_a_worker_ends_all() -> None:
    """And is raised: nobody else is waited for."""
    ended = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    workers = iter([waits(), waits(), _fails_after(3)])

    async def main() -> None:
        await run_workers(lambda: next(workers), 3)

    with pytest.raises(OSError, match="no room"):
        asyncio.run(main())
    assert len(ended) == 2


class _NoStop:
    """The clock of a run that nobody stops."""

    @contextmanager
    def on_stop(self, callback: Callable[[], object]) -> Iterator[None]:
        yield

    def check(self) -> None:
        pass


def _checked(work: Coroutine[Any, Any, None]) -> None:
    def check() -> None:
        raise RuntimeError("the adapter has died")

    asyncio.run(run_checked(work, check, cast("Clock", _NoStop())))


def test_what_the_work_raises_while_it_is_ended_is_raised() -> None:
    """Replies that could not be kept are not lost without a word because the adapter died, too."""

    async def keeps() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        _checked(keeps())


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_check_that_fails_ends_the_work(stubborn: bool) -> None:
    """And is what is raised, if the work ends by it or in spite of it."""

    async def works() -> None:
        with suppress(asyncio.CancelledError) if stubborn else nullcontext():
            await asyncio.sleep(60)

    with pytest.raises(RuntimeError, match="the adapter has died"):
        _checked(works())
