"""One HTTP/1.1 connection: sends a request, and passes the body to a sink as its bytes leave the socket.

One state machine between three callers (the exchange, the event loop and the parser), which is why the file is long.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Protocol, cast

import httptools
import httpx

# Sinks, which take the bytes of a response body as they arrive.


BodySink = Callable[[bytes, float], int]
"""Takes bytes of a body and the time they arrived; returns WAITING, FLOWING or ENOUGH. An exception ends the stream."""

WAITING = 0
"""Nothing useful yet, such as a ping: the time limit for the first token goes on."""
FLOWING = 1
"""The answer grows: the idle time limit starts again."""
ENOUGH = 2
"""The answer is complete: the rest of the body is not needed."""

ERROR_BODY_LIMIT = 64 * 1024
"""Bytes of an error's body that are kept."""
CONTENT_LIMIT = 64 * 1024 * 1024
"""Bytes of another body that are kept if the request brings no sink."""
GRACE = 0.2
"""Seconds in which the body of a complete answer may end, which makes its connection reusable."""


_FOREVER = float("inf")
_EMPTY = httpx.ByteStream(b"")
_BODY_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


TimeLimits = Mapping[str, float | None]


class ConnectionPool(Protocol):
    """What a connection needs of its transport."""

    open: "set[Connection]"
    busy: "set[Connection]"

    def watch(self, connection: "Connection", shortest: float) -> None: ...


class StaleConnection(httpx.RemoteProtocolError):
    """The server had closed an idle connection before our request reached it, so the request was not processed."""


