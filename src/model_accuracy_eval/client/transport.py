"""HTTP/1.1 for many streams at once: an httpx transport that hands bytes from the socket to a callable.

The pool of httpx itself looks through all its connections at every request, and wakes a task for every token; both
cost many times more than reading the answer. Here idle connections are a stack, and a request may bring a *sink* in
`extensions["sink"]`: a callable that gets the bytes inside the socket's read callback, with the time of that read.
Without a sink, the body is in the response when it is complete.

    request ─ transport ─ pops or opens ─► connection ─ body bytes ─► sink   (2xx, with a sink)
                                                      └─ response.content    (no sink: any httpx.AsyncClient)

`extensions["timeout"]` has httpx's `connect` and `read`, and for streams `first` (until the sink returns FLOWING),
`idle` (from then on) and `total`. One timer checks the limits of all connections.
"""

import asyncio
import ssl
from collections.abc import Mapping
from time import perf_counter
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # typeshed leaves it out

import httpx

from model_accuracy_eval.client.connection import (
    ENOUGH,
    BodySink,
    Connection,
    StaleConnection,
)

_CHECK_INTERVAL = 0.5

Origin = tuple[str, str, int | None]


class StreamTransport(httpx.AsyncBaseTransport):
    """Connections to any number of origins, as many as there are concurrent requests. Belongs to one event loop."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._idle: dict[Origin, list[Connection]] = {}
        self.open: set[Connection] = set()
        self.busy: set[Connection] = set()
        self._interval = _CHECK_INTERVAL
        self._timer: asyncio.TimerHandle | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        payload = _payload(request, await request.aread())
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
            except StaleConnection:
                break  # the others have been idle even longer
        connection = await self._connect(origin, idle, limits.get("connect"))
        return await connection.exchange(payload, sink, limits)

    async def aclose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in tuple(self.open):
            connection.abort()
        for _ in range(8):  # sockets close, and report it, within the next turns of the loop
            await asyncio.sleep(0)

    async def _connect(self, origin: Origin, idle: list[Connection], limit: float | None) -> Connection:
        scheme, host, port = origin
        if scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"'{scheme}' is neither http nor https")
        loop = asyncio.get_running_loop()
        if scheme == "https":
            self._tls = self._tls or httpx.create_ssl_context()
        tls = self._tls if scheme == "https" else None
        port = port or (443 if tls else 80)
        opening = loop.create_connection(lambda: Connection(self, idle), host, port, ssl=tls)
        try:
            _, connection = await asyncio.wait_for(opening, limit)
        except (asyncio.TimeoutError, TimeoutError) as error:
            duration = "" if limit is None else f" within {limit:g} s"
            raise httpx.ConnectTimeout(f"no connection to {host}:{port}{duration}") from error
        except (OSError, UnicodeError) as error:  # a name that no resolver takes is a UnicodeError
            raise httpx.ConnectError(f"no connection to {host}:{port}: {error}") from error
        return connection

    def watch(self, connection: Connection, shortest: float) -> None:
        """Checks this connection's time limits from now on, often enough for the shortest of them."""
        self.busy.add(connection)
        interval = min(_CHECK_INTERVAL, max(0.01, shortest / 4))
        if self._timer is None or interval < self._interval:
            if self._timer is not None:
                self._timer.cancel()
            self._interval = interval
            self._timer = asyncio.get_running_loop().call_later(interval, self._check_limits)

    def _check_limits(self) -> None:
        now = perf_counter()
        for connection in tuple(self.busy):
            connection.check(now)
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._check_limits) if self.busy else None


def _payload(request: httpx.Request, content: bytes) -> bytes:
    """The request as bytes, always with a Content-Length and never with a transfer encoding."""
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    has_host = False
    for name, value in request.headers.raw:
        lower = name.lower()
        if lower in (b"content-length", b"transfer-encoding"):
            continue
        has_host = has_host or lower == b"host"
        lines.append(b"%b: %b" % (name, value))
    if not has_host:
        lines.append(b"Host: " + request.url.netloc)
    if content or request.method not in ("GET", "HEAD", "DELETE", "OPTIONS"):
        lines.append(b"Content-Length: %d" % len(content))
    head = b"\r\n".join(lines)
    if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1:
        raise httpx.LocalProtocolError("a header holds a line break")
    return b"%b\r\n\r\n%b" % (head, content)


# Requests through a proxy, by httpx's own transport; the bytes go into the same sinks.


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name for this address."""
    variables = {name.lower(): value for name, value in environment.items() if value}
    target = httpx.URL(url)
    loopback = target.host in ("localhost", "::1") or target.host.startswith("127.")
    proxy = variables.get(f"{target.scheme}_proxy") or variables.get("all_proxy")
    host = f"{target.host}:{target.port}" if target.port else target.host
    bypassed = proxy_bypass_environment(host, {"no": variables.get("no_proxy", "")})
    return None if loopback or bypassed or not proxy else proxy


class ProxiedTransport(httpx.AsyncBaseTransport):
    """Does what `StreamTransport` does, through a proxy: slower, but httpx knows tunnels and SOCKS.

    Each concurrent stream has an httpx transport of its own, because a shared pool gets slow with many connections.
    httpx has one time limit for all reads, so the longer of `first` and `idle` applies.
    """

    def __init__(self, proxy: str, tls: ssl.SSLContext | None = None) -> None:
        self._proxy = proxy
        self._tls = tls or httpx.create_ssl_context()
        self._transports: list[httpx.AsyncHTTPTransport] = []
        self._free: list[httpx.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        limits, sink = request.extensions.get("timeout") or {}, request.extensions.get("sink")
        read = max((limits[name] for name in ("read", "first", "idle") if limits.get(name)), default=None)
        plain = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            content=await request.aread(),
            extensions={"timeout": {"connect": limits.get("connect"), "read": read}},
        )
        if not self._free:
            self._free.append(httpx.AsyncHTTPTransport(proxy=self._proxy, verify=self._tls, trust_env=False))
            self._transports.append(self._free[-1])
        transport = self._free.pop()
        try:
            return await asyncio.wait_for(_exchange(transport, plain, sink), limits.get("total"))
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise httpx.ReadTimeout(f"no complete answer within {limits.get('total'):g} s") from error
        finally:
            self._free.append(transport)

    async def aclose(self) -> None:
        for transport in self._transports:
            await transport.aclose()


async def _exchange(
    transport: httpx.AsyncHTTPTransport, request: httpx.Request, sink: BodySink | None
) -> httpx.Response:
    sent = perf_counter()
    response = await transport.handle_async_request(request)
    response.extensions["sent"] = sent
    if sink is None or not response.is_success:
        await response.aread()
        return response
    try:
        async for data in response.aiter_bytes():
            if sink(data, perf_counter()) == ENOUGH:
                break  # the connection is not used again
    finally:
        await response.aclose()
    return response
