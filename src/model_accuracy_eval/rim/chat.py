"""The client of one service: asks, listens, tries again, and reports failure as a result.

One request is one or more tries; one try is one HTTP exchange whose events flow into a `Gathering`. What a
broken try brought is thrown away as a whole, so no half answer is ever scored.
"""

import asyncio
import dataclasses
import errno
import itertools
import random
import re
import secrets
import socket
import ssl
import time
from collections.abc import Awaitable, Callable

import httpx
import msgspec

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Choice, Fault, Patience, Reply, Request, Service, Timings, Usage
from model_accuracy_eval.rim import wire
from model_accuracy_eval.rim.retry import Presence, Schedule, Trouble, http_trouble, retry_after
from model_accuracy_eval.rim.sse import EventStream, EventTooLongError
from model_accuracy_eval.rim.transport import ENOUGH, FLOWING, WAITING, ProxiedTransport, StreamTransport

_HOST = re.compile(r"[\w.:-]+")
_HEAD = 300
"""Bytes of a body that are shown when it is no answer at all."""
_WHOLE = 64 * 1024 * 1024
"""The longest answer that is taken in one piece, from a server that does not stream."""
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL})
"""Connection errors that are this machine's, whoever listens over there."""
_THEIRS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLError)
"""Connection errors that only somebody who listens can cause."""


def connect(
    service: Service,
    patience: Patience,
    *,
    api_key: str | None = None,
    proxy: str | None = None,
    tls: ssl.SSLContext | None = None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
) -> "StreamingChat":
    """Implements `ports.Connect`; `proxy` is the address of the proxy to go through."""
    return StreamingChat(service, patience, api_key=api_key, proxy=proxy, tls=tls, sleep=sleep, chance=chance)


