"""Workers, and what runs beside them: an error of either is never lost."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, cast

import pytest

from model_accuracy_eval.ports import Clock
from model_accuracy_eval.run.cancellable import run_checked, run_workers


async def _fails_after(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
    raise OSError("no room")


@pytest.mark.parametrize("turns", range(8))
@pytest.mark.parametrize("worker_turns", range(4))
def test_what_runs_beside_the_workers_fails_when_they_end(turns: int, worker_turns: int) -> None:
    """In whichever turn of the event loop it fails while a worker is at work, the error is raised."""

    async def worker() -> None:
        for _ in range(worker_turns):
            await asyncio.sleep(0)

    failed = []

    async def beside() -> None:
        try:
            await _fails_after(turns)
        except OSError:
            failed.append(True)
            raise

    async def main() -> None:
        await run_workers(worker, 3, beside())

    try:
        asyncio.run(main())
        assert not failed
    except OSError:
        assert failed


def test_an_error_of_a_worker_goes_before_that_of_what_runs_beside() -> None:
    async def worker() -> None:
        raise ValueError("of the worker")

    with pytest.raises(ValueError, match="of the worker"):
        asyncio.run(run_workers(worker, 2, _fails_after(0)))


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
