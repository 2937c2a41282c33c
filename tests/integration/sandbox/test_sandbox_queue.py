"""Programs that wait for the worker that runs another, or run beside it: what one does is not felt by the other."""

import asyncio
import os
import random
import string
from typing import Any

import psutil
import pytest
from tests.integration.sandbox.conftest import RunAll, opened
from tests.integration.sandbox.test_sandbox_faults import OWN, RIGHT, taken

from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.sandbox.worker import WorkerSize
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start workers as other users")
@pytest.mark.parametrize("kind", ["bwrap", pytest.param("docker", marks=pytest.mark.slow)])
def test_each_worker_has_a_user_of_its_own(kind: str) -> None:
    """The kernel counts a user's pipes and watches: a program that takes all there are would end its neighbour."""
    box = opened(kind, workers=3, labels=OWN)
    pool: WorkerPool = box._pool  # type: ignore[attr-defined]
    try:
        connections: list[Any] = [one.get(WorkerSize.of(Limits()))._connection for one in pool._workers]
        users = [
            one._container.attrs["Config"]["User"] if kind == "docker" else psutil.Process(one._process.pid).uids().real
            for one in connections
        ]
    finally:
        pool.end()
    assert len({*users}) == 3, users


PLANTED = """
import os, site
def f():
    folder = os.path.expanduser(f"~/.local/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
    os.makedirs(folder, exist_ok=True)
    open(f"{folder}/usercustomize.py", "w").write("print('planted')")
    return os.environ["HOME"]
"""


def test_no_python_that_tests_start_reads_what_the_program_left_at_home(kind: str, run_all: RunAll) -> None:
    """Beside the program, which has its own home; apart from it they have none at all."""
    code = f"import sys{PLANTED}"
    apart = "import os\nassert isinstance(f(), str) and os.environ['HOME'] != f()\n"
    beside = (
        "import os, subprocess, sys\nassert os.environ['HOME'] == f()\n"
        "assert subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True).stdout == b'1\\n'\n"
    )
    done = run_all(
        [
            Program(code=code, tests=apart, entry_points=("f",), reference=code),
            Program(code=code, tests=beside, entry_points=("f",), mode="shared"),
        ]
    )
    assert [(one.verdict, one.detail) for one in done] == [("passed", "")] * 2
    assert [one.integrity[:6] for one in done] == ["split", "shared"]
