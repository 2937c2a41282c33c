"""Pictures, sounds and videos in rows of texts: data URIs wherever they stand; paths and addresses in named columns."""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Media, MediaKind, MediaPlace
from model_accuracy_eval.records.media import HEAD_BYTES, KNOWN_FORMATS, media_format

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
