"""The events of one try → complete choices, or the reason why there are none."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import httpx
import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.choice_builder import ChoiceBuilder
from model_accuracy_eval.client.connection import ENOUGH, FLOWING, WAITING
from model_accuracy_eval.client.dialects import FAILED_FINISH_REASONS, Chunk
from model_accuracy_eval.client.wire_format import decode_chunk
from model_accuracy_eval.records import Choice, Usage
from model_accuracy_eval.system.retry import Failure

# Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
#
# Only data matters in a chat stream, so `event:`, `id:`, `retry:` and comments are ignored.


BOM = b"\xef\xbb\xbf"
LIMIT = 64 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLongError(ValueError):
    """A line without an end, which would fill the memory."""


class EventStream:
    """Splits a body into the data of its events, wherever the reads cut it."""

    __slots__ = ("_data", "_line", "_skip_lf", "_start", "remainder")

    def __init__(self) -> None:
        self._line = b""
        """Bytes after the last complete line; on the fast path, after the last complete event."""
        self._data: list[bytes] = []
        """`data:` lines of the event that is not complete yet."""
        self._start = True
        self._skip_lf = False
        self.remainder = b""
        """What the body held after its last blank line, without comments; known once it is closed."""

    def feed(self, data: bytes) -> list[bytes]:
        """The data of every event that these bytes complete."""
        if self._line:
            data = self._line + data
        # Nearly all bodies are `data: <one line>\n\n` repeated. No line end inside of an event proves that these bytes
        # have no other form; otherwise the slow path reads them, with the same result. (To look for a byte takes a
        # sixth of the time that it takes to count them.)
        if data.startswith(b"data: ") and not (self._data or self._skip_lf) and b"\r" not in data:
            cut = data.rfind(b"\n\n")
            if cut >= 0:
                events = data[6:cut].split(b"\n\ndata: ")
                if b"\n" not in b"".join(events):
                    self._line = data[cut + 2 :]
                    self._start = False
                    return events
        return self._read_lines(data)

    def close(self) -> list[bytes]:
        """The last event, if the end of the body completes it: some servers leave out the last blank line."""
        lines, self._line = _LINE_END.split(self._without_bom(self._line, final=True)), b""
        self.remainder = b"\n".join((*self._data, *(line for line in lines if not line.startswith(b":")))).strip()
        events = self._take_lines(lines)
        if self._data:
            events.append(b"\n".join(self._data))
            self._data = []
        return events

    def _read_lines(self, data: bytes) -> list[bytes]:
        data = self._without_bom(data, final=False)
        if self._skip_lf and data:
            data = data[1:] if data.startswith(b"\n") else data
            self._skip_lf = False
        # A CR ends the line at once; an LF at the start of the next read belongs to the same line end.
        if data.endswith(b"\r"):
            self._skip_lf = True
        lines = _LINE_END.split(data)
        self._line = lines.pop()
        if len(self._line) > LIMIT:
            raise EventTooLongError(f"an event of more than {LIMIT // 1024 // 1024} MiB")
        return self._take_lines(lines)

    def _without_bom(self, data: bytes, *, final: bool) -> bytes:
        """Drops a byte order mark at the start of the body; an incomplete one waits for the next read."""
        if not self._start or (not final and BOM.startswith(data) and data != BOM):
            return data
        self._start = False
        return data.removeprefix(BOM)

    def _take_lines(self, lines: list[bytes]) -> list[bytes]:
        events = []
        for line in lines:
            if not line:
                if self._data:
                    events.append(b"\n".join(self._data))
                    self._data = []
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value[1:] if value.startswith(b" ") else value)
        return events


# Why a stream is no answer, as the exceptions that end its reading.


class StreamBroken(Exception):
    """The stream itself shows that there will be no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


class EventUnreadable(StreamBroken):
    """An event is no JSON object."""

    def __init__(self, excerpt: str) -> None:
        super().__init__(stream_failure(f"The stream holds an event that is no JSON object: {excerpt}"))
        self.excerpt = excerpt


def stream_failure(sentence: str) -> Failure:
    """A failure after which another try may succeed."""
    return Failure(kind="failed", sentence=sentence)


_HEAD = 300
"""Bytes of a body that are shown when it is no answer at all."""
_LONGEST_BODY = 64 * 1024 * 1024
"""The longest answer that is accepted in one piece, from a server that does not stream."""


