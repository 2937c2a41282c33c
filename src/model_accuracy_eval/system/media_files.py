"""The bytes of single pictures, sounds and videos, read from disk when they are asked for."""

import base64
import binascii
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Media, MediaKind, MediaPlace
from model_accuracy_eval.records.media import HEAD_BYTES, KNOWN_FORMATS, media_format
from model_accuracy_eval.system.table_decoder import batches

_STARTS = 4
"""How often a table is started anew before a column of it is copied."""
_ROOM = 2
"""Times the size of the table file that has to be free on the disk."""


class MediaFiles:
    """Keeps its place in each table file: most questions come in the order of the rows, so that these are read once."""

    def __init__(self) -> None:
        self._tables: dict[str, _Table] = {}

    def read(self, media: Media) -> bytes:
        """The bytes, which are those that the question was prepared with."""
        place = media.place
        if place is None:
            raise BadData(f"There are no bytes of {media.shown}, only an address.")
        try:
            content = Path(place.file).read_bytes() if place.row is None else self._cell(place, place.row)
        except OSError as error:
            raise BadData(f"{place.file} cannot be read: {error.strerror or error}.") from error
        if hashlib.sha256(content).hexdigest() != media.sha256:
            raise BadData(f"{place.file} is another file than when the run began: {media.shown} is not in it any more.")
        return content

    def _cell(self, place: MediaPlace, row: int) -> bytes:
        value = self._tables.setdefault(place.file, _Table(place.file)).value(row, str(place.path[0]))
        for step in place.path[1:]:
            value = value[step]
        return bytes(value)


class _Table:
    """A table file, read forwards; an earlier row than those at hand starts it anew.

    Where rows are asked for in another order, the column is copied once to a file of its own, in which each row's place
    is known: starting anew for every other picture takes minutes of some sets.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._batches: Iterator[Any] = iter(())
        self._batch: Any = None
        self._first = 0
        """Position of the batch's first row."""
        self._starts = 0
        self._copies: dict[str, ColumnCopy | None] = {}

    def value(self, row: int, column: str) -> Any:
        copy = self._copies.get(column)
        if copy is not None:
            return copy.value(row)
        if self._batch is None or row < self._first:
            self._starts += 1
            if self._starts > _STARTS and column not in self._copies:
                self._copies[column] = column_copy(self._path, column)
                self._batch = None
                return self.value(row, column)
            self._batches = batches(self._path)
            self._first, self._batch = 0, self._next()
        while row >= self._first + self._batch.num_rows:
            self._first += self._batch.num_rows
            self._batch = self._next()
        return self._batch.column(column)[row - self._first].as_py()

    def _next(self) -> Any:
        try:
            return next(self._batches)
        except StopIteration:
            raise _fewer_rows(self._path) from None


def _fewer_rows(path: str) -> BadData:
    return BadData(f"{path} has fewer rows than when the run began.")


class ColumnCopy:
    """One column of a table file, row after row, in a file without a name that goes with this process."""

    def __init__(self, path: str, column: str, file: IO[bytes]) -> None:
        """Reads the table once; an error of the disk ends it."""
        self._path = path
        self._file = file
        weakref.finalize(self, file.close)
        self._ends = array("Q", [0])
        """Where each row begins, and where the last one ends."""
        for batch in batches(path):
            for value in batch.column(column):
                self._ends.append(self._ends[-1] + file.write(msgspec.msgpack.encode(value.as_py())))
        file.flush()

    def value(self, row: int) -> Any:
        if row + 1 >= len(self._ends):
            raise _fewer_rows(self._path)
        start, end = self._ends[row], self._ends[row + 1]
        return msgspec.msgpack.decode(os.pread(self._file.fileno(), end - start, start))


def column_copy(path: str, column: str) -> ColumnCopy | None:
    """None where the disk has no room for it."""
    try:
        return ColumnCopy(path, column, tempfile.TemporaryFile(prefix="column-")) if _has_room(path) else None
    except OSError:
        return None


def _has_room(path: str) -> bool:
    return shutil.disk_usage(tempfile.gettempdir()).free >= _ROOM * Path(path).stat().st_size


# Pictures, sounds and videos in rows of texts: data URIs wherever they stand; paths and addresses in named columns.


_DATA_URI = re.compile(r"data:(?:image|audio|video)/[\w.+-]+;base64,")
_ADDRESS = re.compile(r"https?://\S+")
_ENDINGS: tuple[tuple[MediaKind, tuple[str, ...]], ...] = (
    ("audio", (".wav", ".mp3", ".flac", ".ogg")),
    ("video", (".mp4", ".webm", ".mov")),
)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{200,}={0,2}")


def with_data_uris(where: str, row: dict[str, Any]) -> dict[str, Any]:
    """The row with references where it has data URIs. Their texts stay in memory: they are for small files."""
    return {name: _decoded(f"{where}, '{name}'", value) for name, value in row.items()}


def _decoded(where: str, value: Any) -> Any:
    if isinstance(value, str):
        return _from_uri(where, value) if value.startswith("data:") and _DATA_URI.match(value) else value
    if isinstance(value, list):
        return [_decoded(where, item) for item in value]
    return {key: _decoded(where, item) for key, item in value.items()} if isinstance(value, dict) else value


def with_pictures(where: str, row: dict[str, Any], columns: Sequence[str], folder: Path) -> dict[str, Any]:
    """The row with references in these columns; paths are beside the data file."""
    return {**row, **{name: _named(f"{where}, '{name}'", row[name], folder) for name in columns if name in row}}


def _named(where: str, value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_named(where, item, folder) for item in value]
    if value is None or value == "" or isinstance(value, Media):
        return value or None
    if not isinstance(value, str):
        raise BadData(f"{where}: a picture is a path, an address, a data URI or Base64, but this is {value!r}.")
    if _ADDRESS.fullmatch(value):
        kind: MediaKind = next((kind for kind, endings in _ENDINGS if value.lower().endswith(endings)), "image")
        return Media(kind=kind, format="", sha256=hashlib.sha256(value.encode()).hexdigest(), url=value)
    if _BASE64.fullmatch(value):
        return _from_uri(where, f"data:image/unknown;base64,{value}")
    return _from_file(where, value, folder / value)


def _from_file(where: str, name: str, path: Path) -> Media:
    whole, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            file.seek(0)
            while piece := file.read(1 << 20):
                whole.update(piece)
                size += len(piece)
    except OSError as error:
        raise BadData(f"{where}: the file {path} cannot be read: {error.strerror or error}.") from error
    kind, form = media_format(head) or ("image", "")
    place = MediaPlace(file=str(path))
    return Media(kind=kind, format=form, sha256=whole.hexdigest(), size=size, name=name, place=place)


def _from_uri(where: str, uri: str) -> Media:
    try:
        content = base64.b64decode("".join(uri.partition(",")[2].split()), validate=True)
    except binascii.Error as error:
        raise BadData(f"{where}: this is no Base64: {error}.") from error
    found = media_format(content[:HEAD_BYTES])
    if found is None:
        raise BadData(
            f"{where}: the {len(content):,} bytes of the data URI are in none of the formats that are known by how "
            f"they begin: {KNOWN_FORMATS}."
        )
    kind, form = found
    coded = base64.b64encode(content).decode("ascii")
    return Media(
        kind=kind, format=form, sha256=hashlib.sha256(content).hexdigest(), size=len(content),
        url=f"data:{kind}/{form};base64,{coded}",
    )  # fmt: skip
