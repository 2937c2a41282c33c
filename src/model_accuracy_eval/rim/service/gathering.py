"""The events of one try → complete choices, or why there are none."""

import dataclasses
import time
from collections.abc import Sequence

import httpx
import msgspec

from model_accuracy_eval.records import Choice, Usage
from model_accuracy_eval.rim.service import wire
from model_accuracy_eval.rim.service.growing import Growing
from model_accuracy_eval.rim.service.retry import Trouble, http_trouble
from model_accuracy_eval.rim.service.sink import ENOUGH, FLOWING, WAITING
from model_accuracy_eval.rim.service.sse import EventStream, EventTooLongError
from model_accuracy_eval.rim.service.stencil import cut, decode_text
from model_accuracy_eval.rim.service.stops import SENT, Lookout

_HEAD = 300
"""Bytes of a body that are shown when it is no answer at all."""
_WHOLE = 64 * 1024 * 1024
"""The longest answer that is taken in one piece, from a server that does not stream."""
_LESSONS = 24
"""Events that are looked at for their stencil; where texts are not all that changes, looking on would be in vain."""

Answer = tuple[tuple[Choice, ...], Usage | None]


class StreamBroken(Exception):
    """The stream itself says that there will be no answer."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.sentence)
        self.trouble = trouble


class Gathering:
    """The sink of one try: reads events as they come, and says at the end whether they were an answer.

    When is a choice complete? With a finish_reason. A server that never sent one in this reply is believed
    when its body ended cleanly (without [DONE], before which the reason would have come, and with a length of
    its own) and there is text. Where one choice has a finish_reason and another has none, the other is left
    out: to ask for it again costs one request, while a half answer would cost a wrong score.
    """

    __slots__ = (
        "_answers",
        "_done",
        "_events",
        "_head",
        "_late",
        "_lessons",
        "_lookouts",
        "_mend",
        "_n",
        "_now",
        "_over",
        "_shapes",
        "_sort",
        "_started",
        "_stops",
        "_usage",
        "_whole",
    )

    def __init__(self, stops: Sequence[str] = (), n: int = 1) -> None:
        self._stops = [stop for stop in stops if stop]
        self._late = [stop for stop in stops[SENT:] if stop]
        """Those that the server is not told of: when they have come, nothing of worth follows."""
        self._lookouts: dict[int, Lookout] = {}
        self._n = n
        self._events = EventStream()
        self._answers: dict[int, Growing] = {}
        self._usage = msgspec.Raw()
        self._shapes: list[tuple[bytes, bytes, int, int, list[str]]] = []
        """What stands before and behind a text, the place of the text, and the list that it belongs to."""
        self._lessons = _LESSONS
        self._head = b""
        self._whole: bytearray | None = None
        self._sort = self._started = self._done = self._over = self._mend = False
        self._now = 0.0

    def take(self, data: bytes, now: float) -> int:
        """Implements `transport.Sink`."""
        if not self._sort:
            data = self._sniff(data)
        if self._whole is not None:
            self._whole += data
            if len(self._whole) > _WHOLE:
                raise _broken(f"The answer is longer than {_WHOLE // 1024 // 1024} MiB")
            return FLOWING
        try:
            events = self._events.feed(data)
        except EventTooLongError as error:
            raise _broken(f"The stream holds {error}") from error
        self._read(events, now)
        if self._late and not self._done:
            self._over = self._all_stopped()
        if self._done or self._over:
            return ENOUGH
        if not self._started:
            self._started = any(growing.begun for growing in self._answers.values())
        return FLOWING if events and self._started else WAITING

    def _all_stopped(self) -> bool:
        """Whether every choice has ended, by its own word or by a stop that only we know."""
        ended = [
            self._lookouts.setdefault(index, Lookout(self._late)).look(growing.text) or growing.reason is not None
            for index, growing in self._answers.items()
        ]
        return len(ended) >= self._n and all(ended)

    def _sniff(self, data: bytes) -> bytes:
        """Events, or a body in one piece? Its first characters tell, content types do not always."""
        self._head = (self._head + data)[:_HEAD]
        begin = self._head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if begin:
            self._sort = True
            self._whole = bytearray() if begin in b"{[<" else None
        return data

    def _read(self, events: list[bytes], now: float) -> None:
        """The hot loop: once for every token of every answer."""
        self._now, shapes = now, self._shapes
        for event in events:
            for before, behind, first, last, texts in shapes:
                if event.startswith(before) and event.endswith(behind):
                    try:
                        text = decode_text(event[first:last])
                    except ValueError:
                        continue
                    if text:
                        texts.append(text)
                    break
            else:
                self._read_whole(event, now)
                if self._done:
                    break
        for growing in self._answers.values():
            growing.note(now)

    def _read_whole(self, event: bytes, now: float) -> None:
        try:
            chunk = wire.decode_chunk(event)
        except ValueError:
            if event.strip() == b"[DONE]":
                self._done = True
                return
            chunk = self._decode_odd(event)
        if chunk.usage and wire.is_something(chunk.usage):
            self._usage = chunk.usage
        if chunk.error or chunk.choices is None:
            self._look_for_error(chunk, event)
        for part in chunk.choices or ():
            growing = self._answers.get(part.index)
            if growing is None:
                growing = self._answers[part.index] = Growing()
            growing.take(part, now)
            if part.usage and wire.is_something(part.usage):
                self._usage = part.usage
        if self._lessons:
            self._learn(event, chunk)

    def _learn(self, event: bytes, chunk: wire.Chunk) -> None:
        """From an event with nothing but text to all of its like."""
        self._lessons -= 1
        stencil = cut(event, chunk)
        if stencil is not None:
            growing = self._answers[stencil.choice]
            texts = growing.thought if stencil.thought else growing.text
            before, behind = stencil.before, stencil.behind
            self._shapes.append((before, behind, len(before), -len(behind), texts))

    def _decode_odd(self, event: bytes) -> wire.Chunk:
        if not event.strip():
            return wire.Chunk(choices=[])
        self._mend = True
        try:
            return wire.decode_odd(event)
        except (ValueError, RecursionError) as error:
            shown = wire.excerpt(event.decode("utf-8", "replace"))
            raise _broken(f"The stream holds an event that is no JSON object: {shown}") from error

    def _look_for_error(self, chunk: wire.Chunk, event: bytes) -> None:
        if not wire.is_error(chunk, event):
            return
        message, code = wire.read_error(event)
        sentence = f"The service broke the stream off with an error: {message}"
        if code is None:
            raise _broken(sentence)
        # That a request was accepted and then failed with 500 is the server's trouble, not the request's.
        raise StreamBroken(dataclasses.replace(http_trouble(code, sentence), scarce=False))

    def extent(self) -> str:
        """How far a broken stream had come."""
        chunks = sum(growing.chunks for growing in self._answers.values())
        return f" (after {chunks} chunks of text)" if chunks else ""

    def answer(self, response: httpx.Response) -> Answer | Trouble:
        """After a clean end: the complete choices, or why there are none."""
        streamed = self._whole is None
        try:
            if not self._over:  # else the stream was cut off by us, wherever it was
                self._read(self._rest(), self._now or time.perf_counter())
        except StreamBroken as broken:
            return broken.trouble
        if self._stops:
            for growing in self._answers.values():
                growing.stop_at(self._stops)
        whole = {index: growing for index, growing in self._answers.items() if growing.reason is not None}
        for growing in whole.values():
            if growing.reason in wire.UNFIT:
                return Trouble(kind="failed", sentence=f"The service gave up: finish_reason '{growing.reason}'")
        if not whole and not self._done and (not streamed or _framed(response)):
            whole = {index: growing for index, growing in self._answers.items() if growing.chunks}
        if not whole:
            return Trouble(kind="failed", sentence=self._nothing(response))
        sent = response.extensions["sent"]
        choices = (whole[index].choice(sent, mend=self._mend, streamed=streamed) for index in sorted(whole)[: self._n])
        return tuple(choices), wire.read_usage(self._usage)

    def _rest(self) -> list[bytes]:
        """What the end of the body completes: a last event, or the answer that came in one piece."""
        if self._whole is None:
            return self._events.close()
        return [bytes(self._whole)] if wire.is_object(bytes(self._whole)) else []

    def _nothing(self, response: httpx.Response) -> str:
        """Why a body that ended cleanly was no answer."""
        if not self._head.strip():
            return f"HTTP {response.status_code} with an empty body"
        if not self._answers:
            shown = wire.excerpt(self._head.decode("utf-8", "replace"), 120)
            kind = response.headers.get("content-type", "no content type")
            return f"HTTP {response.status_code}, but the body ({kind}) is no chat answer: {shown}"
        if not self.extent():
            return "The stream ended without any text and without a finish_reason"
        end = "[DONE]" if self._done else "the connection, not with a length of its own,"
        return f"The stream ended with {end} but without a finish_reason{self.extent()}: the answer may be cut"


def _broken(sentence: str) -> StreamBroken:
    return StreamBroken(Trouble(kind="failed", sentence=sentence))


def _framed(response: httpx.Response) -> bool:
    """Whether the body said where it ends; without that, its end and its break look the same."""
    return "content-length" in response.headers or "transfer-encoding" in response.headers
