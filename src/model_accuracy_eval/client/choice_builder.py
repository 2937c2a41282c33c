"""One choice of an answer while its events arrive: its text, where it stops, and the times of its chunks."""

from collections.abc import Sequence

import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.dialects import FAILED_FINISH_REASONS, ChunkChoice, reasoning_texts
from model_accuracy_eval.records import Choice, Timings


class ChoiceBuilder:
    """One choice of an answer while its events arrive: its text, where it stops, and the times of its chunks."""

    __slots__ = (
        "begun",
        "calls",
        "chunks",
        "end",
        "first",
        "gap_max",
        "last",
        "reason",
        "reasoning",
        "stopped",
        "texts",
    )

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[msgspec.Raw] = []
        """Fragments of tool calls, not yet decoded."""
        self.reason: str | None = None
        """The finish_reason that the service sent."""
        self.stopped = False
        """Whether the text was cut here, at a stop string."""
        self.first: float | None = None
        self.last = self.end = self.gap_max = 0.0
        self.chunks = 0
        self.begun = False

    def add(self, part: ChunkChoice, now: float) -> None:
        """Adds the choice's part of one decoded event."""
        delta = part.delta
        if delta is None and not (self.texts or self.reasoning):  # some servers repeat the message after its deltas
            delta = part.message
        if delta is None:
            if part.text:
                self.texts.append(part.text)
        else:
            text, reasoning = delta.content, next(filter(None, reasoning_texts(delta)), None)
            if text:
                self.texts.append(text if isinstance(text, str) else wire_format.join_parts(text))
            if reasoning:
                self.reasoning.append(reasoning)
            if delta.tool_calls and wire_format.has_content(delta.tool_calls):
                self.calls.append(delta.tool_calls)
                self.texts.append("")  # counts as a chunk, so that a call is timed as a text is
            elif not (text or reasoning) and wire_format.has_content(delta.function_call):
                self.begun = True
        reason = part.finish_reason
        # Some servers send two reasons. One that means failure replaces any earlier one.
        if reason and (self.reason is None or reason in FAILED_FINISH_REASONS):
            self.reason, self.end, self.begun = reason, now, True

    def end_read(self, now: float) -> None:
        """Called after each read from the socket: all its chunks arrived at this time."""
        chunks = len(self.texts) + len(self.reasoning)
        if chunks == self.chunks:
            return
        self.chunks = chunks
        if self.first is None:
            self.first, self.begun = now, True
        elif now - self.last > self.gap_max:
            self.gap_max = now - self.last
        self.last = now

    def cut_at(self, stops: Sequence[str]) -> None:
        """Ends the choice before the first stop string; calls and a finish reason from behind it do not count."""
        text = cut("".join(self.texts), stops)
        if text is not None:
            self.texts, self.calls, self.stopped = [text], [], True

    @property
    def finish_reason(self) -> str | None:
        return "stop" if self.stopped else self.reason

    def build(self, index: int, sent: float, *, split_characters: bool, streamed: bool) -> Choice:
        """The finished choice. `split_characters`: half characters may have come in separate events."""
        text, reasoning = "".join(self.texts), "".join(self.reasoning)
        gaps = self.chunks - 1 if streamed and self.first is not None else 0
        timings = Timings(
            # An answer in one piece does not show when its first token was ready.
            ttft=self.first - sent if streamed and self.first is not None else None,
            e2e=max(self.end, self.last) - sent,
            gap_mean=(self.last - self.first) / gaps if gaps > 0 and self.first is not None else None,
            gap_max=self.gap_max if gaps > 0 else None,
            chunks=self.chunks,
        )
        if split_characters:
            text, reasoning = wire_format.join_surrogates(text), wire_format.join_surrogates(reasoning)
        calls = wire_format.assemble_calls(self.calls) if self.calls else ()
        return Choice(
            index=index,
            text=text,
            reasoning=reasoning,
            finish_reason=self.finish_reason,
            calls=calls,
            timings=timings,
        )


def cut(text: str, stops: Sequence[str]) -> str | None:
    """The text before the first stop string; None if it has none."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else None
