"""HTTP/1.1 for many streams at once: an httpx transport that hands bytes from the socket to a callable.

The pool of stock httpx looks through all its connections at every request, and wakes a task for every token;
both cost many times more than reading the answer. Here idle connections are a stack, and a request may bring
a *sink* in `extensions["sink"]`: it is called inside the socket's read callback, with the time of that read.

    request ─ transport ─ pops or opens ─► connection ─ body bytes ─► sink   (2xx, with a sink)
                                                      └─ response.stream     (no sink: any httpx.AsyncClient)

`extensions["timeout"]` has httpx's `connect` and `read`, and for streams `first` (until the sink says that
the answer has begun), `idle` (from then on) and `total`. One sweep watches them all.
"""

import asyncio
import asyncio.selector_events
import contextlib
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from time import perf_counter
from typing import Any

import httptools
import httpx

Sink = Callable[[bytes, float], int]
"""Takes body bytes and their time; answers WAITING, FLOWING or ENOUGH. What it raises ends the stream."""

WAITING = 0
"""Nothing of worth yet, such as a ping: the waiting goes on."""
FLOWING = 1
"""The answer grows: the idle limit starts anew."""
ENOUGH = 2
"""The answer is complete: what else the body holds is of no interest."""

KEPT = 64 * 1024
"""Bytes of an error body that are kept."""
MOMENT = 0.2
"""Seconds that a complete answer waits for its body to end, which makes the connection reusable."""

_BUFFER = 64 * 1024
_PAUSE_ABOVE = 1024 * 1024
_SWEEP = 0.5
_FOREVER = float("inf")

Origin = tuple[str, str, int | None]


class _Stale(httpx.RemoteProtocolError):
    """A kept connection had been closed by the server before our request reached it: nothing was done yet."""


class StreamTransport(httpx.AsyncBaseTransport):
    """Connections to any number of origins; as many as requests run at once. Belongs to one event loop."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._idle: dict[Origin, list[_Connection]] = {}
        self.open: set[_Connection] = set()
        self.busy: set[_Connection] = set()
        self.buffer = memoryview(bytearray(_BUFFER))
        self._tick = _SWEEP
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        payload = _payload(request, await request.aread())
        self._adopt(asyncio.get_running_loop())
        url = request.url
        origin = url.scheme, url.host, url.port
        idle = self._idle.setdefault(origin, [])
        sink, limits = request.extensions.get("sink"), request.extensions.get("timeout") or {}
        while idle:
            connection = idle.pop()
            if not connection.usable:
                continue
            try:
                return await connection.exchange(payload, sink, limits)
            except _Stale:
                break  # the others lay idle even longer
        connection = await self._connect(origin, idle, limits.get("connect"))
        return await connection.exchange(payload, sink, limits)

    async def aclose(self) -> None:
        self._adopt(asyncio.get_running_loop())
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in tuple(self.open):
            connection.abort()
        for _ in range(8):  # sockets close, and tell it, within the next turns of the loop
            await asyncio.sleep(0)

    def _adopt(self, loop: asyncio.AbstractEventLoop) -> None:
        """Connections die with their event loop; the next loop starts with none."""
        if loop is not self._loop:
            self._loop, self._timer = loop, None
            self.open.clear()
            self.busy.clear()
            self._idle.clear()

    async def _connect(self, origin: Origin, idle: list["_Connection"], limit: float | None) -> "_Connection":
        scheme, host, port = origin
        if scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"'{scheme}' is neither http nor https")
        loop = asyncio.get_running_loop()
        # asyncio allocates 256 KiB for every read of a plain protocol. One shared buffer is safe on its
        # selector loops, which fill it and hand it over in one step; uvloop has a good buffer of its own.
        selector = isinstance(loop, asyncio.selector_events.BaseSelectorEventLoop)
        kind = _BufferedConnection if selector and scheme == "http" else _Connection
        tls = self._tls_context() if scheme == "https" else None
        port = port or (443 if tls else 80)
        opening = loop.create_connection(lambda: kind(self, idle), host, port, ssl=tls)
        try:
            _, connection = await asyncio.wait_for(opening, limit)
        except (asyncio.TimeoutError, TimeoutError) as error:
            after = "" if limit is None else f" within {limit:g} s"
            raise httpx.ConnectTimeout(f"no connection to {host}:{port}{after}") from error
        except (OSError, UnicodeError) as error:  # a name that no resolver takes is a UnicodeError
            raise httpx.ConnectError(f"no connection to {host}:{port}: {error}") from error
        return connection

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls

    def watch(self, connection: "_Connection", shortest: float) -> None:
        """Has the sweep look at this connection, often enough for its shortest limit."""
        self.busy.add(connection)
        tick = min(_SWEEP, max(0.01, shortest / 4))
        if self._timer is None or tick < self._tick:
            if self._timer is not None:
                self._timer.cancel()
            self._tick = tick
            self._timer = asyncio.get_running_loop().call_later(tick, self._sweep)

    def _sweep(self) -> None:
        now = perf_counter()
        for connection in tuple(self.busy):
            connection.check(now)
        self._timer = asyncio.get_running_loop().call_later(self._tick, self._sweep) if self.busy else None


class _Connection(asyncio.Protocol):
    """One socket and its parser. Busy from `exchange` until the message is complete or broken, else idle."""

    def __init__(self, pool: StreamTransport, idle: list["_Connection"]) -> None:
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
        self._transport.write(payload)
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
        self._body = _Body(self) if sink is None else None
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
            self._settle(_Stale("a kept connection had been closed"))
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
                return _decoder(value.decode("ascii", "replace").lower())
        return None


class _BufferedConnection(_Connection, asyncio.BufferedProtocol):
    """The same, reading into the pool's one buffer: the parser copies what it keeps before the next read."""

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._pool.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(self._pool.buffer[:nbytes])


