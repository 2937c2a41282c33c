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
import ssl
from time import perf_counter

import httpx

from model_accuracy_eval.rim.service.connection import BufferedConnection, Connection, Stale

_BUFFER = 64 * 1024
_SWEEP = 0.5

Origin = tuple[str, str, int | None]


class StreamTransport(httpx.AsyncBaseTransport):
    """Connections to any number of origins; as many as requests run at once. Belongs to one event loop."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._idle: dict[Origin, list[Connection]] = {}
        self.open: set[Connection] = set()
        self.busy: set[Connection] = set()
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
            except Stale:
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

    async def _connect(self, origin: Origin, idle: list[Connection], limit: float | None) -> Connection:
        scheme, host, port = origin
        if scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"'{scheme}' is neither http nor https")
        loop = asyncio.get_running_loop()
        # asyncio allocates 256 KiB for every read of a plain protocol. One shared buffer is safe on its
        # selector loops, which fill it and hand it over in one step; uvloop has a good buffer of its own.
        selector = isinstance(loop, asyncio.selector_events.BaseSelectorEventLoop)
        kind = BufferedConnection if selector and scheme == "http" else Connection
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

    def watch(self, connection: Connection, shortest: float) -> None:
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
