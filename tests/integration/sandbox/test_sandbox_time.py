"""The clock is no verdict about a program that had no core; a program that sleeps for ever is wrong."""

import asyncio
import subprocess
from collections.abc import Callable, Iterator

import pytest
from tests.integration.sandbox.conftest import LABELS, RunAll, opened
from tests.integration.sandbox.test_sandbox_faults import containers

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.sandbox.pool import Turns
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.docker_engine import Labels

LIMITS = Limits(wall_seconds=1.0)
OWN = Labels(repository=f"{LABELS.repository}-time")
SLOW = """
import time
def f(x):
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
    return x
"""


def program(code: str, limits: Limits = LIMITS) -> Program:
    return Program(code=code, tests="assert f(1) == 1", limits=limits)


def set_share(thousandths: int) -> None:
    """How much of a core the engine gives this test's containers."""
    words = ["docker", "update", "--cpu-period", "100000", "--cpu-quota", str(100 * thousandths)]
    subprocess.run([*words, *containers(OWN.repository)], check=True, capture_output=True)


@pytest.fixture
def starved() -> Iterator[Sandbox]:
    """A container that gets a hundredth of a core."""
    box = opened("docker", workers=1, labels=OWN)
    try:
        assert run(box.run(program("def f(x): return x"))).passed
        set_share(10)
        yield box
    finally:
        run(box.close())


def test_a_program_without_a_core_is_not_judged(starved: Sandbox) -> None:
    """Twice, the second time alone; the sentence has the numbers."""
    done = run(starved.run(program(SLOW)))
    assert (done.passed, done.verdict, done.alone, done.attempts) == (None, "harness_error", True, 2)
    assert "the machine is too busy to judge it" in done.detail
    assert "of its 1 s" in done.detail
    assert (done.cpu_seconds or 0) < 0.3 < (done.waited_seconds or 0)


def test_it_is_judged_alone_when_the_load_is_gone(starved: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run decides."""
    alone = Turns.alone

    def after_the_load(turns: Turns) -> object:
        set_share(1000)
        return alone(turns)

    monkeypatch.setattr(Turns, "alone", after_the_load)
    done = run(starved.run(program(SLOW)))
    assert (done.verdict, done.alone, done.attempts) == ("passed", True, 2), done


@pytest.mark.parametrize(
    "body",
    ["time.sleep(600)", "\n    while True: time.sleep(0.1)", "threading.Event().wait()", "os.read(os.pipe()[0], 1)"],
)
def test_a_program_that_waits_for_ever_is_wrong(body: str, kind: str, run_all: RunAll) -> None:
    """It is run twice, for its core time alone does not show why it had none."""
    (done,) = run_all([program(f"import os, threading, time\ndef f(x): {body}")])
    assert (done.verdict, done.alone, done.attempts) == ("timeout", True, 2), done
    assert done.limit_seconds == 1.0
    assert (done.cpu_seconds or 0) < 0.5


@pytest.mark.parametrize(
    "body",
    [
        "\n    while True: pass",
        "subprocess.run([sys.executable, '-c', 'while True: pass'])",
        "\n    if os.fork(): time.sleep(600)\n    while True: pass",
    ],
)
def test_a_program_that_used_its_time_runs_once(body: str, kind: str, run_all: RunAll) -> None:
    """Also where another process of it did; what it used is there to read. Only a busy machine asks for a second run."""
    (done,) = run_all([program(f"import os, subprocess, sys, time\ndef f(x): {body}")])
    used, waited = done.cpu_seconds or 0.0, done.waited_seconds or 0.0
    assert used > 0.9 or (done.alone and waited > used), done
    assert done.verdict == "timeout" or (done.verdict == "harness_error" and done.alone), done
    assert done.attempts == 1 + done.alone


@pytest.mark.parametrize(
    ("body", "crossing", "passes"),
    [
        ("while True: pass", 0, False),
        ("return burn(x)", 0, False),
        ("return burn(x)", 60, True),
        ("return rest(x)", 0, True),
    ],
)
def test_a_call_has_a_limit_of_core_time(body: str, crossing: int, passes: bool, kind: str, run_all: RunAll) -> None:
    """To sleep is not to use it, nor is what the values take to cross; whoever uses it up is not run again."""
    code = f"import time\n{SLOW.replace('def f', 'def burn')}\ndef rest(x):\n    time.sleep(0.3)\n    return x\ndef f(x):\n    {body}"
    tests = f"got, used = __within__(0.1, lambda: {crossing}, f, 1)\nassert (got, used >= 0) == (1, True)"
    (done,) = run_all([Program(code=code, tests=tests, entry_points=("f",), limits=Limits(wall_seconds=600.0))])
    expected = ("passed", 600.0) if passes else ("timeout", 0.1)
    assert (done.verdict, done.limit_seconds, done.attempts, done.alone) == (*expected, 1, False), done
    assert "more than 0.1 s of core time" in done.detail or passes


def test_nothing_runs_beside_a_program_that_is_alone(boxes: Callable[[str], Sandbox], kind: str) -> None:
    """Others wait for it, and all have their own verdicts."""
    box = boxes(kind)
    sleeps = program("import time\ndef f(x): time.sleep(600)", Limits(wall_seconds=0.5))
    right, wrong = program("def f(x): return x"), program("def f(x): return 0")

    async def all_of() -> list[Execution]:
        return list(await asyncio.gather(*(box.run(one) for one in [right, sleeps, wrong] * 4)))

    assert [done.verdict for done in run(all_of())] == ["passed", "timeout", "failed"] * 4


def test_closing_ends_a_program_that_waits_to_be_alone(kind: str) -> None:
    """Behind one that would run for ten minutes."""
    box = opened(kind, labels=OWN)
    endless = program("import time\ndef f(x): time.sleep(600)", Limits(wall_seconds=600.0))
    sleeps = program("import time\ndef f(x): time.sleep(600)", Limits(wall_seconds=0.3))
    turns: Turns = box._pool._turns  # type: ignore[attr-defined]

    async def story() -> list[Execution | BaseException]:
        tasks = [asyncio.create_task(box.run(one)) for one in (endless, sleeps)]
        while not turns._alone:
            await asyncio.sleep(0.01)
        await box.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    for done in run(story()):
        assert isinstance(done, asyncio.CancelledError) or (isinstance(done, Execution) and done.passed is None), done
