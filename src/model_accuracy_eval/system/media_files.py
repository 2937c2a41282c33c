"""Pictures, sounds and videos: their bytes, read from disk when they are asked for, and those in rows of texts."""

import base64
import binascii
import hashlib
import os
import re
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records.problem import HEAD_BYTES, KNOWN_FORMATS, Media, MediaKind, MediaPlace, media_format
from model_accuracy_eval.system.table_files import batches


class MediaFiles:
    """Keeps the columns of table files from which pictures were read."""

    def __init__(self) -> None:
        self._columns: dict[tuple[str, str], _Column] = {}

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
        key = place.file, str(place.path[0])
        if key not in self._columns:
            self._columns[key] = _Column(*key)
        value = self._columns[key].value(row)
        for step in place.path[1:]:
            value = value[step]
        return bytes(value)


class _Column:
    """One column of a table file. Its rows are copied to a file without a name, as far as they were asked for: a table
    can only be read forwards, and pictures are asked for in any order."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        self._batches = batches(path)
        self._copy = tempfile.TemporaryFile(prefix="column-")  # noqa: SIM115 - open as long as this object
        weakref.finalize(self, self._copy.close)
        self._ends = [0]
        """Where each row begins, and where the last one ends."""

    def value(self, row: int) -> Any:
        while row + 1 >= len(self._ends):
            batch = next(self._batches, None)
            if batch is None:
                raise BadData(f"{self._path} has fewer rows than when the run began.")
            for value in batch.column(self._name):
                self._ends.append(self._ends[-1] + self._copy.write(msgspec.msgpack.encode(value.as_py())))
            self._copy.flush()
        start, end = self._ends[row], self._ends[row + 1]
        return msgspec.msgpack.decode(os.pread(self._copy.fileno(), end - start, start))


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