class ParsedStream(NamedTuple):
    """An answer."""

    choices: tuple[Choice, ...]
    usage: Usage | None
    model: str
    """As the service calls it."""


class StreamParser:
    """The sink of one try: reads events as they arrive, and decides at the end whether they were an answer.

    A choice is complete when it has a finish_reason. One without is left out if any choice of the service ever had
    one: asking for it again costs one request, but a half answer would cost a wrong score. Of a service that has never
    sent one, a choice with text counts as complete if the body shows where it ends: by [DONE], a length or chunks.
    """

    def __init__(self, stops: Sequence[str] = (), n: int = 1, *, told: bool = False) -> None:
        """`told`: whether the tokens of the text are asked for, too."""
        self._told = told
        self._stops = [stop for stop in stops if stop]
        self._n = n
        self._events = EventStream()
        self._builders: dict[int, ChoiceBuilder] = {}
        self._usage = msgspec.Raw()
        self._model = ""
        self._head = b""
        self._body: bytearray | None = None
        """The answer of a server that does not stream; None while events are read."""
        self._format_known = self._started = self._done = self._split_characters = False
        self._now = 0.0

    def feed(self, data: bytes, now: float) -> int:
        """Reads some bytes of the body. Implements `connection.BodySink`."""
        if not self._format_known:
            self._detect_format(data)
        if self._body is not None:
            self._body += data
            if len(self._body) > _LONGEST_BODY:
                raise StreamBroken(stream_failure(f"The answer is longer than {_LONGEST_BODY // 1024 // 1024} MiB"))
            return FLOWING
        try:
            events = self._events.feed(data)
        except EventTooLongError as error:
            raise StreamBroken(stream_failure(f"The stream holds {error}")) from error
        self._read(events, now)
        if self._done:
            return ENOUGH
        if not self._started:
            self._started = any(builder.begun for builder in self._builders.values())
        return FLOWING if events and self._started else WAITING

    def _detect_format(self, data: bytes) -> None:
        """Whether the body is events or one JSON text. Its first character shows it; content types are often wrong."""
        self._head = (self._head + data)[:_HEAD]
        first = self._head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if first:
            self._format_known = True
            self._body = bytearray() if first in b"{[<" else None

    def _read(self, events: list[bytes], now: float) -> None:
        """The hot loop, entered for every token of every answer."""
        self._now = now
        for event in events:
            self._decode(event, now)
            if self._told:
                self._add_tokens(event)
            if self._done:
                break
        for builder in self._builders.values():
            builder.end_read(now)

    def _decode(self, event: bytes, now: float) -> None:
        if event.strip() == b"[DONE]":
            self._done = True
            return
        try:
            chunk = decode_chunk(event)
        except ValueError:
            chunk = self._decode_odd(event)
        if chunk.usage and wire_format.has_content(chunk.usage):
            self._usage = chunk.usage
        if chunk.model and not self._model:
            name = msgspec.json.decode(chunk.model)
            self._model = name if isinstance(name, str) else ""
        if chunk.error or chunk.choices is None:
            self._raise_error(chunk, event)
        for part in chunk.choices or ():
            builder = self._builders.get(part.index)
            if builder is None:
                builder = self._builders[part.index] = ChoiceBuilder()
            if chunk.modality == "audio":
                builder.add_sound(part)
            builder.add(part, now)
            if part.usage and wire_format.has_content(part.usage):
                self._usage = part.usage

    def _add_tokens(self, event: bytes) -> None:
        for index, tokens in wire_format.told_tokens(event):
            if index in self._builders:
                self._builders[index].tokens += tokens

    def _decode_odd(self, event: bytes) -> Chunk:
        if not event.strip():
            return Chunk(choices=[])
        self._split_characters = True
        try:
            return wire_format.decode_odd(event)
        except (ValueError, RecursionError) as error:
            shown = wire_format.excerpt(event.decode("utf-8", "replace"))
            raise EventUnreadable(shown) from error

    def _raise_error(self, chunk: Chunk, event: bytes) -> None:
        if not wire_format.is_error(chunk, event):
            return
        message, code = wire_format.read_error(event)
        sentence = f"The service broke the stream off with an error: {message}"
        if code is None:
            raise StreamBroken(stream_failure(sentence))
        # The server had accepted the request, so an error 500 does not speak against the request itself.
        raise StreamBroken(msgspec.structs.replace(wire_format.error_failure(code, sentence), doubtful=False))

    def progress(self) -> str:
        """How far a broken stream had come, for the end of a sentence."""
        chunks = sum(builder.chunks for builder in self._builders.values())
        return f" (after {chunks} chunks of text)" if chunks else ""

    @property
    def has_finish_reason(self) -> bool:
        """Whether the service has sent one in this reply."""
        return any(builder.reason is not None for builder in self._builders.values())

    def result(self, response: httpx.Response, *, needs_finish_reason: bool = False) -> ParsedStream | Failure:
        """After a clean end of the body: the complete choices, or why there are none.

        `needs_finish_reason`: the service has sent one in another reply.
        """
        try:
            self._read_remainder()
        except StreamBroken as broken:
            return broken.failure
        if self._stops:
            for builder in self._builders.values():
                builder.cut_at(self._stops)
        reasons = [builder.finish_reason for builder in self._builders.values()]
        if failed := next((reason for reason in reasons if reason in FAILED_FINISH_REASONS), None):
            return stream_failure(f"The service gave up: finish_reason '{failed}'")
        complete = {index: builder for index, builder in self._builders.items() if builder.finish_reason is not None}
        if not (needs_finish_reason or self.has_finish_reason) and self._shows_its_end(response):
            complete |= {index: builder for index, builder in self._builders.items() if builder.chunks}
        if not complete:
            return stream_failure(self._no_answer(response, needs_finish_reason=needs_finish_reason))
        choices = self._build(complete, response.extensions["sent"])
        return ParsedStream(choices, wire_format.read_usage(self._usage), self._model)

    def _build(self, complete: Mapping[int, ChoiceBuilder], sent: float) -> tuple[Choice, ...]:
        """The choices that were asked for. Where their numbers do not fit, the service counts from another one."""
        first = min(self._builders) if max(self._builders) >= self._n else 0
        split, streamed = self._split_characters, self._body is None
        return tuple(
            builder.build(index - first, sent, split_characters=split, streamed=streamed)
            for index, builder in sorted(complete.items())
            if index - first < self._n
        )

    def _read_remainder(self) -> None:
        """Reads a last event without its blank line, or the answer that came in one piece."""
        now = self._now or time.perf_counter()
        if self._body is not None:
            whole = bytes(self._body)
            self._read([whole] if wire_format.is_object(whole.decode("utf-8", "replace")) else [], now)
            return
        events = self._events.close()
        try:
            self._read(events, now)
        except EventUnreadable as error:
            raise StreamBroken(
                stream_failure(f"The stream ended inside an event{self.progress()}: {error.excerpt}")
            ) from error
        if self._events.remainder and not any(map(bytes.strip, events)) and self._builders:
            shown = wire_format.excerpt(self._events.remainder.decode("utf-8", "replace"))
            raise StreamBroken(stream_failure(f"The stream ended inside an event{self.progress()}: {shown}"))

    def _shows_its_end(self, response: httpx.Response) -> bool:
        """Whether a body that broke off would look different."""
        if self._body is not None or self._done:
            return True
        framed = "content-length" in response.headers or "transfer-encoding" in response.headers
        return framed and not self._events.remainder

    def _no_answer(self, response: httpx.Response, *, needs_finish_reason: bool) -> str:
        """Why a body that ended cleanly is not an answer."""
        if not self._head.strip():
            return f"HTTP {response.status_code} with an empty body"
        if not self._builders:
            shown = wire_format.excerpt(self._head.decode("utf-8", "replace"), 120)
            kind = response.headers.get("content-type", "no content type")
            return f"HTTP {response.status_code}, but the body ({kind}) is no chat answer: {shown}"
        if not self.progress():
            return "The stream ended without any text and without a finish_reason"
        if needs_finish_reason:
            why = (
                "the service has sent one before, so this answer is cut: look at its log, and at the time limits of "
                "proxies in front of it"
            )
        else:
            why = "it ended with the connection and not with a length of its own, so this answer may be cut"
        return f"The answer ended without a finish_reason{self.progress()}; {why}"