class _Body(httpx.AsyncByteStream):
    """A body for those who iterate: a sink that keeps the bytes until they are fetched."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._pieces: list[bytes] = []
        self._size = 0
        self._over = False
        self._error: Exception | None = None
        self._wake = asyncio.Event()

    def __call__(self, data: bytes, _: float) -> int:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _PAUSE_ABOVE:
            self._connection.pause(paused=True)
        self._wake.set()
        return FLOWING

    def end(self, error: Exception | None) -> None:
        self._over, self._error = True, error
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await self._wake.wait()
            self._wake.clear()
            pieces, self._pieces, self._size = self._pieces, [], 0
            over = self._over
            if pieces:
                yield b"".join(pieces)
            if over:
                break
            if not self._over:
                self._connection.pause(paused=False)
        if self._error is not None:
            raise self._error

    async def aclose(self) -> None:
        if not self._over:
            self._connection.abort()


_EMPTY = httpx.ByteStream(b"")
_BODY_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


def _decoder(encoding: str) -> Callable[[bytes], bytes]:
    gunzip = zlib.decompressobj(wbits=31).decompress if encoding in ("gzip", "x-gzip") else None

    def decode(data: bytes) -> bytes:
        if gunzip is None:
            raise httpx.DecodingError(f"the body is compressed ({encoding}), which nobody asked for")
        try:
            return gunzip(data)
        except zlib.error as error:
            raise httpx.DecodingError(f"the body is no {encoding}: {error}") from error

    return decode


def _payload(request: httpx.Request, content: bytes) -> bytes:
    """The request as bytes: always with a length, never with a transfer encoding."""
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    host = False
    for name, value in request.headers.raw:
        lower = name.lower()
        if lower in (b"content-length", b"transfer-encoding"):
            continue
        host = host or lower == b"host"
        lines.append(b"%b: %b" % (name, value))
    if not host:
        lines.append(b"Host: " + request.url.netloc)
    if content or request.method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
        lines.append(b"Content-Length: %d" % len(content))
    head = b"\r\n".join(lines)
    if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1:
        raise httpx.LocalProtocolError("a header holds a line break")
    return b"%b\r\n\r\n%b" % (head, content)


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name for this address."""
    # Imported here because it is slow, and untyped because typeshed leaves it out.
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # noqa: PLC0415

    named = {name.lower(): value for name, value in environment.items() if value}
    target = httpx.URL(url)
    loopback = target.host in ("localhost", "::1") or target.host.startswith("127.")
    proxy = named.get(f"{target.scheme}_proxy") or named.get("all_proxy")
    place = f"{target.host}:{target.port}" if target.port else target.host
    bypassed = proxy_bypass_environment(place, {"no": named.get("no_proxy", "")})
    return None if loopback or bypassed or not proxy else proxy


class ProxiedTransport(httpx.AsyncBaseTransport):
    """The same through a proxy, by stock httpx: slower, but it knows tunnels and SOCKS.

    One stock transport a stream, because a shared pool gets slow with many connections. The stock transport
    has one limit for reads, so `first` and `idle` become the longer of the two.
    """

    def __init__(self, proxy: str, tls: ssl.SSLContext | None = None) -> None:
        self._proxy = proxy
        self._tls = tls or httpx.create_ssl_context(trust_env=False)
        self._all: list[httpx.AsyncHTTPTransport] = []
        self._free: list[httpx.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        limits = request.extensions.get("timeout") or {}
        read = max((limits[name] for name in ("read", "first", "idle") if limits.get(name)), default=None)
        plain = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            content=await request.aread(),
            extensions={"timeout": {"connect": limits.get("connect"), "read": read}},
        )
        stock = self._free.pop() if self._free else self._another()
        try:
            return await asyncio.wait_for(
                _read_stock(stock, plain, request.extensions.get("sink")), limits.get("total")
            )
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise httpx.ReadTimeout(f"no complete answer within {limits.get('total'):g} s") from error
        finally:
            self._free.append(stock)

    async def aclose(self) -> None:
        for stock in self._all:
            await stock.aclose()

    def _another(self) -> httpx.AsyncHTTPTransport:
        self._all.append(httpx.AsyncHTTPTransport(proxy=self._proxy, verify=self._tls, trust_env=False))
        return self._all[-1]


async def _read_stock(stock: httpx.AsyncHTTPTransport, request: httpx.Request, sink: Sink | None) -> httpx.Response:
    sent = perf_counter()
    response = await stock.handle_async_request(request)
    response.extensions["sent"] = sent
    if sink is None or not response.is_success:
        await response.aread()
        return response
    pieces = response.aiter_bytes()
    try:
        async for data in pieces:
            if sink(data, perf_counter()) == ENOUGH:
                with contextlib.suppress(asyncio.TimeoutError, TimeoutError, httpx.TransportError):
                    await asyncio.wait_for(_drain(pieces), MOMENT)
                break
    finally:
        await response.aclose()
    return response


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    async for _ in pieces:
        pass
