"""What happens when workers, the engine's containers, the caller or this program end in the middle of it."""

import asyncio
import contextlib
import os
import random
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.integration.sandbox.conftest import LABELS, obstacle, opened
from tests.servers.gate import Gate
from tests.waiting import until

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.sandbox.worker import BOOTSTRAP
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.docker_engine import DEFAULT_SOCKET, MARK, Labels, sweep

RIGHT = Program(code="def f(x): return x + 1", tests="assert f(1) == 2")
WRONG = Program(code="def f(x): return x - 1", tests="assert f(1) == 2")
ENDLESS = Program(
    code="import time\ndef f(x): time.sleep(600)", tests="assert f(1) == 2", limits=Limits(wall_seconds=600.0)
)
OWN = Labels(repository=f"{LABELS.repository}-faults")
SANDBOX = f"-s -c {BOOTSTRAP.splitlines(keepends=True)[0]}{BOOTSTRAP.splitlines()[1]}"


def containers(repository: str, *filters: str) -> list[str]:
    """The engine's containers that carry the name."""
    chosen = [f"--filter={one}" for one in (f"label={MARK}.repository={repository}", *filters)]
    words = ["docker", "ps", "-aq", "--no-trunc", *chosen]
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


async def numbered(box: Sandbox, count: int, harm: Callable[[], object]) -> list[Execution]:
    """So many programs, and harm done beside the others after one in fifty: by their pace, and not by the clock."""
    chance = random.Random(7)

    async def one(number: int) -> Execution:
        done = await box.run(RIGHT if number % 3 else WRONG)
        if chance.random() < 0.02:
            await asyncio.to_thread(harm)
        return done

    return list(await asyncio.gather(*map(one, range(count))))


def check_numbered(done: list[Execution]) -> None:
    """Each verdict is its program's own, but for few of which nothing is known; and something did go wrong."""
    for number, one in enumerate(done):
        assert one.verdict in ("passed" if number % 3 else "failed", "harness_error"), (number, one)
    assert sum(one.verdict == "harness_error" for one in done) <= len(done) // 50
    assert any(one.attempts == 2 for one in done)


@pytest.mark.parametrize("kind", ["docker", "bwrap", "uid", "none"])
def test_no_verdict_is_lost_doubled_or_wrong_when_workers_are_killed(kind: str) -> None:
    """Of 400 tiny programs every one has its own verdict or a harness_error, whatever dies meanwhile."""
    spared = servers()
    box = opened(kind, labels=OWN)
    chance = random.Random(7)
    try:
        done = run(numbered(box, 400, lambda: kill_one(kind, chance, spared)))
    finally:
        run(box.close())
    check_numbered(done)
    until(lambda: not (set(servers()) - set(spared)), "no process of the sandbox is left")
    until(lambda: kind != "docker" or not containers(OWN.repository), "no container is left")


def test_no_verdict_is_lost_doubled_or_wrong_when_the_engine_goes_away(tmp_path: Path) -> None:
    """It drops every connection again and again, as one that is restarted does; a sweep removes what it forgot."""
    if (why := obstacle("docker")) is not None:
        pytest.skip(why)
    address = os.environ.get("DOCKER_HOST", DEFAULT_SOCKET)
    if not address.startswith("unix://"):
        pytest.skip("the engine is not on a socket of this machine")
    labels = Labels(repository=f"{LABELS.repository}-gate", run_id=secrets.token_hex(16))
    with Gate(tmp_path / "engine.sock", address.removeprefix("unix://")) as gate:
        environment = {"DOCKER_HOST": f"unix://{gate.path}"}
        box = open_sandbox("docker", environment, workers=2, labels=labels)
        done = run(numbered(box, 300, gate.drop))
        run(box.close())
    check_numbered(done)
    until(lambda: not containers(labels.repository, "status=running"), "no container runs")
    sweep(labels, os.environ)
    assert containers(labels.repository) == []


def test_a_program_whose_worker_is_lost_runs_again(kind: str) -> None:
    """Once, on a fresh worker; the verdict is its own."""
    spared = servers()
    box = opened(kind, workers=1, labels=OWN)
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
    box = opened(kind, workers=1, labels=OWN)

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
    box = opened(kind, workers=1, labels=OWN)

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
