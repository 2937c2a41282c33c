"""The events of one try → complete choices, or the reason why there are none."""

import dataclasses
import time
from collections.abc import Sequence

import httpx
import msgspec

from model_accuracy_eval.client import error_bodies, wire_format
from model_accuracy_eval.client.choice_builder import ChoiceBuilder, StopScanner
from model_accuracy_eval.client.dialects import FAILED_FINISH_REASONS, STOPS_SENT, Chunk
from model_accuracy_eval.client.fast_decoding import decode_text, fast_decoder
from model_accuracy_eval.client.response_body import ENOUGH, FLOWING, WAITING
from model_accuracy_eval.client.sse import EventStream, EventTooLongError
from model_accuracy_eval.client.wire_format import decode_chunk
from model_accuracy_eval.records import Choice, Usage
from model_accuracy_eval.system.retry import Failure, http_failure

_HEAD = 300
"""Bytes of a body that are shown when it is no answer at all."""
_LONGEST_BODY = 64 * 1024 * 1024
"""The longest answer that is accepted in one piece, from a server that does not stream."""
_FAST_DECODER_TRIALS = 24
"""Events of which a fast decoder is tried. Where more than the texts changes, trying further would be in vain."""

ParsedStream = tuple[tuple[Choice, ...], Usage | None]


