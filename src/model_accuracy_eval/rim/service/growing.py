"""One choice of an answer while its events come in: its text, and the times of its chunks."""

from collections.abc import Sequence

import msgspec

from model_accuracy_eval.records import Choice, Timings
from model_accuracy_eval.rim.service import calls, stops, wire


class Growing:
    """One choice while its events come in."""

    __slots__ = ("begun", "called", "chunks", "end", "first", "gap_max", "last", "reason", "text", "thought")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thought: list[str] = []
        self.called: list[msgspec.Raw] = []
        self.reason: str | None = None
        self.first: float | None = None
        self.last = self.end = self.gap_max = 0.0
        self.chunks = 0
        self.begun = False

    def take(self, part: wire.Part, now: float) -> None:
        delta = part.delta
        if delta is None and not (self.text or self.thought):  # some servers repeat the whole message after its deltas
            delta = part.message
        if delta is None and part.text:
            self.text.append(part.text)
        if delta is not None:
            text = delta.content
            thought = delta.reasoning or delta.reasoning_content
            if text:
                self.text.append(text if isinstance(text, str) else wire.text_of(text))
            if thought:
                self.thought.append(thought)
            if delta.tool_calls and wire.is_something(delta.tool_calls):
                self.called.append(delta.tool_calls)
                self.text.append("")  # so that a call has its times, as a text has
            elif not (text or thought) and wire.is_something(delta.function_call):
                self.begun = True
        reason = part.finish_reason
        # Some servers say it twice; that the server gave up outweighs what it said before.
        if reason and (self.reason is None or reason in wire.UNFIT):
            self.reason, self.end, self.begun = reason, now, True

    def note(self, now: float) -> None:
        """After every read: what it brought, came now."""
        chunks = len(self.text) + len(self.thought)
        if chunks == self.chunks:
            return
        self.chunks = chunks
        if self.first is None:
            self.first, self.begun = now, True
        elif now - self.last > self.gap_max:
            self.gap_max = now - self.last
        self.last = now

    def stop_at(self, strings: Sequence[str]) -> None:
        """What stands behind a stop was never meant to be said; that it was cut by length then says nothing."""
        kept = stops.cut("".join(self.text), strings)
        if kept is not None:
            self.text, self.called, self.reason = [kept], [], "stop"

    def choice(self, sent: float, *, mend: bool, streamed: bool) -> Choice:
        text, thought = "".join(self.text), "".join(self.thought)
        gaps = self.chunks - 1 if streamed and self.first is not None else 0
        timings = Timings(
            # An answer that came in one piece does not tell when its first token was there.
            ttft=self.first - sent if streamed and self.first is not None else None,
            e2e=max(self.end, self.last) - sent,
            gap_mean=(self.last - self.first) / gaps if gaps > 0 and self.first is not None else None,
            gap_max=self.gap_max if gaps > 0 else None,
            chunks=self.chunks,
        )
        if mend:
            text, thought = wire.mend(text), wire.mend(thought)
        called = calls.gathered(self.called) if self.called else ()
        return Choice(text=text, reasoning=thought, finish_reason=self.reason, calls=called, timings=timings)
