"""How busy this process is while it asks, and how late: where it is the limit, times say nothing about the service."""

import asyncio
import time

from model_accuracy_eval.records import ClientLoad
from model_accuracy_eval.scoring.figures import intervals

_EVERY = 0.05
"""Seconds between two looks."""


class ClientClock:
    """Looks at its event loop now and then, from `begin` to `end`."""

    def __init__(self, now: float) -> None:
        """`now`: in seconds since the epoch."""
        self._since = now
        self._lateness: list[float] = []
        self._began, self._used = time.perf_counter(), time.thread_time()
        self._task = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        while True:
            due = time.perf_counter() + _EVERY
            await asyncio.sleep(_EVERY)
            self._lateness.append(max(0.0, time.perf_counter() - due))

    def end(self) -> ClientLoad:
        self._task.cancel()
        seconds = max(time.perf_counter() - self._began, 1e-9)
        in_order = sorted(self._lateness) or [0.0]
        return ClientLoad(
            since=self._since,
            busy=(time.thread_time() - self._used) / seconds,
            late=intervals.quantile(in_order, 0.95),
        )
