"""The clock of a job: the limit is the program's own time, not its neighbours'."""

import os
from collections.abc import Iterator

import pytest

from model_accuracy_eval.sandbox.inside.cleanup import ProcessEnd
from model_accuracy_eval.sandbox.inside.job import CoreTime, JobState, Pipes
from model_accuracy_eval.sandbox.inside.messages import READY, JobReport


@pytest.fixture
def state() -> Iterator[JobState]:
    pipes = Pipes()
    wakeup, writer = os.pipe()
    yield JobState(pipes, wakeup, 10.0)
    pipes.close()
    os.close(wakeup)
    os.close(writer)


@pytest.mark.parametrize(
    ("used", "waited", "left", "starved"),
    [
        (2.0, 0.0, 8.0, False),
        (20.0, 0.0, -10.0, False),
        (20.0, 15.0, 5.0, True),
        (20.0, 99.0, 10.0, True),
        (40.0, 25.0, -10.0, False),
        (40.0, 99.0, -10.0, True),
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


def test_a_short_limit_is_stretched_by_seconds(state: JobState, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three times half a second are nothing on a busy machine: then it is twenty seconds more."""
    state.restart_clock(0.5)
    monkeypatch.setattr(CoreTime, "waited", lambda *_: 99.0)
    monkeypatch.setattr(JobState, "elapsed", lambda _: 4.0)
    assert state.seconds_left() == pytest.approx(16.5)


def test_of_a_program_whose_tests_did_not_start_nothing_is_said(state: JobState) -> None:
    """Neither that it ended nor that its time is over; once they report, the clock is the program's."""
    state.await_start(0.5, 10.0)
    state.ended[1] = ProcessEnd(0, 0.0, 0)
    with pytest.raises(RuntimeError, match="did not start"):
        state.report_of_end("split", 1)
    with pytest.raises(RuntimeError, match="did not start"):
        state.report_of_timeout()
    state.go_on(JobReport(READY), 10.0)
    assert state.limit == 10.0
    assert state.report_of_end("split", 1).verdict == "exited"
    assert state.report_of_timeout().detail == "It did not end within 10 s."
