"""The example server's PNG reader against files that are written independently of it, with every filter."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.example_adapter.client import ADAPTER

sys.path.insert(0, str(ADAPTER))
from tinyserver.png import read_png

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def header(width: int, height: int, depth: int = 8, colour: int = 0, interlaced: int = 0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def png(rows: Sequence[Sequence[int]], channels: int = 1, filters: Sequence[int] = (0,)) -> bytes:
    """Rows of numbers, each row filtered in the way whose turn it is."""
    before, body = [0] * len(rows[0]), b""
    for number, row in enumerate(rows):
        kind = filters[number % len(filters)]
        body += bytes([kind, *filtered(kind, list(row), before, channels)])
        before = list(row)
    size = header(len(rows[0]) // channels, len(rows), colour=0 if channels == 1 else 2)
    return SIGNATURE + size + chunk(b"tEXt", b"Title\0x") + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")


def filtered(kind: int, row: list[int], above: list[int], channels: int) -> list[int]:
    """As the PNG standard has it: what is left of each number when a guess is taken off."""
    out = []
    for place, value in enumerate(row):
        a = row[place - channels] if place >= channels else 0
        b = above[place]
        c = above[place - channels] if place >= channels else 0
        out.append((value - [0, a, b, (a + b) // 2, nearest(a, b, c)][kind]) % 256)
    return out


def nearest(a: int, b: int, c: int) -> int:
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


@st.composite
def pictures(draw: st.DrawFn) -> tuple[list[list[int]], int, list[int]]:
    """Rows of numbers, how many of them make a pixel, and the filters of the rows in turn."""
    channels = draw(st.sampled_from([1, 3]))
    width, height = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    number = st.integers(0, 255)
    rows = [draw(st.lists(number, min_size=width * channels, max_size=width * channels)) for _ in range(height)]
    return rows, channels, draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))


@given(pictures())
def test_what_was_written_is_read(picture: tuple[list[list[int]], int, list[int]]) -> None:
    """Whatever the pixels and the filters; grey comes back as three equal colours."""
    rows, channels, filters = picture
    read = read_png(png(rows, channels, filters))
    assert read.shape == (len(rows), len(rows[0]) // channels, 3)
    expected = [value for row in rows for value in row for _ in range(3 if channels == 1 else 1)]
    assert read.ravel().tolist() == expected
