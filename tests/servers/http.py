"""A small HTTP server in a thread of its own, whose handlers write answers as awkwardly as they like."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any

from tests.waiting import HANGING

Handler = Callable[["Exchange"], Awaitable[None]]


class Exchange:
    """One request, and the means to answer it well, badly or not at all."""

    def __init__(self, connection: "_Connection", head: bytes, body: bytes, number: int) -> None:
        self.connection = connection
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.body = body
        self.number = number
        """How many requests the server had before this one."""
        self.json: dict[str, Any] = {}
        with contextlib.suppress(ValueError):
            self.json = json.loads(body)
        self.closing = False
        """Whether the connection is closed after this exchange."""
        self.chunked = False

    def head(
        self,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        kind: str = "text/event-stream; charset=utf-8",
        length: int | None = None,
        chunked: bool = True,
        version: str = "1.1",
        close: bool = False,
    ) -> None:
        """Status line and headers: chunked, or with a length, or (neither) ended by the connection's end."""
        self.chunked = chunked and length is None
        close = close or self.headers.get("connection") == "close"
        self.closing = close or not (self.chunked or length is not None) or version == "1.0"
        lines = [f"HTTP/{version} {status} Whatever", f"content-type: {kind}", "server: test"]
        if length is not None:
            lines.append(f"content-length: {length}")
        if self.chunked:
            lines.append("transfer-encoding: chunked")
        if close:
            lines.append("connection: close")
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.raw("\r\n".join(lines).encode() + b"\r\n\r\n")

    def raw(self, data: bytes) -> None:
        self.connection.transport.write(data)

    def send(self, data: bytes) -> None:
        """A piece of the body."""
        if data:
            self.raw(b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    def end(self) -> None:
        if self.chunked:
            self.raw(b"0\r\n\r\n")

    def reply(self, status: int, body: Any, headers: Mapping[str, str] | None = None, **head: Any) -> None:
        """A whole answer: text as it is, anything else as JSON."""
        data = (
            body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        )
        head.setdefault("kind", "application/json")
        self.head(status, headers, length=len(data), **head)
        self.send(data)

    def reset(self) -> None:
        """Ends the connection with RST instead of FIN."""
        sock = self.connection.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.transport.abort()

    def close(self) -> None:
        self.connection.transport.close()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def stall(self) -> None:
        """Nothing more happens until the client goes away."""
        await self.connection.lost.wait()


class HttpServer:
    """`with HttpServer(handler) as server: … server.url …`. Counts what clients do to it."""

    def __init__(
        self, handler: Handler, *, tls: ssl.SSLContext | None = None, port: int = 0, host: str = "127.0.0.1"
    ) -> None:
        self._host = host
        self._handler = handler
        self._tls = tls
        self.requests: list[Exchange] = []
        self.connections = 0
        self.in_flight = 0
        self.peak = 0
        """The most requests that were in flight at once."""
        self.disconnects = 0
        """Clients that went away before their answer was complete."""
        self.errors: list[BaseException] = []
        self._open: set[_Connection] = set()
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._socket = socket.create_server((host, port), backlog=1024)
        self.port = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self._host}:{self.port}"

    def __enter__(self) -> "HttpServer":
        self._thread.start()
        self._ready.wait(HANGING)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self.errors and error is None:
            raise self.errors[0]

    def wait_for(self, condition: Callable[["HttpServer"], bool], seconds: float = HANGING) -> bool:
        """Blocks until the counters are as wanted; the caller's event loop must not be needed for that."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self), seconds)

    def stop(self) -> None:
        """Nobody listens afterwards, and every connection is closed. Can be called twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(HANGING)
        elif not self._loop.is_closed():  # it was never started
            self._loop.close()
        self._socket.close()

    def count(self, name: str, change: int = 1) -> None:
        with self._changed:
            setattr(self, name, getattr(self, name) + change)
            self.peak = max(self.peak, self.in_flight)
            self._changed.notify_all()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._server = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Connection(self), sock=self._socket, ssl=self._tls)
        )
        self._loop.call_soon(self._ready.set)
        self._loop.run_forever()
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        assert self._server is not None
        self._server.close()
        for connection in tuple(self._open):
            connection.transport.abort()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(5):
            await asyncio.sleep(0)


class _Connection(asyncio.Protocol):
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._buffer = b""
        self._task: asyncio.Task[None] | None = None
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        # asyncio does it only for sockets that say that they are TCP, and accepted ones do not.
        self.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lost = asyncio.Event()
        self._server._open.add(self)
        self._server.count("connections")

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._task is None:
            self._next()

    def connection_lost(self, error: Exception | None) -> None:
        self.lost.set()
        self.transport.abort()  # Python 3.10 counts a TLS transport as open until this side ends it too
        self._server._open.discard(self)
        if self._task is not None:
            self._task.cancel()

    def _next(self) -> None:
        if self._buffer.startswith(b"\x16\x03"):  # a TLS greeting where none was expected
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()
            return
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        if not found or len(rest) < length:
            return
        self._buffer = rest[length:]
        exchange = Exchange(self, head, rest[:length], len(self._server.requests))
        self._server.requests.append(exchange)
        self._task = asyncio.get_running_loop().create_task(self._answer(exchange))

    async def _answer(self, exchange: Exchange) -> None:
        self._server.count("in_flight")
        try:
            await self._server._handler(exchange)
        except asyncio.CancelledError:
            self._server.count("disconnects")
        except Exception as error:
            self._server.errors.append(error)
            self.transport.abort()
        finally:
            self._server.count("in_flight", -1)
            self._task = None
        if exchange.closing:
            self.transport.close()
        elif self._buffer:
            self._next()
