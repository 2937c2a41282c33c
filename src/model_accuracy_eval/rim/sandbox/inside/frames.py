"""Messages on a file descriptor: four bytes that tell the length, then JSON."""

import json
import struct

# By name, and before any untrusted code runs: a program that replaces os.write must not change what others say.
from os import read, write
from typing import Any

MOST = 32 << 20

_LENGTH = struct.Struct(">I")
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


class Gone(Exception):
    """The other side has ended."""


class TooLarge(Exception):
    """A message beyond what any honest one needs."""


def pack(message: object) -> bytes:
    body = _encode(message).encode()
    if len(body) > MOST:
        raise TooLarge(f"{len(body):,} bytes where at most {MOST:,} may cross")
    return _LENGTH.pack(len(body)) + body


def size(head: bytes) -> int:
    """How long the body is that follows these four bytes."""
    found = int(_LENGTH.unpack(head)[0])
    if found > MOST:
        raise TooLarge(f"{found:,} bytes announced where at most {MOST:,} may cross")
    return found


def unpack(body: bytes) -> Any:
    return _decode(body.decode())


def send(fd: int, message: object) -> None:
    try:
        push(fd, pack(message))
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Gone from error


def push(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[write(fd, rest) :]


def receive(fd: int) -> Any:
    return unpack(take(fd, size(take(fd, 4))))


def take(fd: int, count: int) -> bytes:
    """Exactly so many bytes."""
    found = bytearray()
    while len(found) < count:
        try:
            chunk = read(fd, min(count - len(found), 1 << 20))
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            raise Gone
        found += chunk
    return bytes(found)
