"""The process that reads a table file, because the library ends its process on some damaged ones.

`main` gets the file's path and writes frames to stdout: the rows of a batch, and at the end a text that says what is
wrong with the file, or is empty.
"""

import contextlib
import datetime
import decimal
import hashlib
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import arro3.io
import msgspec

from model_accuracy_eval.records.media import HEAD_BYTES, Media, MediaKind, MediaPlace, media_format

BATCH_ROWS = 32
"""Rows that are decoded together: few, because each may have pictures."""
LENGTH_BYTES = 8
"""In front of each frame: how long it is."""
_MEMORY = 4 << 30
_MEMORY_PER_BYTE = 8
"""Address space of the process for each byte of the file, beside the fixed part. Damaged lengths ask for any amount."""
_MEDIA_CODE = 1


def batches(path: str) -> Iterator[Any]:
    """The record batches of a file; errors are the library's own."""
    with Path(path).open("rb") as file:
        magic = file.read(6)
    if magic[:4] == b"PAR1":
        with contextlib.suppress(TypeError):  # the library's versions for Python 3.10 always take 1,024 rows
            return iter(arro3.io.read_parquet(path, batch_size=BATCH_ROWS))
        return iter(arro3.io.read_parquet(path))
    return iter(arro3.io.read_ipc(path) if magic == b"ARROW1" else arro3.io.read_ipc_stream(path))


def read_rows(path: str) -> Iterator[list[dict[str, Any]]]:
    """The rows of each batch as plain data, with references in the place of pictures."""
    first = 0
    for batch in batches(path):
        names = batch.column_names
        columns = [batch.column(place) for place in range(len(names))]
        yield [
            {name: _plain(value.as_py(), path, row, (name,)) for name, value in zip(names, values, strict=True)}
            for row, values in enumerate(zip(*columns, strict=True), start=first)
        ]
        first += batch.num_rows


def _plain(value: Any, file: str, row: int, path: tuple[str | int, ...]) -> Any:
    """What JSON has, in its words; a picture is a struct of bytes and path, as the hubs' own library stores it."""
    match value:
        case {"bytes": content, "path": name} if len(value) == 2 and isinstance(content, bytes | None):
            return _stored(content, name, MediaPlace(file=file, row=row, path=(*path, "bytes")))
        case bytes():
            found = media_format(value[:HEAD_BYTES])
            return _reference(value, found, "", MediaPlace(file=file, row=row, path=path)) if found else value
        case dict():
            return {key: _plain(item, file, row, (*path, key)) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, file, row, (*path, place)) for place, item in enumerate(value)]
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
    return str(value) if isinstance(value, datetime.timedelta | decimal.Decimal) else value


def _stored(content: bytes | None, name: str | None, place: MediaPlace) -> msgspec.msgpack.Ext | None:
    """What is no picture of a known format stays one without a format, so that no question is asked without it."""
    if content is None and not name:
        return None
    found = media_format((content or b"")[:HEAD_BYTES]) or ("image", "")
    return _reference(content or b"", found, name or "", place)


def _reference(content: bytes, found: tuple[MediaKind, str], name: str, place: MediaPlace) -> msgspec.msgpack.Ext:
    media = Media(
        kind=found[0],
        format=found[1],
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        name=name,
        place=place,
    )
    return msgspec.msgpack.Ext(_MEDIA_CODE, msgspec.msgpack.encode(media))


def from_ext(code: int, data: memoryview) -> Media:
    if code != _MEDIA_CODE:
        raise msgspec.DecodeError(f"there is no extension {code}")
    return msgspec.msgpack.decode(data, type=Media)


def main() -> None:
    path = sys.argv[-1]
    limit = _MEMORY + _MEMORY_PER_BYTE * Path(path).stat().st_size
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), "wb")
    sentence = ""
    try:
        for rows in read_rows(path):
            _send(out, msgspec.msgpack.encode(rows))
    except BrokenPipeError:  # nobody wants the rest
        return
    except BaseException as error:  # noqa: BLE001 - a panic of the library is no Exception
        sentence = " ".join(str(error).split()) or type(error).__name__
    _send(out, msgspec.msgpack.encode(sentence))
    out.close()


def _send(out: BinaryIO, frame: bytes) -> None:
    out.write(len(frame).to_bytes(LENGTH_BYTES, "big"))
    out.write(frame)
