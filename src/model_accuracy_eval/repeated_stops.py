"""Stops that are raised where Python ignores every exception, as while it clears up after an import, come again."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from model_accuracy_eval.errors import StopSignal

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_LATER = 0.02
"""Seconds until the signal is sent again: by then Python has left that place."""


@contextmanager
def repeated_stops(on_ignored: Callable[[], object] = lambda: None) -> Iterator[None]:
    """While entered, a `StopSignal` that Python has ignored is told, and its signal is sent to this process again."""
    before = sys.unraisablehook

    def hook(ignored: "UnraisableHookArgs") -> None:
        if not isinstance(ignored.exc_value, StopSignal):
            before(ignored)
            return
        while not _sent_later(ignored.exc_value.number, on_ignored):
            continue  # it came before this had ended, and what it raises would be ignored here, too

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _sent_later(number: int, on_ignored: Callable[[], object]) -> bool:
    """Whether nothing was raised meanwhile."""
    try:
        on_ignored()
        again = threading.Timer(_LATER, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
    except StopSignal:
        return False
    return True
