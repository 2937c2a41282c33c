"""The example server's PNG reader: every filter, and a sentence for every file that it cannot read."""

from __future__ import annotations

import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.example_adapter.client import ADAPTER
from tests.example_adapter.png_files import SIGNATURE, chunk, header, png

sys.path.insert(0, str(ADAPTER))
from tinyserver.png import PngError, read_png

END = chunk(b"IEND", b"")


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


def packed(size: bytes, pixels: bytes) -> bytes:
    return SIGNATURE + size + chunk(b"IDAT", zlib.compress(pixels)) + END


GOOD = png([[0, 128], [255, 7]])

REFUSED = {
    "nothing": (b"", "is no PNG"),
    "a JPEG": (b"\xff\xd8\xff\xe0\0\x10JFIF", r"is no PNG: it begins with b'\\xff\\xd8"),
    "no header": (SIGNATURE + END, "is a PNG without a header"),
    "cut in the pixels": (GOOD[:-20], "is cut off after"),
    "a flipped bit": (GOOD.replace(b"IDAT", b"IDAU"), "the checksum of its chunk b'IDAU' is wrong"),
    "too many pixels": (packed(header(100_000, 100_000), b""), "has 100000 x 100000 pixels"),
    "sixteen bits": (packed(header(1, 1, depth=16), b"\0\0\0"), "has 16 bits a colour; 8 are read"),
    "a palette": (packed(header(1, 1, colour=3), b"\0\0"), "has a palette; grey or red-green-blue is read"),
    "colours with transparency": (packed(header(1, 1, colour=6), bytes(5)), "has colours with transparency"),
    "interlaced": (packed(header(1, 1, interlaced=1), b"\0\0"), "is interlaced"),
    "pixels that cannot be unpacked": (SIGNATURE + header(2, 2) + chunk(b"IDAT", b"xyz") + END, "cannot be unpacked"),
    "an unknown filter": (packed(header(1, 1), b"\5\0"), "there is no filter 5"),
}


@pytest.mark.parametrize(("raw", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_read_is_told(raw: bytes, sentence: str) -> None:
    """The sentence has the number or the name in it."""
    with pytest.raises(PngError, match=sentence):
        read_png(raw)
