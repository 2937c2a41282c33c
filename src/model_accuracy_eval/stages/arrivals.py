"""Replies that have come and are not in the journal yet: whoever waits for the service goes first.

Streams of one batch end at the same time. If every reply were kept before its worker asks again, the last of them would
leave its place at the service empty while all others are kept. So the workers ask first; all replies that came in one
turn of the event loop are kept in the next one, together. A kill loses what it would have lost anyway, unread: the
answers of that moment.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Arrivals(Generic[T]):
    """Takes what has come, and hands all of it on in the next turn of the event loop."""

    def __init__(self, keep: Callable[[Sequence[T]], object]) -> None:
        self._keep = keep
        self._waiting: list[T] = []
        self._has_some = asyncio.Event()

    def add(self, arrival: T) -> None:
        self._waiting.append(arrival)
        self._has_some.set()

    def keep(self) -> None:
        """Keeps now what waits: before somebody reads what has been kept, and when nothing more comes."""
        waiting, self._waiting = self._waiting, []
        self._has_some.clear()
        if waiting:
            self._keep(waiting)

    async def keep_always(self) -> None:
        """Ends only with an error of the keeping."""
        while True:
            await self._has_some.wait()
            self.keep()
