"""A signal ends a command as one, wherever it arrives."""

import contextlib
import os
import signal
import threading
import weakref

import pytest

from model_accuracy_eval import cli
from model_accuracy_eval.errors import Stopped, StopSignal
from model_accuracy_eval.system.clock import SignalClock


class _Signalled:
    """An attribute that is put into its class when the signal comes. Python before 3.12 wraps what is raised there."""

    def __set_name__(self, owner: type, name: str) -> None:
        signal.raise_signal(signal.SIGTERM)


def make_class() -> None:
    type("Made", (), {"attribute": _Signalled()})


def test_a_stop_during_an_import_is_a_stop() -> None:
    with pytest.raises(StopSignal) as stop, cli.stops_raised():
        make_class()
    assert stop.value.exit_code == 143


def test_a_stop_that_python_ignores_comes_again() -> None:
    """As it ignores whatever is raised while it forgets the lock of a module."""
    with pytest.raises(StopSignal), cli.stops_raised():
        forgotten = weakref.ref(_Signalled(), lambda _: signal.raise_signal(signal.SIGTERM))
        assert forgotten() is None
        threading.Event().wait(60)


def test_a_stop_during_an_import_of_a_run_is_one_too() -> None:
    clock = SignalClock()
    with clock.listening(), pytest.raises(Stopped, match="SIGTERM"), clock.interruptible():
        make_class()


def test_other_errors_stay() -> None:
    with pytest.raises(RuntimeError, match="of its own"), cli.stops_raised():
        raise RuntimeError("of its own")


def test_a_stop_that_is_dropped_on_its_way_comes_again() -> None:
    """As C code drops whatever a look-up raises. The alarm that brings it is what it was before."""
    alarm = signal.getsignal(signal.SIGALRM)
    with pytest.raises(StopSignal), cli.stops_raised():
        with contextlib.suppress(StopSignal):
            signal.raise_signal(signal.SIGTERM)
        threading.Event().wait(60)
    assert signal.getsignal(signal.SIGALRM) == alarm


def test_what_cleans_up_after_a_stop_is_left_in_peace() -> None:
    """Longer than until the signal comes again, as the end of a container takes, and after errors of its own."""
    done = []
    with pytest.raises(StopSignal), cli.stops_raised():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            try:
                os.kill(2**22 + 1, 0)  # no process has such a number
            except OSError:
                threading.Event().wait(3 * cli._AGAIN)
            done.append("all")
    assert done == ["all"]
