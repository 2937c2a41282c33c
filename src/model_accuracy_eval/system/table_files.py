"""The rows of Parquet and Arrow files."""

import contextlib
import datetime
import decimal
import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import arro3.io

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import TableFile
from model_accuracy_eval.records.problem import HEAD_BYTES, Media, MediaKind, MediaPlace, media_format
from model_accuracy_eval.system.sizes import MOST_DATA, show_size

ENDINGS = (".parquet", ".arrow")

_LONGEST_REASON = 300
_NUMBER_BYTES = 8
_PANIC = "called `Result::unwrap()` on an `Err` value: "
"""What the library says before the reason when it gives up a file."""
BATCH_ROWS = 32
"""Rows that are decoded together: few, because each may have pictures."""


def rows(name: str, content: bytes | TableFile) -> Iterator[dict[str, Any]]:
    """Row by row, so that pictures are never all here; a file that cannot be read is one sentence with its name."""
    most = left = content.most if isinstance(content, TableFile) else None
    with _file(content) as path, _readable(name):
        for row in _rows(path):
            if most is not None and left is not None and (left := left - _bytes_of(row)) < 0:
                raise BadData(
                    f"{name} has rows of more than {show_size(most)}, which is what is left of what the files of one "
                    f"dataset may have: {MOST_DATA} names another bound."
                )
            yield row


def _bytes_of(value: Any) -> int:
    """About as many as it takes when it is read; a picture is not."""
    match value:
        case str() | bytes():
            return len(value)
        case dict():
            return sum(map(_bytes_of, value.values()))
        case list():
            return sum(map(_bytes_of, value))
    return _NUMBER_BYTES


@contextmanager
def _file(content: bytes | TableFile) -> Iterator[str]:
    if isinstance(content, TableFile):
        yield content.path
        return
    with tempfile.NamedTemporaryFile(prefix="table-") as file:
        file.write(content)
        file.flush()
        yield file.name


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except BadData:
        raise
    except BaseException as error:
        # On damaged files the library panics, which is no `Exception`.
        if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise
        reason = " ".join(str(error).split()).rpartition(_PANIC)[2].rstrip(".")[:_LONGEST_REASON]
        raise BadData(
            f"{name} is no Parquet or Arrow file that could be read: {reason or type(error).__name__}."
        ) from error


def batches(path: str) -> Iterator[Any]:
    """The record batches of a file; errors are the library's own."""
    with Path(path).open("rb") as file:
        magic = file.read(6)
    if magic[:4] == b"PAR1":
        with contextlib.suppress(TypeError):  # the library's versions for Python 3.10 always take 1,024 rows
            return iter(arro3.io.read_parquet(path, batch_size=BATCH_ROWS))
        return iter(arro3.io.read_parquet(path))
    return iter(arro3.io.read_ipc(path) if magic == b"ARROW1" else arro3.io.read_ipc_stream(path))


def _rows(path: str) -> Iterator[dict[str, Any]]:
    """Each row as plain data, with references in the place of pictures."""
    first = 0
    for batch in batches(path):
        names = batch.column_names
        columns = [batch.column(place) for place in range(len(names))]
        for row, values in enumerate(zip(*columns, strict=True), start=first):
            yield {name: _plain(value.as_py(), path, row, (name,)) for name, value in zip(names, values, strict=True)}
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


def _stored(content: bytes | None, name: str | None, place: MediaPlace) -> Media | None:
    """What is no picture of a known format stays one without a format, so that no question is asked without it."""
    if content is None and not name:
        return None
    found = media_format((content or b"")[:HEAD_BYTES]) or ("image", "")
    return _reference(content or b"", found, name or "", place)


def _reference(content: bytes, found: tuple[MediaKind, str], name: str, place: MediaPlace) -> Media:
    return Media(
        kind=found[0],
        format=found[1],
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        name=name,
        place=place,
    )