class StreamBroken(Exception):
    """The stream itself shows that there will be no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


class StreamParser:
    """The sink of one try: reads events as they arrive, and decides at the end whether they were an answer.

    A choice is complete when it has a finish_reason. If the server sent none at all in this reply, a choice with
    text counts as complete when the body ended cleanly: without [DONE], before which the reason would have come, and
    with a length or chunks that show the end. If one choice has a finish_reason and another has none, the other is
    left out: asking for it again costs one request, but a half answer would cost a wrong score.
    """

    __slots__ = (
        "_body",
        "_builders",
        "_done",
        "_events",
        "_fast_decoders",
        "_fast_trials",
        "_format_known",
        "_head",
        "_local_stops",
        "_n",
        "_now",
        "_scanners",
        "_split_characters",
        "_started",
        "_stopped",
        "_stops",
        "_usage",
    )

    def __init__(self, stops: Sequence[str] = (), n: int = 1) -> None:
        self._stops = [stop for stop in stops if stop]
        self._local_stops = [stop for stop in stops[STOPS_SENT:] if stop]
        """Stop strings that the server does not get. After one of them nothing more is needed of its choice."""
        self._scanners: dict[int, StopScanner] = {}
        self._n = n
        self._events = EventStream()
        self._builders: dict[int, ChoiceBuilder] = {}
        self._usage = msgspec.Raw()
        self._fast_decoders: list[tuple[bytes, bytes, int, int, list[str]]] = []
        """The bytes before and after a text, its place in the event, and the list it is appended to."""
        self._fast_trials = _FAST_DECODER_TRIALS
        self._head = b""
        self._body: bytearray | None = None
        """The answer of a server that does not stream; None while events are read."""
        self._format_known = self._started = self._done = self._stopped = self._split_characters = False
        self._now = 0.0

    def feed(self, data: bytes, now: float) -> int:
        """Reads some bytes of the body. Implements `response_body.BodySink`."""
        if not self._format_known:
            self._detect_format(data)
        if self._body is not None:
            self._body += data
            if len(self._body) > _LONGEST_BODY:
                raise _broken(f"The answer is longer than {_LONGEST_BODY // 1024 // 1024} MiB")
            return FLOWING
        try:
            events = self._events.feed(data)
        except EventTooLongError as error:
            raise _broken(f"The stream holds {error}") from error
        self._read(events, now)
        if self._local_stops and not self._done:
            self._stopped = self._all_stopped()
        if self._done or self._stopped:
            return ENOUGH
        if not self._started:
            self._started = any(builder.begun for builder in self._builders.values())
        return FLOWING if events and self._started else WAITING

    def _all_stopped(self) -> bool:
        """Whether every choice has a finish_reason or one of the stop strings that the server does not get."""
        stopped = [
            self._scanners.setdefault(index, StopScanner(self._local_stops)).scan(builder.texts)
            or builder.reason is not None
            for index, builder in self._builders.items()
        ]
        return len(stopped) >= self._n and all(stopped)

    def _detect_format(self, data: bytes) -> None:
        """Whether the body is events or one JSON text. Its first character shows it; content types are often wrong."""
        self._head = (self._head + data)[:_HEAD]
        first = self._head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if first:
            self._format_known = True
            self._body = bytearray() if first in b"{[<" else None

    def _read(self, events: list[bytes], now: float) -> None:
        """The hot loop, entered for every token of every answer."""
        self._now, fast_decoders = now, self._fast_decoders
        for event in events:
            for before, after, start, end, texts in fast_decoders:
                if event.startswith(before) and event.endswith(after):
                    try:
                        text = decode_text(event[start:end])
                    except ValueError:
                        continue
                    if text:
                        texts.append(text)
                    break
            else:
                self._decode(event, now)
                if self._done:
                    break
        for builder in self._builders.values():
            builder.end_read(now)

    def _decode(self, event: bytes, now: float) -> None:
        """Decodes an event in full."""
        try:
            chunk = decode_chunk(event)
        except ValueError:
            if event.strip() == b"[DONE]":
                self._done = True
                return
            chunk = self._decode_odd(event)
        if chunk.usage and wire_format.has_content(chunk.usage):
            self._usage = chunk.usage
        if chunk.error or chunk.choices is None:
            self._raise_error(chunk, event)
        for part in chunk.choices or ():
            builder = self._builders.get(part.index)
            if builder is None:
                builder = self._builders[part.index] = ChoiceBuilder()
            builder.add(part, now)
            if part.usage and wire_format.has_content(part.usage):
                self._usage = part.usage
        if self._fast_trials:
            self._add_fast_decoder(event, chunk)

    def _add_fast_decoder(self, event: bytes, chunk: Chunk) -> None:
        self._fast_trials -= 1
        fast = fast_decoder(event, chunk)
        if fast is not None:
            builder = self._builders[fast.choice]
            texts = builder.reasoning if fast.is_reasoning else builder.texts
            self._fast_decoders.append((fast.before, fast.after, len(fast.before), -len(fast.after), texts))

    def _decode_odd(self, event: bytes) -> Chunk:
        if not event.strip():
            return Chunk(choices=[])
        self._split_characters = True
        try:
            return wire_format.decode_odd(event)
        except (ValueError, RecursionError) as error:
            shown = error_bodies.excerpt(event.decode("utf-8", "replace"))
            raise _broken(f"The stream holds an event that is no JSON object: {shown}") from error

    def _raise_error(self, chunk: Chunk, event: bytes) -> None:
        if not wire_format.is_error(chunk, event):
            return
        message, code = error_bodies.read_error(event)
        sentence = f"The service broke the stream off with an error: {message}"
        if code is None:
            raise _broken(sentence)
        # The server had accepted the request, so an error 500 does not speak against the request itself.
        raise StreamBroken(dataclasses.replace(http_failure(code, sentence), doubtful=False))

    def progress(self) -> str:
        """How far a broken stream had come, for the end of a sentence."""
        chunks = sum(builder.chunks for builder in self._builders.values())
        return f" (after {chunks} chunks of text)" if chunks else ""

    def result(self, response: httpx.Response) -> ParsedStream | Failure:
        """After a clean end of the body: the complete choices, or why there are none."""
        streamed = self._body is None
        try:
            if not self._stopped:  # else we cut the stream off, maybe inside an event
                self._read(self._remaining_events(), self._now or time.perf_counter())
        except StreamBroken as broken:
            return broken.failure
        if self._stops:
            for builder in self._builders.values():
                builder.cut_at(self._stops)
        complete = {index: builder for index, builder in self._builders.items() if builder.reason is not None}
        for builder in complete.values():
            if builder.reason in FAILED_FINISH_REASONS:
                return Failure(kind="failed", sentence=f"The service gave up: finish_reason '{builder.reason}'")
        if not complete and not self._done and (not streamed or _shows_its_end(response)):
            complete = {index: builder for index, builder in self._builders.items() if builder.chunks}
        if not complete:
            return Failure(kind="failed", sentence=self._no_answer(response))
        sent, split = response.extensions["sent"], self._split_characters
        chosen = (complete[index] for index in sorted(complete)[: self._n])
        choices = tuple(builder.build(sent, split_characters=split, streamed=streamed) for builder in chosen)
        return choices, wire_format.read_usage(self._usage)

    def _remaining_events(self) -> list[bytes]:
        """A last event without its blank line, or the answer that came in one piece."""
        if self._body is None:
            return self._events.close()
        return [bytes(self._body)] if wire_format.is_object(bytes(self._body)) else []

    def _no_answer(self, response: httpx.Response) -> str:
        """Why a body that ended cleanly is not an answer."""
        if not self._head.strip():
            return f"HTTP {response.status_code} with an empty body"
        if not self._builders:
            shown = error_bodies.excerpt(self._head.decode("utf-8", "replace"), 120)
            kind = response.headers.get("content-type", "no content type")
            return f"HTTP {response.status_code}, but the body ({kind}) is no chat answer: {shown}"
        if not self.progress():
            return "The stream ended without any text and without a finish_reason"
        end = "[DONE]" if self._done else "the connection, not with a length of its own,"
        return f"The stream ended with {end} but without a finish_reason{self.progress()}: the answer may be cut"


def _broken(sentence: str) -> StreamBroken:
    return StreamBroken(Failure(kind="failed", sentence=sentence))


def _shows_its_end(response: httpx.Response) -> bool:
    """Whether the body has a length or chunks. Without them, a complete and a broken body look the same."""
    return "content-length" in response.headers or "transfer-encoding" in response.headers
