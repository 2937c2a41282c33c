"""Orders that lie ready in a worker while it runs another program: what happens to one is not felt by the other."""

import asyncio
import os
import random
import string
import subprocess

import psutil
import pytest
from tests.integration.sandbox.conftest import opened
from tests.integration.sandbox.test_sandbox_faults import CHOSEN, OWN, RIGHT, containers, servers, taken

from model_accuracy_eval.ports.service import Sandbox
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.system.concurrency import run

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
PEEKS = Program(  # at what the worker was sent for the next program
    code=(
        "import os\nREAD = []\n"
        "for pid in [1, os.getppid(), 'self']:\n"
        "    for fd in range(12):\n"
        "        try:\n"
        "            end = os.open(f'/proc/{pid}/fd/{fd}', os.O_RDONLY | os.O_NONBLOCK)\n"
        "            READ.append(os.read(end, 65536))\n"
        "        except OSError:\n"
        "            pass\n"
        "def f(x): return any(b'SECRET' in data for data in READ)\n"
    ),
    tests="assert f(1) is False",
)
WATCHED = Program(code="SECRET = 1\ndef f(x): return x + SECRET", tests="assert f(1) == 2")


def together(kind: str, programs: list[Program]) -> list[Execution]:
    """All at once, in one worker."""
    box = opened(kind, workers=1, labels=OWN)

    async def story() -> list[Execution]:
        try:
            return list(await asyncio.gather(*map(box.run, programs)))
        finally:
            await box.close()

    return run(story())


@pytest.mark.parametrize("kind", CHOSEN)
def test_the_next_program_is_untouched_when_its_worker_is_replaced(kind: str) -> None:
    """Its order was there already; it runs on the new worker, and that is no second attempt."""
    done = together(kind, [TALKS, RIGHT, TALKS, TALKS, RIGHT, RIGHT])
    assert [(one.verdict, one.attempts) for one in done] == [("passed", 1)] * 6, done


@pytest.mark.parametrize("kind", CHOSEN)
def test_the_next_program_is_untouched_when_its_worker_is_killed(kind: str) -> None:
    """Only the program that ran is tried again; the one behind it had not begun."""
    spared, box = servers(), opened(kind, workers=1, labels=OWN)

    async def story() -> list[Execution]:
        await box.run(RIGHT)
        worker = await asyncio.to_thread(_only_worker, kind, spared)
        tasks = [asyncio.create_task(box.run(SLEEPS))]
        await taken(box)
        tasks.append(asyncio.create_task(box.run(RIGHT)))
        await _both(box)
        worker.kill()
        return list(await asyncio.gather(*tasks))

    try:
        done = run(story())
    finally:
        run(box.close())
    assert [(one.verdict, one.attempts) for one in done] == [("passed", 2), ("passed", 1)], done


def _only_worker(kind: str, spared: list[psutil.Process]) -> psutil.Process:
    """Its process on this machine: asking the engine to end it can take longer than the program that it runs."""
    if kind == "docker":
        (container,) = containers(OWN.repository)
        found = subprocess.run(
            ["docker", "inspect", "--format", "{{.State.Pid}}", container], capture_output=True, check=True
        )
        return psutil.Process(int(found.stdout))
    (worker,) = [one for one in servers() if one.ppid() == os.getpid() and one not in spared]
    return worker


def test_a_large_order_behind_a_running_program_waits(kind: str) -> None:
    """It fits in no pipe, so it is sent when its turn comes; the order of programs stays."""
    done = together(kind, [SLEEPS, LARGE, SLEEPS, LARGE, RIGHT])
    assert [(one.verdict, one.attempts) for one in done] == [("passed", 1)] * 5, done


@pytest.mark.parametrize("kind", [*CHOSEN, "uid"])
def test_no_program_reads_the_order_of_the_next(kind: str) -> None:
    """What lies ready is in a pipe that only the worker can open."""
    done = together(kind, [PEEKS, WATCHED] * 3)
    assert [one.verdict for one in done] == ["passed"] * 6, done


def test_a_program_that_is_cancelled_behind_another_leaves_it_alone(kind: str) -> None:
    """The one that runs has its verdict, if need be on another worker."""
    box = opened(kind, workers=1, labels=OWN)

    async def story() -> Execution:
        first = asyncio.create_task(box.run(SLEEPS))
        await taken(box)
        second = asyncio.create_task(box.run(SLEEPS))
        await _both(box)
        second.cancel()
        return await first

    try:
        done = run(story())
    finally:
        run(box.close())
    assert (done.verdict, done.attempts) == ("passed", 1), done


async def _both(box: Sandbox) -> None:
    """Until the only worker has two programs."""
    while any(box._pool._free._room.values()):  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("kind", CHOSEN)
def test_samples_of_one_problem_are_judged_by_the_same_tests(kind: str) -> None:
    """From the second on by the bytecode that a pass has left: each check, each name and each line means the same."""
    tests = "import math\ndef check(g):\n    assert g(1) == 2\n    assert g(3) == 2 + math.floor(2.5)\ncheck(f)"
    programs = [Program(code=f"def f(x): return {body}", tests=tests) for body in ("x + 1", "x + 1", "2", "x + 1", "1")]
    done = together(kind, programs)
    assert [one.verdict for one in done] == ["passed", "passed", "failed", "passed", "failed"]
    shown = [(one.failed_check.line, one.failed_check.check) for one in done if one.failed_check]
    assert shown == [(4, "assert g(3) == 2 + math.floor(2.5)"), (3, "assert g(1) == 2")]
