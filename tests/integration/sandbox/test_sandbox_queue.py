"""Programs that wait for the worker that runs another: what happens to one is not felt by the other."""

import asyncio
import random
import string

import pytest
from tests.integration.sandbox.conftest import opened
from tests.integration.sandbox.test_sandbox_faults import OWN, RIGHT, taken

from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.system.clock import run

TALKS = Program(  # to itself: the kernel remembers that, so its worker is replaced
    code=(
        "import socket\n"
        "def f(x):\n"
        "    with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "        with socket.create_connection(server.getsockname()):\n"
        "            return x + 1\n"
    ),
    tests="assert f(1) == 2",
)
SLEEPS = Program(code="import time\ndef f(x): time.sleep(0.3); return x + 1", tests="assert f(1) == 2")
LARGE = Program(
    code=f"DATA = {''.join(random.Random(1).choices(string.ascii_letters, k=1 << 20))!r}\ndef f(x): return len(DATA)",
    tests=f"assert f(1) == {1 << 20}",
)


def together(kind: str, programs: list[Program]) -> list[Execution]:
    """All at once, in one worker."""
    box = opened(kind, workers=1, labels=OWN)

    async def story() -> list[Execution]:
        try:
            return list(await asyncio.gather(*map(box.run, programs)))
        finally:
            await box.close()

    return run(story())


@pytest.mark.parametrize("kind", ["bwrap", pytest.param("docker", marks=pytest.mark.slow)])
def test_the_next_program_is_untouched_when_its_worker_is_replaced(kind: str) -> None:
    """It runs on the new worker, and that is no second attempt; a program that fits in no pipe does, too."""
    done = together(kind, [TALKS, RIGHT, TALKS, TALKS, LARGE, RIGHT])
    assert [(one.verdict, one.attempts) for one in done] == [("passed", 1)] * 6, done


def test_a_program_that_is_cancelled_behind_another_leaves_it_alone(kind: str) -> None:
    """The one that runs has its verdict, and so has the one behind both."""
    box = opened(kind, workers=1, labels=OWN)

    async def story() -> list[Execution]:
        first = asyncio.create_task(box.run(SLEEPS))
        await taken(box)
        second, third = (asyncio.create_task(box.run(SLEEPS)) for _ in range(2))
        await asyncio.sleep(0)  # so that they begin to wait
        second.cancel()
        return [await first, await third]

    try:
        done = run(story())
    finally:
        run(box.close())
    assert [(one.verdict, one.attempts) for one in done] == [("passed", 1)] * 2, done
