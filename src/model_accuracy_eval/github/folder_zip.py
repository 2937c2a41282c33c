"""A folder as a zip, by names that every system can unpack; nothing is copied on disk, and one piece is in memory."""

import io
import itertools
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from model_accuracy_eval.errors import PublishFailed

PIECE_BYTES = 8 * 1024 * 1024
_FORBIDDEN = '":<>|*?\\'
"""Characters that some file system refuses in a name, so that the archive could not be unpacked there."""


def members(folder: str, notes: list[str]) -> dict[str, Path]:
    """Name in the archive → file or empty folder, of all below the folder, hidden ones included, sorted.

    `notes` gets a sentence for everything that is left out or gets another name.
    """
    root = Path(folder).resolve()
    found: dict[str, Path] = {}
    for path in _walk(root, notes):
        relative = path.relative_to(root).as_posix()
        readable = relative.encode("utf-8", "replace").decode()
        portable = "".join("_" if letter in _FORBIDDEN or ord(letter) < 32 else letter for letter in readable)
        numbered = (f"{portable}_{number}" for number in itertools.count(2))
        name = next(each for each in itertools.chain([portable], numbered) if each not in found)
        found[name] = path
        if name != relative:
            notes.append(f"{relative!a} is called '{name}' in the artifact: not every system allows such names.")
    if not any(path.is_file() for path in found.values()):
        raise PublishFailed(f"The folder {folder} has no file that could be uploaded.")
    return found


def zipped(files: Mapping[str, Path], notes: list[str]) -> Iterator[bytes]:
    """The archive, in pieces of one size and a last one. `notes` gets a sentence for every file that cannot be read,
    which does not lose the others."""
    unsent = _Unsent()
    # Times that a zip file cannot hold are no reason to fail.
    with zipfile.ZipFile(unsent, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for name, path in files.items():
            try:
                if path.is_dir():
                    archive.write(path, name)
                    continue
                info = zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
                info.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as file, archive.open(info, "w") as member:
                    for piece in pieces(file, info.file_size):
                        member.write(piece)
                        yield from unsent.full_pieces()
            except OSError as error:
                notes.append(unreadable(name, error))
    yield from unsent.full_pieces()
    if unsent.data:
        yield bytes(unsent.data)


class _Unsent(io.RawIOBase):
    """A file to write into: what of the archive is written and not taken yet."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: Any, /) -> int:
        self.data += data
        return len(data)

    def full_pieces(self) -> Iterator[bytes]:
        while len(self.data) >= PIECE_BYTES:
            yield bytes(memoryview(self.data)[:PIECE_BYTES])
            del self.data[:PIECE_BYTES]


def pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """At most `size` bytes, in pieces: a log that grows faster than it is read would never end."""
    while size > 0 and (piece := file.read(min(PIECE_BYTES, size))):
        size -= len(piece)
        yield piece


def unreadable(name: str, error: OSError) -> str:
    return f"'{name}' is not in the artifact, or not all of it: {error.strerror or error}."


def _walk(root: Path, notes: list[str]) -> Iterator[Path]:
    """Files and empty folders, in the order of their names."""
    told = "{0.filename!a} is not in the artifact: {0.strerror}.".format
    for base, folders, files in os.walk(root, onerror=lambda error: notes.append(told(error))):
        folders.sort()
        here = Path(base)
        if not folders and not files and here != root:
            yield here
        for path in sorted(here / name for name in (*files, *folders)):
            # A link that an adapter left here must not publish other files of the machine.
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                notes.append(f"{path.relative_to(root).as_posix()!a} is not in the artifact: it is a link or no file.")
            elif path.is_file():
                yield path
