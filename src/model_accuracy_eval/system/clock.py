"""Time, and the request to stop: SIGINT, SIGTERM and SIGHUP set a flag that every wait checks."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from model_accuracy_eval.errors import Stopped, StopSignal, stop_signals

_GRACE = 2.0
"""Seconds after a stop for finishing what was started. Runners kill after ten, and the adapter has to end too."""
_POLL_SECONDS = 0.05


class SignalClock:
    """Implements `ports.Clock`. The handler sets a flag; it raises only in `interruptible`, where no write is torn."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._stop_time = 0.0
        self._callback: Callable[[], object] | None = None
        self._interrupts = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes over the signals that ask for an end while entered."""
        previous = {number: signal.signal(number, self._on_signal) for number in stop_signals()}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.stop(number)

    def stop(self, number: int) -> None:
        """What the signal of this number does."""
        # A second signal changes nothing: cleaning up has a time limit, and stopping it would leave processes behind.
        if self._signal is None:
            self._signal = number
            self._stop_time = self.elapsed()
            if self._callback is not None:
                self._callback()
        if self._interrupts:
            self._interrupts = False
            raise StopSignal(self._signal)

    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    def local(self, form: str) -> str:
        return time.strftime(form)

    def sleep(self, seconds: float) -> None:
        """Sleeps in short steps and checks the flag in between. A `threading.Event` would hang if the handler set it
        while its own thread waits."""
        end = time.monotonic() + seconds
        self.check()
        while (remaining := end - time.monotonic()) > 0:
            time.sleep(min(remaining, _POLL_SECONDS))
            self.check()

    def overdue(self) -> bool:
        return self.since_stop() > _GRACE

    def since_stop(self) -> float:
        """Seconds since the request to stop; 0 when there was none."""
        return 0.0 if self._signal is None else self.elapsed() - self._stop_time

    def check(self) -> None:
        if self._signal is not None:
            raise Stopped(self._signal, signal.Signals(self._signal).name)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        self._interrupts = True
        try:
            self.check()  # after the flag is set, so that no signal is missed in between
            yield
        except (StopSignal, RuntimeError):  # Python before 3.12 wraps it while a class gets its attributes
            self.check()
            raise
        finally:
            self._interrupts = False

    @contextmanager
    def on_stop(self, callback: Callable[[], object]) -> Iterator[None]:
        self._callback = callback
        try:
            self.check()  # after the callback is set, so that no signal is missed in between
            yield
        finally:
            self._callback = None
