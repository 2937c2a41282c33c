"""The rows of a Parquet or Arrow file, read by a process of their own: the library ends its process on damaged ones."""

import contextlib
import datetime
import decimal
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import arro3.io
import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import TableFile
from model_accuracy_eval.records.problem import HEAD_BYTES, Media, MediaKind, MediaPlace, media_format

ENDINGS = (".parquet", ".arrow")

_PACKAGE = str(Path(__file__).parents[2])
_CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from model_accuracy_eval.system import table_files
table_files.main()
"""
_LONGEST_REASON = 300
_PANIC = "called `Result::unwrap()` on an `Err` value: "
"""What the library says before the reason when it gives up a file."""
BATCH_ROWS = 32
"""Rows that are decoded together: few, because each may have pictures."""
LENGTH_BYTES = 8
"""In front of each frame: how long it is."""
_MEMORY = 4 << 30
_MEMORY_PER_BYTE = 8
"""Address space of the process for each byte of the file, beside the fixed part. Damaged lengths ask for any amount."""
_MEDIA_CODE = 1


def rows(name: str, content: bytes | TableFile) -> Iterator[dict[str, Any]]:
    """Row by row, so that pictures are never all here; a file that cannot be read is one sentence with its name."""
    if isinstance(content, TableFile):
        yield from _decoded(name, content.path)
        return
    with tempfile.NamedTemporaryFile(prefix="table-") as file:
        file.write(content)
        file.flush()
        yield from _decoded(name, file.name)


def _decoded(name: str, path: str) -> Iterator[dict[str, Any]]:
    """A sound file's frames end with an empty text; if the process dies, they end without one."""
    command = [sys.executable, "-I", "-B", "-c", _CODE, _PACKAGE, path]
    with (
        tempfile.TemporaryFile() as noise,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=noise) as process,  # noqa: S603
    ):
        assert process.stdout is not None
        decoder = msgspec.msgpack.Decoder(list[dict[str, Any]] | str, ext_hook=_from_ext)
        reason: str | None = None
        try:
            while reason is None and (length := process.stdout.read(LENGTH_BYTES)):
                body = process.stdout.read(int.from_bytes(length, "big"))
                if len(body) < int.from_bytes(length, "big"):
                    break
                frame = decoder.decode(body)
                if isinstance(frame, str):
                    reason = frame
                else:
                    yield from frame
        finally:
            process.kill()
        if reason is None:
            noise.seek(0)
            said = noise.read().decode("utf-8", "replace").partition("stack backtrace:")[0]
            reason = " ".join(said.split()) or f"its reader ended with {process.wait()}"
        if reason:
            reason = reason.rpartition(_PANIC)[2].rstrip(".")[:_LONGEST_REASON]
            raise BadData(f"{name} is no Parquet or Arrow file that could be read: {reason}.")


def _from_ext(code: int, data: memoryview) -> Media:
    if code != _MEDIA_CODE:
        raise msgspec.DecodeError(f"there is no extension {code}")
    return msgspec.msgpack.decode(data, type=Media)


# The process: `main` gets the file's path and writes frames to stdout: the rows of a batch, and at the end a text that
# says what is wrong with the file, or is empty.


def batches(path: str) -> Iterator[Any]:
    """The record batches of a file; errors are the library's own."""
    with Path(path).open("rb") as file:
        magic = file.read(6)
    if magic[:4] == b"PAR1":
        with contextlib.suppress(TypeError):  # the library's versions for Python 3.10 always take 1,024 rows
            return iter(arro3.io.read_parquet(path, batch_size=BATCH_ROWS))
        return iter(arro3.io.read_parquet(path))
    return iter(arro3.io.read_ipc(path) if magic == b"ARROW1" else arro3.io.read_ipc_stream(path))


def _read_rows(path: str) -> Iterator[list[dict[str, Any]]]:
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


def main() -> None:
    path = sys.argv[-1]
    limit = _MEMORY + _MEMORY_PER_BYTE * Path(path).stat().st_size
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), "wb")
    sentence = ""
    try:
        for rows in _read_rows(path):
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
