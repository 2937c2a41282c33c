"""What a data file is: stored bytes with a hash, which are unpacked as a stream that may have so many bytes."""

import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.system.local_files import PART, parts
from model_accuracy_eval.system.sizes import MOST_DATA, parse_size, show_size

_USUAL_MOST = "2GiB"

_HASH = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
_GIT_DIGITS = 40
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?size (\d+)\n")
_LONGEST_POINTER = 1024


def most_bytes(environment: Mapping[str, str]) -> int:
    return parse_size(environment.get(MOST_DATA) or _USUAL_MOST, MOST_DATA)


def is_hash(text: str) -> bool:
    """A SHA-256 or git's id of a file; nothing else becomes a part of a path."""
    return _HASH.fullmatch(text) is not None


def cached_place(cache: Path, found: str, name: str) -> Path:
    """Where a stored file with that hash is kept."""
    if not is_hash(found) or name in ("", ".", "..") or "/" in name:
        raise BadData(f"'{found[:80]}' and '{name[:80]}' are no hash and name that a file could be kept under.")
    return cache / found / name


def new_hash(like: str, size: int) -> "hashlib._Hash":
    """Of the kind of another one; git's begins with the length."""
    if len(like) == _GIT_DIGITS:
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    return hashlib.sha256()


def hash_of(path: Path, like: str = "") -> str:
    """Of the stored bytes, piece by piece: some files have gigabytes."""
    try:
        whole = new_hash(like, path.stat().st_size)
        for piece in parts(path):
            whole.update(piece)
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error}.") from error
    return whole.hexdigest()


def is_one(path: Path, expected: str, most: int) -> bool:
    """Whether the file has that hash, stored or unpacked: a copy may be packed in another way."""
    if hash_of(path, expected) == expected:
        return True
    if not is_packed(path):
        return False
    size = sum(map(len, unpacked(path, most))) if len(expected) == _GIT_DIGITS else 0
    whole = new_hash(expected, size)
    for piece in unpacked(path, most):
        whole.update(piece)
    return whole.hexdigest() == expected


def is_packed(path: Path) -> bool:
    return path.name.endswith(".gz")


def unpacked(path: Path, most: int) -> Iterator[bytes]:
    """The bytes that rows are read from, in pieces, of which nothing is kept here."""
    refuse_pointer(path, str(path))
    left = most
    try:
        if not is_packed(path):
            _check_size(path, path.stat().st_size, most)  # before any of it is kept
        with gzip.open(path) if is_packed(path) else path.open("rb") as stream:
            while piece := stream.read(PART):
                left -= len(piece)
                _check_size(path, most - left, most)
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise BadData(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _check_size(path: Path, size: int, most: int) -> None:
    if size > most:
        packed = f" unpacked ({show_size(path.stat().st_size)} as it lies here)" if is_packed(path) else ""
        raise BadData(
            f"{path} has more bytes{packed} than are left of what the files of one dataset may have: "
            f"{show_size(most)}. {MOST_DATA} names another bound, such as {MOST_DATA}=8GiB."
        )


def whole(path: Path, most: int) -> bytes:
    """All of it, held once; what is too long is never held."""
    if is_packed(path):
        for _ in unpacked(path, most):
            pass
    content = io.BytesIO()
    for piece in unpacked(path, most):
        content.write(piece)
    return content.getvalue()


def refuse_pointer(path: Path, called: str, kind: Callable[[str], Exception] = BadData) -> None:
    """A clone without Git LFS, and a host of raw files, have a few lines in the place of a large file."""
    if path.is_file() and path.stat().st_size < _LONGEST_POINTER and (found := _POINTER.match(path.read_bytes())):
        raise kind(
            f"{called} is a Git LFS pointer of {path.stat().st_size} bytes, not the file itself, which has "
            f"{show_size(int(found[1]))}: `git lfs pull` brings it into a clone."
        )
