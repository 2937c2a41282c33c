"""What Ctrl-C and SIGTERM do to a command: one sentence and the exit code of shells, never a traceback.

A run takes both signals over while it lasts, because it has answers to keep and an adapter to end.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from model_accuracy_eval.errors import StopSignal
from model_accuracy_eval.repeated_stops import repeated_stops


@contextmanager
def raised() -> Iterator[None]:
    """While entered, both signals raise `StopSignal`. Only a main thread can be told of signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, _raise) for number in (signal.SIGINT, signal.SIGTERM)}
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
