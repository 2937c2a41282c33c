"""Real signals: every wait listens to them, and nothing hangs or is torn."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from model_accuracy_eval.errors import Stopped
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.clock import run as run_loop

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.fixture
def clock() -> Iterator[SignalClock]:
    found = SignalClock()
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if the tests run under nohup
    with found.listening():
        yield found
    signal.signal(signal.SIGHUP, inherited)


def send(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


def soon(number: int = signal.SIGTERM, seconds: float = 0.05) -> threading.Timer:
    timer = threading.Timer(seconds, send, args=(number,))
    timer.start()
    return timer


@pytest.mark.parametrize(("number", "exit_code"), SIGNALS)
def test_a_signal_ends_a_sleep_at_once(clock: SignalClock, number: int, exit_code: int) -> None:
    """With the exit code that shells give it, and its name in the sentence."""
    timer = soon(number)
    with pytest.raises(Stopped, match=signal.Signals(number).name) as error:
        clock.sleep(999)
    assert error.value.exit_code == exit_code
    timer.join()


def test_every_wait_after_a_signal_ends_at_once(clock: SignalClock) -> None:
    """Sleeping, checking and asking to be told all refuse from then on."""
    clock.check()
    send()
    with pytest.raises(Stopped):
        clock.check()
    with pytest.raises(Stopped):
        clock.sleep(999)
    with pytest.raises(Stopped), clock.on_stop(lambda: None):
        pytest.fail("entered")


def test_the_first_signal_counts(clock: SignalClock) -> None:
    """A second one neither changes the exit code nor calls again."""
    called = []
    with clock.on_stop(lambda: called.append(1)):
        send(signal.SIGTERM)
        send(signal.SIGINT)
    with pytest.raises(Stopped) as error:
        clock.check()
    assert error.value.exit_code == 143
    assert called == [1]


def test_work_that_only_computes_is_interrupted(clock: SignalClock) -> None:
    """It checks nothing, and still ends; handlers of errors on the way do not swallow the stop."""
    timer = soon()
    with pytest.raises(Stopped) as error, clock.interruptible():
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))
    assert error.value.exit_code == 143
    timer.join()


def test_outside_such_work_nothing_is_interrupted(clock: SignalClock) -> None:
    """A write after it is finished, whenever the signal comes; and a stop before it lets it not begin."""
    with clock.interruptible():
        pass
    send()
    with pytest.raises(Stopped), clock.interruptible():
        pytest.fail("entered")


def test_handlers_are_given_back() -> None:
    """Whoever had the signals before has them again."""
    before = [signal.getsignal(number) for number, _ in SIGNALS]
    with SignalClock().listening():
        assert [signal.getsignal(number) for number, _ in SIGNALS] != before
    assert [signal.getsignal(number) for number, _ in SIGNALS] == before


def test_no_signal_is_lost_and_none_hangs() -> None:
    """Hundreds of signals that fall at any place of a sleep: each of them ends it."""
    for round_ in range(300):
        clock = SignalClock()
        with clock.listening():
            before = signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGTERM))
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + round_ * 1e-6)
                with pytest.raises(Stopped):
                    while True:
                        clock.sleep(1e-6)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)


def test_a_signal_cancels_what_a_loop_waits_for(clock: SignalClock) -> None:
    """The callback runs although the loop is asleep in the kernel, and the task ends promptly."""

    async def work() -> str:
        running = asyncio.get_running_loop()
        task = asyncio.ensure_future(asyncio.sleep(999))
        with clock.on_stop(lambda: running.call_soon_threadsafe(task.cancel)):
            timers.append(soon())
            try:
                await task
            except asyncio.CancelledError:
                return "cancelled"
        return "slept"

    timers: list[threading.Timer] = []
    assert run_loop(work()) == "cancelled"
    timers[0].join()
    with pytest.raises(Stopped):
        clock.check()


def test_runs_use_uvloop_where_it_is_installed() -> None:
    """And asyncio's own loop elsewhere; the loop is closed afterwards, also when the coroutine fails."""
    uvloop = pytest.importorskip("uvloop")
    seen: list[asyncio.AbstractEventLoop] = []

    async def look() -> None:
        seen.append(asyncio.get_running_loop())

    async def fail() -> None:
        seen.append(asyncio.get_running_loop())
        raise ValueError("no")

    run_loop(look())
    with pytest.raises(ValueError, match="no"):
        run_loop(fail())
    assert all(isinstance(each, uvloop.Loop) and each.is_closed() for each in seen)


def test_a_closed_terminal_does_not_end_what_nohup_runs() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with (clock := SignalClock()).listening():
            send(signal.SIGHUP)
            clock.sleep(0.0)
    finally:
        signal.signal(signal.SIGHUP, before)
