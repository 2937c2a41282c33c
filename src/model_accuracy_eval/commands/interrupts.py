"""What Ctrl-C, SIGTERM and a closed terminal do to a command: a sentence and the exit code of shells, no traceback.

A run takes the signals over while it lasts, because it has answers to keep and an adapter to end.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from model_accuracy_eval.errors import StopSignal, stop_signals
from model_accuracy_eval.system.clock import repeated_stops


@contextmanager
def raised() -> Iterator[None]:
    """While entered, the signals raise `StopSignal`. Only a main thread can be told of signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, _raise) for number in stop_signals()}
    try:
        with repeated_stops():
            yield
    except RuntimeError as error:
        # Python before 3.12 wraps whatever is raised while a class gets its attributes, as during an import.
        if isinstance(error.__cause__, StopSignal):
            raise error.__cause__ from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise StopSignal(number)
