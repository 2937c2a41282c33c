"""One HTTP/1.1 connection: sends a request, and hands the answer's bytes to a sink as they leave the socket."""

import asyncio
import contextlib
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

import httptools
import httpx

from model_accuracy_eval.rim.service.body import Body, decoder
from model_accuracy_eval.rim.service.sink import ENOUGH, FLOWING, KEPT, MOMENT, Sink

_FOREVER = float("inf")
_EMPTY = httpx.ByteStream(b"")
_BODY_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class Pool(Protocol):
    """What a connection needs of the transport that it belongs to."""

    open: "set[Connection]"
    busy: "set[Connection]"
    buffer: memoryview

    def watch(self, connection: "Connection", shortest: float) -> None: ...


class Stale(httpx.RemoteProtocolError):
    """A kept connection had been closed by the server before our request reached it: nothing was done yet."""


class Connection(asyncio.Protocol):
    """One socket and its parser. Busy from `exchange` until the message is complete or broken, else idle."""

    def __init__(self, pool: Pool, idle: list["Connection"]) -> None:
        self._pool = pool
        self._idle = idle
        self._pieces: list[bytes] = []
        # The parser appends body pieces without a Python frame; the sink sees them once a read.
        self.on_body = self._pieces.append
        self._parser = httptools.HttpResponseParser(self)
        self._transport: Any = None
        self._used = self._busy = self._paused = False
        self._linger: asyncio.TimerHandle | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._total_end = self._heard = self._limit = self._idle_limit = _FOREVER

    # ── one exchange ──

    async def exchange(self, payload: bytes, sink: Sink | None, limits: dict[str, Any]) -> httpx.Response:
        """Sends the request. Returns when the body has ended; without a sink, once the head is there."""
        self._begin(sink, limits)
        answered = self._answered
        if self.usable:
            self._transport.write(payload)
        else:
            self._ended(None)  # closed as soon as it was open, which the loop has told already
        try:
            return await answered
        except asyncio.CancelledError:
            # The server sees the disconnect and stops generating; but the answer may have been complete
            # already, and the connection somebody else's.
            if self._answered is answered:
                self.abort()
            raise

    def _response(self) -> httpx.Response:
        """Made before the connection can serve anybody else."""
        extensions = {"sent": self._sent}
        if self._kept is None:
            stream = self._body or _EMPTY
            return httpx.Response(self._status, headers=self._headers, stream=stream, extensions=extensions)
        headers = [item for item in self._headers if item[0].lower() not in _BODY_HEADERS]
        return httpx.Response(self._status, headers=headers, content=bytes(self._kept), extensions=extensions)

    def _begin(self, sink: Sink | None, limits: dict[str, Any]) -> None:
        self._silent = self._busy = True
        self._status = 0
        self._headers = []
        self._head_done = self._complete = self._keep = False
        self._ours = 0
        """Body pieces of our answer, when a read holds more than that."""
        self._inflate: Callable[[bytes], bytes] | None = None
        self._kept: bytearray | None = None
        self._answered: asyncio.Future[httpx.Response] = asyncio.get_running_loop().create_future()
        self._body = Body(self) if sink is None else None
        self._sink: Sink | None = self._body if sink is None else sink
        read = limits.get("read") or _FOREVER
        self._limit = limits.get("first") or read
        self._idle_limit = limits.get("idle") or read
        total = limits.get("total") or _FOREVER
        self._sent = self._heard = perf_counter()
        self._total_end = self._sent + total
        self._pool.watch(self, min(self._limit, self._idle_limit, total))

    def _settle(self, error: Exception | None) -> None:
        """The one way out of an exchange: the connection rests or closes, and whoever waits is told."""
        if not self._busy:
            return
        self.pause(paused=False)
        self._busy = False
        self._used = True
        self._pool.busy.discard(self)
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        if error is None and self._keep and self.usable:
            self._idle.append(self)
        else:
            self._transport.abort()
        if self._body is not None:
            self._body.end(error)
        if self._answered.done():
            return
        if error is None:
            self._answered.set_result(self._response())
        else:
            self._answered.set_exception(error)

    def pause(self, *, paused: bool) -> None:
        """Stops reading for a consumer that cannot keep up; its slowness is not the server's."""
        if self._busy and paused != self._paused:
            self._paused = paused
            self._heard = perf_counter()
            (self._transport.pause_reading if paused else self._transport.resume_reading)()

    @property
    def usable(self) -> bool:
        return not self._transport.is_closing()

    def abort(self) -> None:
        self._settle(httpx.ReadError("the exchange was given up"))
        self._transport.abort()

    def check(self, now: float) -> None:
        """Called by the sweep."""
        if now > self._total_end:
            self._give_up(f"no complete answer within {self._total_end - self._sent:g} s")
        elif now - self._heard > self._limit and not self._paused:
            what = "no answer" if self._heard == self._sent else "nothing more"
            self._give_up(f"{what} for {self._limit:g} s")

    def _give_up(self, sentence: str) -> None:
        self._keep = False
        self._settle(None if self._sink is None else httpx.ReadTimeout(sentence))

    # ── called by the event loop ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._pool.open.add(self)

    def data_received(self, data: Any) -> None:
        now = perf_counter()
        if not self._busy:  # nobody asked, so whatever it is, it is no answer
            self._transport.abort()
            return
        self._silent = False
        broken = None
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            broken = httpx.RemoteProtocolError(f"not HTTP/1.1: {error}")
            self._keep = False
        if self._pieces:
            self._deliver(now)
        if self._complete:
            self._settle(None)
        elif broken is not None:
            self._settle(None if self._sink is None else broken)

    def eof_received(self) -> None:
        self._ended(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._pool.open.discard(self)
        self._transport.abort()  # Python 3.10 counts a TLS transport as open until we say so too
        with contextlib.suppress(ValueError):
            self._idle.remove(self)
        self._ended(error)

    def _ended(self, error: Exception | None) -> None:
        """The server hung up: after [DONE] that is its right, and without a length it is how a body ends."""
        if not self._busy:
            return
        self._keep = False
        if self._sink is None or (error is None and self._head_done and not self._framed()):
            self._settle(None)
        elif self._silent and self._used:
            self._settle(Stale("a kept connection had been closed"))
        elif error is None:
            where = "inside the body" if self._head_done else "before its head was complete"
            self._settle(httpx.RemoteProtocolError(f"the connection was closed {where}"))
        else:
            self._settle(httpx.ReadError(f"the connection broke: {error}"))

    def _deliver(self, now: float) -> None:
        if self._complete:
            del self._pieces[self._ours :]
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if self._sink is None:
            return
        try:
            heard = self._sink(data if self._inflate is None else self._inflate(data), now)
        except Exception as error:  # noqa: BLE001 – whatever the sink raises is the outcome of its stream
            self._settle(error)
            return
        if heard:
            self._heard = now
            self._limit = self._idle_limit
        if heard == ENOUGH:
            self._sink = None
            if not self._complete:
                self._linger = asyncio.get_running_loop().call_later(MOMENT, self._give_up, "")

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
        if self._body is not None:
            if not self._answered.done():
                self._answered.set_result(self._response())
            return
        if not 200 <= status < 300:
            self._kept = bytearray()
            self._sink = self._keep_error
        self._inflate = self._decoder()

    def on_message_complete(self) -> None:
        if self._status < 200:  # 100 Continue, 103 Early Hints: the answer is still to come
            self._headers = []
            return
        # A second answer to one request is somebody else's: such a connection is not kept.
        self._keep = not self._complete and self._parser.should_keep_alive()
        if not self._complete:
            self._complete, self._ours = True, len(self._pieces)

    def _keep_error(self, data: bytes, _: float) -> int:
        assert self._kept is not None
        self._kept += data[: KEPT - len(self._kept)]
        return ENOUGH if len(self._kept) >= KEPT else FLOWING

    def _framed(self) -> bool:
        """Whether the body says where it ends; without that its end and its break look the same."""
        names = {name.lower() for name, _ in self._headers}
        return b"content-length" in names or b"transfer-encoding" in names or self._status == 204

    def _decoder(self) -> Callable[[bytes], bytes] | None:
        """We ask for no compression, but some proxies compress all the same."""
        for name, value in self._headers:
            if len(name) == 16 and name.lower() == b"content-encoding" and value.lower() != b"identity":
                return decoder(value.decode("ascii", "replace").lower())
        return None


class BufferedConnection(Connection, asyncio.BufferedProtocol):
    """The same, reading into the pool's one buffer: the parser copies what it keeps before the next read."""

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._pool.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(self._pool.buffer[:nbytes])
