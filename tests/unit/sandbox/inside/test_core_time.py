"""Core time is had or waited for; sleep is neither."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from model_accuracy_eval.sandbox.inside import job

WATCH = """
import os, sys, time
# A group of its own, to be killed as one, and not a session: the system may share cores between sessions, whatever the
# nice values in them are.
os.setpgrp()
from model_accuracy_eval.sandbox.inside.job import CoreTime
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
def spin():
    os.nice(19)
    while True: pass
def rhythm():
    while True: time.sleep(0.1)
def parent():
    if not os.fork(): spin()
    time.sleep(600)
children = []
for work in sys.argv[1:]:
    children.append(os.fork())
    if not children[-1]: globals()[work]()
watched = CoreTime()
begin = time.monotonic()
while time.monotonic() < begin + 2:
    time.sleep(watched.gap)
    watched.look_if_due()
elapsed = time.monotonic() - begin
print(watched.used({}) / elapsed, watched.waited({}) / elapsed, flush=True)
os.killpg(0, 9)
"""


@contextmanager
def neighbour() -> Iterator[None]:
    """A process that takes the same core and has more right to it."""
    code = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nprint(flush=True)\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        process.stdout.readline()  # it has started
        yield
    finally:
        process.kill()
        process.communicate()


def shares(*works: str) -> tuple[float, float]:
    """Of the elapsed time: which share the children of a process had a core, and which they waited for one."""
    process = subprocess.Popen([sys.executable, "-c", WATCH, *works], stdout=subprocess.PIPE)
    assert process.stdout
    used, waited = map(float, process.stdout.read().split())
    process.wait()
    process.stdout.close()
    return used, waited


@pytest.mark.parametrize("work", ["spin", pytest.param("parent", marks=pytest.mark.slow)])
def test_a_program_beside_a_stronger_one_waits(work: str) -> None:
    """So does one whose child does the work while it sleeps."""
    with neighbour():
        used, waited = shares(work)
    assert waited > 0.5 > used
    assert used + waited == pytest.approx(1, abs=0.2)


def test_sleep_in_a_rhythm_is_no_waiting() -> None:
    """Looks that came in the same rhythm would see it awake each time."""
    used, waited = shares("rhythm")
    assert used < 0.1
    assert waited < 0.5


@pytest.mark.parametrize(("had", "waited"), [(0.02, 0.0), (0.002, 0.9)])
def test_work_in_children_that_the_kernel_forgets_is_no_waiting(
    had: float, waited: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look sees another one, which wants a core and has had it for some of its 20 ms; afterwards it is nowhere."""
    now = itertools.count(100.0, 0.1)
    numbers = itertools.count(1)
    for name, found in {
        "_processes": lambda: [next(numbers)],
        "_threads": lambda pid: [f"/proc/{pid}/task/{pid}"],
        "_is_in": lambda *_: True,
        "_core_seconds": lambda _: had,
        "_age": lambda _: 0.02,
        "_used": lambda _: 0.0,
    }.items():
        monkeypatch.setattr(job, name, found)
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    watched = job.CoreTime()
    for _ in range(10):
        watched.look()
    assert watched.waited({}) == pytest.approx(waited, abs=0.01)


@pytest.mark.slow
def test_processes_of_one_job_wait_for_each_other_alone() -> None:
    """What they take from each other is the job's own time, so four loops on a core are as slow as one."""
    used, waited = shares("spin", "spin", "spin", "spin")
    assert used + waited == pytest.approx(1, abs=0.2)
