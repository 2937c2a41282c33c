"""Replies that have come and are not in the journal yet: whoever waits for the service goes first.

Streams of one batch end at the same time. If every reply were kept before its worker asks again, the last of them would
leave its place at the service empty while all others are kept. So the workers ask first; all replies that came in one
turn of the event loop are kept in the next one, together. A kill loses what it would have lost anyway, unread: the
answers of that moment.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.records import Fault, Reply, RequestMethod
from model_accuracy_eval.run.sample_collector import SampleRequest


class Answered(NamedTuple):
    """A request, its reply, and how that was asked for."""

    request: SampleRequest
    reply: Reply
    method: RequestMethod

    @property
    def is_complete(self) -> bool:
        """Whether the reply has every sample that was asked for."""
        if self.reply.loglikelihoods:
            return len(self.request.indexes) == 1
        there = {choice.index for choice in self.reply.choices}
        return self.reply.fault is None and there.issuperset(range(len(self.request.indexes)))


class Arrivals:
    """Takes what has come, and hands all of it on in the next turn of the event loop."""

    def __init__(self, keep: Callable[[Sequence[Answered]], object]) -> None:
        self._keep = keep
        self._waiting: list[Answered] = []
        self._has_some = asyncio.Event()

    def add(self, arrival: Answered) -> None:
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


# When a service that takes requests and says nothing ends the run.


_LEAST = 16
"""Requests: few that are sent one by one may be long by chance."""


class Silences:
    """Counts requests in a row that were lost because all their tries got no answer in time.

    A server that hangs still accepts connections, so it is not gone. Each of its requests takes all its tries, and with
    the default limits one that hangs at the beginning of a night would keep a run waiting for weeks.
    """

    def __init__(self, concurrency: int) -> None:
        self._bound = max(_LEAST, 2 * concurrency)
        self._in_a_row = 0

    def end(self) -> None:
        """An answer has come."""
        self._in_a_row = 0

    def count(self, fault: Fault) -> None:
        """Any other fault shows that there is somebody, too."""
        self._in_a_row = self._in_a_row + 1 if fault.silent else 0
        if self._in_a_row >= self._bound:
            raise AdapterFailed(
                f"The service takes requests, but the last {self._in_a_row} in a row got no answer in time: "
                f"{fault.sentence} Start it again, and go on with --reuse.",
                stage="infer",
            )
