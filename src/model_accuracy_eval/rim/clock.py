"""Time, and the wish to stop: SIGINT and SIGTERM set a flag that every wait listens to."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from model_accuracy_eval.errors import Stopped

_GRACE = 2.0
"""Seconds after a stop for finishing what was begun; runners kill after ten, and the adapter has to end too."""

_NAP = 0.05


class SignalClock:
    """Implements `ports.Clock`. A flag instead of an exception out of the handler: nothing is torn half-way."""

    def __init__(self) -> None:
        self._asked: int | None = None
        self._asked_at = 0.0
        self._callback: Callable[[], object] | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes over SIGINT and SIGTERM while entered."""
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        # A second signal changes nothing: the clean-up is bounded, and cutting it short would leave processes behind.
        if self._asked is None:
            self._asked = number
            self._asked_at = self.elapsed()
            if self._callback is not None:
                self._callback()

    def now(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    def local(self, form: str) -> str:
        return time.strftime(form)

    def sleep(self, seconds: float) -> None:
        """In short naps with a look at the flag between them: a `threading.Event` that a handler sets in the middle
        of its own thread's wait hangs."""
        end = time.monotonic() + seconds
        self.check()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _NAP))
            self.check()

    def overdue(self) -> bool:
        return self.since_stop() > _GRACE

    def since_stop(self) -> float:
        """Seconds since somebody asked the run to end; 0 when nobody did."""
        return 0.0 if self._asked is None else self.elapsed() - self._asked_at

    def check(self) -> None:
        if self._asked is not None:
            raise Stopped(self._asked, signal.Signals(self._asked).name)

    @contextmanager
    def on_stop(self, callback: Callable[[], object]) -> Iterator[None]:
        self._callback = callback
        try:
            self.check()  # after the callback is in place, so that no signal falls between the two
            yield
        finally:
            self._callback = None
