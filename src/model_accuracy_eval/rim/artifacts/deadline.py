"""Work that may be given up at any moment, whatever its server does."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from model_accuracy_eval.errors import PublishFailed

T = TypeVar("T")

_TICK = 0.1


def in_time(left: Callable[[], float], work: Callable[[], T]) -> T:
    """What the work brings, if it comes while seconds are left; the number may change meanwhile. Work that is late is
    left to itself and ends with this process."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - told by the future
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="artifact").start()
    # Limits of single calls would not do: a server may send a byte now and then for ever.
    while not wait([future], max(0.0, min(_TICK, left()))).done:
        if left() <= 0:
            raise PublishFailed(
                "The artifact was not uploaded in the few seconds that are left after a stop; "
                "the report is in the run's folder alone."
            )
    return future.result()