class Connection(asyncio.Protocol):
    """One socket and its parser. Busy from `exchange` until the message is complete or broken, else idle."""

    def __init__(self, pool: ConnectionPool, idle: list["Connection"]) -> None:
        self._pool = pool
        self._idle = idle
        self._pieces: list[bytes] = []
        # The parser appends pieces without calling Python code; the sink gets them once for each read.
        self.on_body = self._pieces.append
        self._parser = httptools.HttpResponseParser(self)
        self._used = self._busy = False
        self._grace_timer: asyncio.TimerHandle | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._total_end = self._last_data = self._limit = self._idle_limit = _FOREVER

    # ── one exchange ──

    async def exchange(self, payload: bytes, sink: BodySink | None, limits: TimeLimits) -> httpx.Response:
        """Sends the request. Returns at the end of the body; it is in the response if there is no sink."""
        self._begin(sink, limits)
        response = self._response
        if self.usable:
            self._transport.write(payload)
        else:
            self._connection_ended(None)  # closed right after it was opened
        try:
            return await response
        except asyncio.CancelledError:
            # The server sees the disconnect and stops generating. But if the answer was complete already, the
            # connection may serve another request by now.
            if self._response is response:
                self.abort()
            raise

    def _make_response(self) -> httpx.Response:
        """Called before the connection can serve another request."""
        extensions = {"sent": self._sent}
        if self._content is None:
            return httpx.Response(self._status, headers=self._headers, stream=_EMPTY, extensions=extensions)
        headers = [item for item in self._headers if item[0].lower() not in _BODY_HEADERS]
        return httpx.Response(self._status, headers=headers, content=bytes(self._content), extensions=extensions)

    def _begin(self, sink: BodySink | None, limits: TimeLimits) -> None:
        self._no_data = self._busy = True
        self._status = 0
        self._headers = []
        self._head_done = self._complete = self._reusable = False
        self._own_pieces = 0
        """How many body pieces belong to this response, if a read holds more than that."""
        self._content: bytearray | None = None
        self._response: asyncio.Future[httpx.Response] = asyncio.get_running_loop().create_future()
        self._sink: BodySink | None = self._collect(CONTENT_LIMIT) if sink is None else sink
        read = limits.get("read") or _FOREVER
        self._limit = limits.get("first") or read
        self._idle_limit = limits.get("idle") or read
        total = limits.get("total") or _FOREVER
        self._sent = self._last_data = perf_counter()
        self._total_end = self._sent + total
        self._pool.watch(self, min(self._limit, self._idle_limit, total))

    def _finish(self, error: Exception | None) -> None:
        """The only end of an exchange: the connection becomes idle or closes, and the caller gets the result."""
        if not self._busy:
            return
        self._busy = False
        self._used = True
        self._pool.busy.discard(self)
        if self._grace_timer is not None:
            self._grace_timer.cancel()
            self._grace_timer = None
        if error is None and self._reusable and self.usable:
            self._idle.append(self)
        else:
            self._transport.abort()
        if self._response.done():
            return
        if error is None:
            try:
                self._response.set_result(self._make_response())
            except Exception as raised:  # noqa: BLE001 – the event loop would only note it, and the caller wait for ever
                error = raised
        if error is not None:
            self._response.set_exception(error)

    @property
    def usable(self) -> bool:
        return not self._transport.is_closing()

    def abort(self) -> None:
        self._finish(httpx.ReadError("the exchange was given up"))
        self._transport.abort()

    def check(self, now: float) -> None:
        """Ends the exchange if a time limit has passed. Called by the transport's timer."""
        if now > self._total_end:
            self._give_up(f"no complete answer within {self._total_end - self._sent:g} s")
        elif now - self._last_data > self._limit:
            silence = "no answer" if self._last_data == self._sent else "nothing more"
            self._give_up(f"{silence} for {self._limit:g} s")

    def _give_up(self, sentence: str) -> None:
        self._reusable = False
        self._finish(None if self._sink is None else httpx.ReadTimeout(sentence))

    # ── called by the event loop ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._pool.open.add(self)

    def data_received(self, data: bytes) -> None:
        now = perf_counter()
        if not self._busy:  # bytes that no request waits for
            self._transport.abort()
            return
        self._no_data = False
        failure = None
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            failure = httpx.RemoteProtocolError(f"not HTTP/1.1: {error}")
            self._reusable = False
        if self._pieces:
            self._feed_sink(now)
        if self._complete:
            self._finish(None)
        elif failure is not None:
            self._finish(None if self._sink is None else failure)

    def eof_received(self) -> None:
        self._connection_ended(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._pool.open.discard(self)
        self._transport.abort()  # Python 3.10 counts a TLS transport as open until we abort it too
        with contextlib.suppress(ValueError):
            self._idle.remove(self)
        self._connection_ended(error)

    def _connection_ended(self, error: Exception | None) -> None:
        """The server closed the connection: allowed after [DONE], and the normal end of a body without a length."""
        if not self._busy:
            return
        self._reusable = False
        if self._sink is None or (error is None and self._head_done and not self._shows_its_end()):
            self._finish(None)
        elif self._no_data and self._used:
            self._finish(StaleConnection("a kept connection had been closed"))
        elif error is None:
            place = "inside the body" if self._head_done else "before its head was complete"
            self._finish(httpx.RemoteProtocolError(f"the connection was closed {place}"))
        else:
            self._finish(httpx.ReadError(f"the connection broke: {error}"))

    def _feed_sink(self, now: float) -> None:
        if self._complete:
            del self._pieces[self._own_pieces :]
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if self._sink is None:
            return
        try:
            state = self._sink(data, now)
        except Exception as error:  # noqa: BLE001 – any exception of the sink is the outcome of its stream
            self._finish(error)
            return
        if state:
            self._last_data = now
            self._limit = self._idle_limit
        if state == ENOUGH:
            self._sink = None
            if not self._complete:
                self._grace_timer = asyncio.get_running_loop().call_later(GRACE, self._give_up, "")

    # ── called by the parser ──

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._head_done:  # later ones are trailers
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        self._status = status = self._parser.get_status_code()
        if status < 200:
            return
        self._head_done = True
        if not 200 <= status < 300:
            self._sink = self._collect(ERROR_BODY_LIMIT)

    def on_message_complete(self) -> None:
        if self._status < 200:  # 100 Continue, 103 Early Hints: the answer is still to come
            self._headers = []
            return
        # A second response belongs to no request of ours: such a connection is not reused.
        self._reusable = not self._complete and self._parser.should_keep_alive()
        if not self._complete:
            self._complete, self._own_pieces = True, len(self._pieces)

    def _collect(self, limit: int) -> BodySink:
        """A sink that keeps the body for the response, up to so many bytes."""
        content = self._content = bytearray()

        def sink(data: bytes, _: float) -> int:
            content.extend(data[: limit - len(content)])
            return ENOUGH if len(content) >= limit else FLOWING

        return sink

    def _shows_its_end(self) -> bool:
        """Whether the body has a length or chunks. Without them, a complete and a broken body look the same."""
        names = {name.lower() for name, _ in self._headers}
        return b"content-length" in names or b"transfer-encoding" in names or self._status == 204