class StreamingChat:
    """Implements `ports.Chat`. Use it within one event loop, and close it there."""

    def __init__(
        self,
        service: Service,
        patience: Patience,
        *,
        api_key: str | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        base = _base(service.base_url)
        self._model = service.model
        self._patience = patience
        self._secret = api_key or ""
        self._sleep = sleep
        self._chance = chance
        self._presence = Presence(patience.gone_after)
        self._url = httpx.URL(f"{base}/chat/completions")
        self._models_url = httpx.URL(f"{base}/models")
        self._place = self._url.netloc.decode("ascii")
        self._headers = _headers(self._place, api_key)
        self._transport = ProxiedTransport(proxy, tls) if proxy else StreamTransport(tls)
        self._limits = {
            "connect": patience.connect_timeout,
            "first": patience.first_token_timeout,
            "idle": patience.idle_timeout,
            "total": patience.total_timeout,
        }
        self._ids = itertools.count(1)
        self._name = secrets.token_hex(4)

    async def ask(self, request: Request) -> Reply:
        """One reply, whatever it takes; a fault inside it says why there is none."""
        body = wire.encode_request(self._model, request)
        name = f"{self._name}-{next(self._ids)}"
        schedule = Schedule(self._patience, self._presence, self._chance)
        begin, tries = time.monotonic(), 0
        while not self._presence.gone:
            tries += 1
            result = await self._try(body, request.n)
            if not isinstance(result, Trouble):
                choices, usage = result
                return Reply(id=name, choices=choices, usage=usage, tries=tries)
            wait = schedule.wait(result, time.monotonic())
            if wait is None:
                return Reply(id=name, tries=tries, fault=self._fault(result, tries, time.monotonic() - begin))
            await self._sleep(wait)
        gone = Trouble(kind="refused", sentence="The service is gone")
        return Reply(id=name, tries=tries, fault=self._fault(gone, tries, time.monotonic() - begin))

    async def models(self) -> tuple[str, ...]:
        """A hint and no more: whatever goes wrong here says nothing about the chat endpoint."""
        limit = httpx.Timeout(10.0, connect=self._patience.connect_timeout)
        request = httpx.Request("GET", self._models_url, headers=self._headers, extensions={"timeout": limit.as_dict()})
        try:
            response = await self._transport.handle_async_request(request)
            body = await response.aread()
        except httpx.HTTPError:
            return ()
        return wire.read_models(body) if response.is_success else ()

    async def close(self) -> None:
        await self._transport.aclose()

    async def _try(self, body: bytes, n: int) -> "Answer | Trouble":
        gathering = Gathering()
        extensions = {"sink": gathering.take, "timeout": self._limits}
        message = httpx.Request(
            "POST", self._url, headers=self._headers, stream=httpx.ByteStream(body), extensions=extensions
        )
        try:
            response = await self._transport.handle_async_request(message)
        except StreamBroken as broken:
            self._presence.heard()
            return broken.trouble
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return _unconnected(error)
        except httpx.HTTPError as error:
            self._presence.heard()
            return Trouble(kind="failed", sentence=f"The answer broke off: {error}{gathering.extent()}")
        self._presence.heard()
        if not response.is_success:
            return _turned_away(response)
        return gathering.answer(response, n)

    def _fault(self, trouble: Trouble, tries: int, seconds: float) -> Fault:
        sentence = trouble.sentence.rstrip(".")
        if trouble.kind == "refused" and self._presence.gone:
            sentence = f"Nobody has listened on {self._place} for {self._patience.gone_after:g} s"
        if self._secret:  # some servers repeat the key they do not like
            sentence = sentence.replace(self._secret, "[api key]")
        effort = f"{tries} {'try' if tries == 1 else 'tries'}, {seconds:.1f} s"
        return Fault(kind=trouble.kind, sentence=f"{sentence} ({effort}).", status=trouble.status)


def _base(url: str) -> str:
    """`http://host:8000`, with or without a path that ends in `/v1` or `/v1/chat/completions`."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise BadValue(f"The service's address cannot be read: {error}.") from error
    sound = _HOST.fullmatch(parsed.raw_host.decode("ascii")) and parsed.port != 0 and (parsed.port or 1) < 65536
    if parsed.scheme not in ("http", "https") or not sound:
        raise BadValue(
            f"The service's address is '{parsed.host or url}', but it has to be http://host:port or https://…."
        )
    path = parsed.path.rstrip("/").removesuffix("/chat/completions")
    version = path.rpartition("/")[2]
    if not (version[:1] == "v" and version[1:2].isdigit()):
        path += "/v1"
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}{path}"


def _headers(place: str, api_key: str | None) -> httpx.Headers:
    headers = {
        "Host": place,
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "model-accuracy-eval",
    }
    if api_key:
        if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
            raise BadValue("The API key holds a blank, a line break or a character outside ASCII.")
        headers["Authorization"] = f"Bearer {api_key}"
    return httpx.Headers(headers)


def _unconnected(error: httpx.TransportError) -> Trouble:
    """Nobody there, or somebody who does not let us in."""
    cause = error.__cause__
    sentence = f"The service could not be reached: {error}"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Trouble(kind="failed", sentence=sentence, again=False)
    if isinstance(error, httpx.ConnectTimeout) or isinstance(cause, _THEIRS):
        return Trouble(kind="failed", sentence=sentence)
    if isinstance(cause, OSError) and cause.errno in _OURS and not isinstance(cause, socket.gaierror):
        return Trouble(kind="failed", sentence=sentence)
    return Trouble(kind="refused", sentence=sentence)


def _turned_away(response: httpx.Response) -> Trouble:
    """A status other than 2xx, in the server's own words."""
    status, reason = response.status_code, response.reason_phrase
    message, _ = wire.read_error(response.content)
    if 300 <= status < 400:
        message = f"redirected to {response.headers.get('location', 'nowhere')}, which is not followed"
        return Trouble(kind="failed", sentence=f"HTTP {status} {reason}: {message}", status=status, again=False)
    sentence = f"HTTP {status} {reason}: {message or 'no message'}"
    return http_trouble(status, sentence, retry_after(response.headers, time.time()))


class StreamBroken(Exception):
    """The stream itself says that there will be no answer."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.sentence)
        self.trouble = trouble


class _Growing:
    """One choice while its events come in."""

    __slots__ = ("begun", "chunks", "end", "first", "gap_max", "last", "reason", "text", "thought")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thought: list[str] = []
        self.reason: str | None = None
        self.first: float | None = None
        self.last = self.end = self.gap_max = 0.0
        self.chunks = 0
        self.begun = False

    def take(self, part: wire.Part, now: float) -> None:
        delta = part.delta
        if delta is None and not self.chunks:  # some servers repeat the whole message after its deltas
            delta = part.message
        if delta is not None:
            text = delta.content
            thought = delta.reasoning or delta.reasoning_content
            if text:
                self.text.append(text if isinstance(text, str) else wire.text_of(text))
            if thought:
                self.thought.append(thought)
            if text or thought:
                self._note(now)
            elif wire.is_something(delta.tool_calls) or wire.is_something(delta.function_call):
                self.begun = True
        reason = part.finish_reason
        # Some servers say it twice; that the server gave up outweighs what it said before.
        if reason and (self.reason is None or reason in wire.UNFIT):
            self.reason, self.end, self.begun = reason, now, True

    def _note(self, now: float) -> None:
        self.chunks += 1
        if self.first is None:
            self.first, self.begun = now, True
        elif now - self.last > self.gap_max:
            self.gap_max = now - self.last
        self.last = now

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
        return Choice(text=text, reasoning=thought, finish_reason=self.reason, timings=timings)


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
        "_mend",
        "_now",
        "_sort",
        "_started",
        "_usage",
        "_whole",
    )

    def __init__(self) -> None:
        self._events = EventStream()
        self._answers: dict[int, _Growing] = {}
        self._usage = msgspec.Raw()
        self._head = b""
        self._whole: bytearray | None = None
        self._sort = self._started = self._done = self._mend = False
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
        if self._done:
            return ENOUGH
        if not self._started:
            self._started = any(growing.begun for growing in self._answers.values())
        return FLOWING if events and self._started else WAITING

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
        self._now, answers = now, self._answers
        for event in events:
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
                growing = answers.get(part.index)
                if growing is None:
                    growing = answers[part.index] = _Growing()
                growing.take(part, now)
                if part.usage and wire.is_something(part.usage):
                    self._usage = part.usage

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

    def answer(self, response: httpx.Response, n: int) -> "Answer | Trouble":
        """After a clean end: the complete choices, or why there are none."""
        streamed = self._whole is None
        try:
            self._read(self._rest(), self._now or time.perf_counter())
        except StreamBroken as broken:
            return broken.trouble
        whole = {index: growing for index, growing in self._answers.items() if growing.reason is not None}
        for growing in whole.values():
            if growing.reason in wire.UNFIT:
                return Trouble(kind="failed", sentence=f"The service gave up: finish_reason '{growing.reason}'")
        if not whole and not self._done and (not streamed or _framed(response)):
            whole = {index: growing for index, growing in self._answers.items() if growing.chunks}
        if not whole:
            return Trouble(kind="failed", sentence=self._nothing(response))
        sent = response.extensions["sent"]
        choices = (whole[index].choice(sent, mend=self._mend, streamed=streamed) for index in sorted(whole)[:n])
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


Answer = tuple[tuple[Choice, ...], Usage | None]


def _broken(sentence: str) -> StreamBroken:
    return StreamBroken(Trouble(kind="failed", sentence=sentence))


def _framed(response: httpx.Response) -> bool:
    """Whether the body said where it ends; without that, its end and its break look the same."""
    return "content-length" in response.headers or "transfer-encoding" in response.headers
