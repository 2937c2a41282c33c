"""Programs run side by side, or one alone while all others wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Used by the threads of a pool. Who wants to be alone goes before those that have not begun."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._alone = 0
        """How many are alone or wait for it."""

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._alone += 1
            self._changed.wait_for(lambda: not self._running)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._alone -= 1
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()
