"""Pictures, sound and video in rows and messages: what they are, and where their bytes lie, which are never here.

In a text a mark stands for each, so that a template places one like any other value, and what hashes the text hashes
the bytes' own hash with it.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

from model_accuracy_eval.records.base import Record

_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"
MARKS = re.compile(f"{_MARK}([0-9a-f]{{64}}){_MARK}")
"""What stands for a picture, sound or video in a text: its hash."""

MediaKind = Literal["image", "audio", "video"]
NOUNS: dict[MediaKind, str] = {"image": "picture", "audio": "sound", "video": "video"}

_FORMATS: tuple[tuple[bytes, MediaKind, str], ...] = (
    (rb"\x89PNG\r\n\x1a\n", "image", "png"),
    (rb"\xff\xd8\xff", "image", "jpeg"),
    (rb"RIFF....WEBP", "image", "webp"),
    (rb"GIF8[79]a", "image", "gif"),
    (rb"BM....\x00\x00\x00\x00", "image", "bmp"),
    (rb"RIFF....WAVE", "audio", "wav"),
    (rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", "audio", "mp3"),
    (rb"fLaC", "audio", "flac"),
    (rb"OggS", "audio", "ogg"),
    (rb"....ftyp", "video", "mp4"),
    (rb"\x1a\x45\xdf\xa3", "video", "webm"),
)
"""How the bytes of each format begin; `re` keeps those that are compiled when media are first looked at."""
HEAD_BYTES = 16
"""As many bytes tell the format."""
KNOWN_FORMATS = ", ".join(name for _, _, name in _FORMATS)


class MediaPlace(Record, frozen=True, kw_only=True):
    """Where the bytes lie, on this machine."""

    file: str
    row: int | None = None
    """Position in a table file; None: the file itself is the picture."""
    path: tuple[str | int, ...] = ()
    """In that row: the column, then fields and positions inside of its value."""


class Media(Record, frozen=True, kw_only=True):
    """One picture, sound or video."""

    kind: MediaKind
    format: str
    sha256: str
    """Of the bytes; of the address, if only that is known."""
    size: int | None = None
    """Bytes; None: only the address is known."""
    name: str = ""
    """What the row calls it."""
    url: str = ""
    """Sent as it is, in place of bytes."""
    place: MediaPlace | None = None

    def __str__(self) -> str:
        """Its mark, so that it can stand in a template like a text."""
        return f"{_MARK}{self.sha256}{_MARK}"

    @property
    def shown(self) -> str:
        """For readers, who do not see it."""
        size = "" if self.size is None else f", {self.size:,} bytes"
        name = f" {self.name}" if self.name else ""
        return f"[{NOUNS[self.kind]}{name}: {self.format or 'address'}{size}, {self.sha256[:12]}]"


def marked(value: Any) -> Any:
    """The same value with marks in the place of pictures: the same on every machine."""
    match value:
        case Media():
            return str(value)
        case dict():
            return {key: marked(item) for key, item in value.items()}
        case list():
            return list(map(marked, value))
    return value


def media_in(value: Any) -> Iterator[Media]:
    """All that a row's value holds."""
    if isinstance(value, Media):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from media_in(item)


def media_format(head: bytes) -> tuple[MediaKind, str] | None:
    """What bytes that begin so are; None for any other format."""
    return next(((kind, name) for pattern, kind, name in _FORMATS if re.match(pattern, head, re.DOTALL)), None)
