"""The clock of a job: the limit is the program's own time, not its neighbours'."""

import os
from collections.abc import Iterator

import pytest

from model_accuracy_eval.sandbox.inside.core_time import CoreTime
from model_accuracy_eval.sandbox.inside.job import JobState, Pipes


@pytest.fixture
def state() -> Iterator[JobState]:
    pipes = Pipes()
    wakeup, writer = os.pipe()
    yield JobState(pipes, wakeup, 1.0)
    pipes.close()
    os.close(wakeup)
    os.close(writer)


@pytest.mark.parametrize(
    ("used", "waited", "left", "starved"),
    [
        (0.2, 0.0, 0.8, False),
        (2.0, 0.0, -1.0, False),
        (2.0, 1.5, 0.5, True),
        (2.0, 99.0, 1.0, True),
        (4.0, 2.5, -1.0, False),
        (4.0, 99.0, -1.0, True),
    ],
)
def test_time_spent_waiting_for_a_core_does_not_count(
    state: JobState, monkeypatch: pytest.MonkeyPatch, used: float, waited: float, left: float, starved: bool
) -> None:
    """Up to three times the limit in all; who then still lacks time of its own is not called slow at once."""
    monkeypatch.setattr(CoreTime, "waited", lambda *_: waited)
    monkeypatch.setattr(JobState, "elapsed", lambda _: used)
    assert state.seconds_left() == pytest.approx(left)
    assert state.starved is starved
