"""Work that may be given up at any moment, whatever its server does."""

from collections.abc import Callable
from concurrent.futures import wait
from typing import TypeVar

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.rim.beside import beside

T = TypeVar("T")

_TICK = 0.1


def in_time(left: Callable[[], float], work: Callable[[], T]) -> T:
    """What the work brings, if it comes while seconds are left; the number may change meanwhile. Work that is late is
    left to itself and ends with this process."""
    future = beside(work, "artifact")
    # Limits of single calls would not do: a server may send a byte now and then for ever.
    while not wait([future], max(0.0, min(_TICK, left()))).done:
        if left() <= 0:
            raise PublishFailed(
                "The artifact was not uploaded in the few seconds that are left after a stop; "
                "the report is in the run's folder alone."
            )
    return future.result()
