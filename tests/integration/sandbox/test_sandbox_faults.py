"""What happens when workers, the engine's containers, the caller or this program end in the middle of it."""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.integration.sandbox.conftest import LABELS, opened
from tests.waiting import until

from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.rim.containers.sweeping import MARK, Labels
from model_accuracy_eval.rim.loop import run

RIGHT = Program(code="def f(x): return x + 1", tests="assert f(1) == 2")
WRONG = Program(code="def f(x): return x - 1", tests="assert f(1) == 2")
ENDLESS = Program(
    code="import time\ndef f(x): time.sleep(600)", tests="assert f(1) == 2", limits=Limits(wall_seconds=600.0)
)
OWN = Labels(repository=f"{LABELS.repository}-faults")
SANDBOX = "-s -c \nimport json, os, sys, types"


def containers(repository: str) -> list[str]:
    """The engine's containers that carry the name."""
    words = ["docker", "ps", "-aq", "--no-trunc", "--filter", f"label={MARK}.repository={repository}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def servers() -> list[psutil.Process]:
    """Fork servers and their jobs that are children of this process."""
    found = []
    for one in psutil.Process().children(recursive=True):
        try:
            if one.status() != psutil.STATUS_ZOMBIE and SANDBOX in " ".join(one.cmdline()):
                found.append(one)
        except psutil.NoSuchProcess:
            continue
    return found


def kill_one(kind: str, chance: random.Random, spared: list[psutil.Process]) -> None:
    """A worker of this test, and none of the session's."""
    if kind == "docker":
        running = containers(OWN.repository)
        if running:
            subprocess.run(["docker", "kill", chance.choice(running)], capture_output=True, check=False)
        return
    with contextlib.suppress(psutil.NoSuchProcess):  # it was replaced in between
        tops = [one for one in servers() if one.ppid() == os.getpid() and one not in spared]
        if tops:
            chance.choice(tops).kill()


async def taken(box: Sandbox) -> None:
    """Until the only slot has a program."""
    while not box._pool._free.empty():  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)


async def _numbered(box: Sandbox, count: int) -> list[Execution]:
    return list(await asyncio.gather(*(box.run(RIGHT if n % 3 else WRONG) for n in range(count))))


@pytest.mark.parametrize("kind", ["docker", "bwrap", "uid", "none"])
def test_no_verdict_is_lost_doubled_or_wrong_when_workers_are_killed(kind: str) -> None:
    """Of 1,000 tiny programs every one has its own verdict or a harness_error, whatever dies meanwhile."""
    spared = servers()
    box = opened(kind, labels=OWN)
    over = threading.Event()
    chance = random.Random(7)

    def killing() -> None:
        while not over.wait(chance.uniform(0.3, 1.2)):
            kill_one(kind, chance, spared)

    killer = threading.Thread(target=killing)
    killer.start()
    try:
        done = run(_numbered(box, 1000 if kind == "docker" else 400))
    finally:
        over.set()
        killer.join()
        run(box.close())
    for number, one in enumerate(done):
        assert one.verdict in ("passed" if number % 3 else "failed", "harness_error"), (number, one)
    assert sum(one.verdict == "harness_error" for one in done) <= len(done) // 50
    assert any(one.attempts == 2 for one in done)
    until(lambda: not (set(servers()) - set(spared)), "no process of the sandbox is left")
    until(lambda: kind != "docker" or not containers(OWN.repository), "no container is left")


def test_a_program_whose_worker_is_lost_runs_again(kind: str) -> None:
    """Once, on a fresh worker; the verdict is its own."""
    spared = servers()
    box = opened(kind, slots=1, labels=OWN)
    slow = Program(code="import time\ndef f(x):\n    time.sleep(1)\n    return x", tests="assert f(1) == 1")

    async def story() -> Execution:
        running = asyncio.create_task(box.run(slow))
        await taken(box)
        await asyncio.to_thread(kill_one, kind, random.Random(1), spared)
        return await running

    try:
        done = run(story())
    finally:
        run(box.close())
    assert (done.verdict, done.attempts) == ("passed", 2)


def test_a_cancelled_program_ends_and_its_slot_goes_on(kind: str) -> None:
    """The task ends at once, nothing of the program is left, and the next program passes."""
    spared = servers()
    box = opened(kind, slots=1, labels=OWN)

    async def story() -> Execution:
        endless = asyncio.create_task(box.run(ENDLESS))
        await taken(box)
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        return await box.run(RIGHT)

    try:
        assert run(story()).verdict == "passed"
    finally:
        run(box.close())
    until(lambda: not (set(servers()) - set(spared)), "no process of the sandbox is left")
    until(lambda: kind != "docker" or not containers(OWN.repository), "no container is left")


def test_closing_ends_what_runs(kind: str) -> None:
    """Programs that run, and those that wait, end as harness errors; no thread, process or container stays."""
    spared = servers()
    box = opened(kind, slots=1, labels=OWN)

    async def story() -> list[Execution | BaseException]:
        tasks = [asyncio.create_task(box.run(ENDLESS)) for _ in range(3)]
        await taken(box)
        await box.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    done = run(story())
    assert all(
        isinstance(one, asyncio.CancelledError) or (isinstance(one, Execution) and one.verdict == "harness_error")
        for one in done
    ), done
    until(lambda: not (set(servers()) - set(spared)), "no process of the sandbox is left")
    until(lambda: kind != "docker" or not containers(OWN.repository), "no container is left")


OWNER = """
import asyncio, json, os, sys
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.rim.containers.sweeping import Labels
from model_accuracy_eval.rim.sandbox.opening import open_sandbox
box = open_sandbox(sys.argv[1], os.environ, slots=1, labels=Labels(repository=sys.argv[2]))
code = "import os, time\\ndef f(x):\\n    if os.fork() == 0: os.setsid()\\n    time.sleep(600)"
async def story():
    running = asyncio.create_task(box.run(Program(code=code, tests="f(1)", limits=Limits(wall_seconds=60.0))))
    await asyncio.sleep(0.5)  # for the daemon to be made; earlier is harder on the program, not easier on us
    print("running", flush=True)
    await running
asyncio.run(story())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_this_program(kind: str, number: int, boxes: Callable[[str], Sandbox], tmp_path: Path) -> None:
    """However it dies, with a program running that has made a daemon."""
    boxes(kind)  # or a skip
    name = f"{LABELS.repository}-{kind}-{number}"
    errors = (tmp_path / "errors").open("wb")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, kind, name], stdout=subprocess.PIPE, stderr=errors)
    assert owner.stdout
    assert owner.stdout.readline() == b"running\n", (tmp_path / "errors").read_text()
    family = psutil.Process(owner.pid).children(recursive=True)
    assert family or containers(name)
    owner.send_signal(number)
    owner.wait()
    owner.stdout.close()
    errors.close()
    until(
        lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family),
        f"nothing of {family} is left",
    )
    until(lambda: kind != "docker" or not containers(name), "the container is gone")
