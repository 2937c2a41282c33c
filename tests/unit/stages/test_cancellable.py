"""Workers, and what runs beside them: an error of either is never lost."""

import asyncio

import pytest

from model_accuracy_eval.stages.cancellable import run_workers


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
