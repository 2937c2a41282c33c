"""Sinks, which take the bytes of a response body as they arrive; and bodies that were compressed."""

import zlib
from collections.abc import Callable

import httpx

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


def decompressor(encoding: str) -> Callable[[bytes], bytes]:
    """Unpacks a body that was compressed although the request did not allow it."""
    gunzip = zlib.decompressobj(wbits=31).decompress if encoding in ("gzip", "x-gzip") else None

    def decompress(data: bytes) -> bytes:
        if gunzip is None:
            raise httpx.DecodingError(f"the body is compressed ({encoding}), which nobody asked for")
        try:
            return gunzip(data)
        except zlib.error as error:
            raise httpx.DecodingError(f"the body is no {encoding}: {error}") from error

    return decompress
