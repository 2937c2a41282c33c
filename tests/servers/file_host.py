"""Public files over real HTTP, as GitHub serves raw ones: with ranges, and with accidents.

with FileHost({"/owner/name/commit/file.jsonl": b"…"}) as host:
    host.cut["/owner/…"] = [1000]       # the connection breaks off after so many bytes, once each
    ... host.url ... host.asked ... host.sent ...
"""

import hashlib
import threading
from collections.abc import Mapping

from tests.servers.http import Exchange, HttpServer


class FileHost(HttpServer):
    def __init__(self, files: Mapping[str, bytes], host: str = "127.0.0.1") -> None:
        super().__init__(self._handle, host=host)
        self.files = dict(files)
        self.cut: dict[str, list[int]] = {}
        self.statuses: list[int] = []
        """What the next requests are answered with instead."""
        self.moved: dict[str, str] = {}
        """Path → the address that it redirects to."""
        self.ranges = True
        """Whether it answers a request for a part with the part."""
        self.chunked = False
        """Whether it keeps the length to itself."""
        self.hold = threading.Event()
        """Cleared by a test: every file stops in the middle."""
        self.hold.set()
        self.sent: dict[str, int] = {}
        self.then: dict[str, dict[str, bytes]] = {}
        """Path → files that are there once it was sent, or part of it."""

    def __enter__(self) -> "FileHost":
        super().__enter__()
        return self

    @property
    def asked(self) -> list[str]:
        return [request.path for request in self.requests]

    async def _handle(self, exchange: Exchange) -> None:
        if self.statuses:
            exchange.reply(self.statuses.pop(0), b"busy")
            return
        if exchange.path in self.moved:
            exchange.head(302, {"location": self.moved[exchange.path]}, length=0)
            return
        data = self.files.get(exchange.path)
        if data is None:
            exchange.reply(404, b"404: Not Found")
            return
        etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        start, headers = 0, {"etag": etag, "accept-ranges": "bytes"}
        wanted = exchange.headers.get("range", "")
        if wanted and self.ranges and exchange.headers.get("if-range", etag) == etag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                exchange.reply(416, b"", {"content-range": f"bytes */{len(data)}"})
                return
            headers["content-range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        body = data[start:]
        exchange.head(206 if start else 200, headers, length=None if self.chunked else len(body))
        await self._write(exchange, body)

    async def _write(self, exchange: Exchange, body: bytes) -> None:
        cuts = self.cut.get(exchange.path, [])
        cut = cuts.pop(0) if cuts else None
        whole, held = body, not self.hold.is_set()
        body = body[: len(body) // 2] if held else body[:cut]
        self.sent[exchange.path] = self.sent.get(exchange.path, 0) + len(body)
        self.files |= self.then.pop(exchange.path, {})
        exchange.send(body)
        while not self.hold.is_set():
            await exchange.pause(0.02)
        if len(body) < len(whole):
            exchange.close()
        else:
            exchange.end()
