"""Bodies of answers: kept for those who iterate, and unpacked for those who asked for no compression."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import httpx

from model_accuracy_eval.rim.service.sink import FLOWING

_PAUSE_ABOVE = 1024 * 1024


class Source(Protocol):
    """The connection that a body comes from."""

    def pause(self, *, paused: bool) -> None: ...

    def abort(self) -> None: ...


class Body(httpx.AsyncByteStream):
    """A body for those who iterate: a sink that keeps the bytes until they are fetched."""

    def __init__(self, connection: Source) -> None:
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


def decoder(encoding: str) -> Callable[[bytes], bytes]:
    gunzip = zlib.decompressobj(wbits=31).decompress if encoding in ("gzip", "x-gzip") else None

    def decode(data: bytes) -> bytes:
        if gunzip is None:
            raise httpx.DecodingError(f"the body is compressed ({encoding}), which nobody asked for")
        try:
            return gunzip(data)
        except zlib.error as error:
            raise httpx.DecodingError(f"the body is no {encoding}: {error}") from error

    return decode
