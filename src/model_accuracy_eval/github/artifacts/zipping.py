"""Streams a folder as a zip file: constant memory, no copy on disk, and a sentence for every file that is left out."""

import contextlib
import os
import stat
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from model_accuracy_eval.errors import PublishFailed

_PIECE_BYTES = 1024 * 1024
_EARLIEST, _LATEST = 315_619_200, 4_354_646_400
"""The times that a zip file can hold: from 1980 to 2107, less a day for the time zone."""
_FORBIDDEN = '":<>|*?\\'
"""Characters that some file system refuses in a name, so that the archive could not be unpacked there."""


class ZipTarget(Protocol):
    """A file to write the archive to."""

    def write(self, data: bytes, /) -> int: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ZipMember:
    """One file, or one empty folder, of the archive."""

    path: Path
    name: str
    """Relative and with slashes, so that every system can unpack it."""
    is_folder: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """The members of the archive, and a sentence for every file that is left out or gets another name."""

    entries: tuple[ZipMember, ...]
    notes: tuple[str, ...]


def list_contents(folder: str) -> Contents:
    """Every file below the folder, hidden ones included, and every empty folder; sorted."""
    root = Path(os.path.realpath(folder))
    notes: list[str] = []
    taken: set[str] = set()
    entries = []
    for path, is_folder in _walk(root, notes):
        relative = path.relative_to(root).as_posix()
        name = _unused(_portable(relative), taken)
        taken.add(name)
        if name != relative:
            notes.append(f"{relative!a} is called '{name}' in the artifact: not every system allows such names.")
        # A link is replaced by its target, which `_walk` has checked to be inside.
        entries.append(ZipMember(path=Path(os.path.realpath(path)), name=name, is_folder=is_folder))
    if all(entry.is_folder for entry in entries):
        raise PublishFailed(f"The folder {folder} has no file that could be uploaded.")
    return Contents(entries=tuple(entries), notes=tuple(notes))


def write(contents: Contents, target: ZipTarget) -> list[str]:
    """Deflates every entry into the target; returns a sentence for every one that could not be read."""
    # Times of folders that a zip file cannot hold are no reason to fail.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        return [note for entry in contents.entries if (note := _add(archive, entry))]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """The file and its present size. A pipe or a link that has replaced it is refused, and not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a file any more")
        yield file, status.st_size


def pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """At most `size` bytes, in pieces: a log that grows faster than it is read would never end."""
    while size > 0 and (piece := file.read(min(_PIECE_BYTES, size))):
        size -= len(piece)
        yield piece


def unreadable(entry: ZipMember, error: OSError) -> str:
    return f"'{entry.name}' is not in the artifact, or not all of it: {error.strerror or error}."


def _add(archive: zipfile.ZipFile, entry: ZipMember) -> str | None:
    """A sentence if the entry could not be read, which must not lose the others."""
    try:
        if entry.is_folder:
            archive.write(entry.path, entry.name)
        else:
            _deflate(archive, entry)
    except OSError as error:
        return unreadable(entry, error)
    return None


def _deflate(archive: zipfile.ZipFile, entry: ZipMember) -> None:
    with opened(entry.path) as (file, size):
        changed = min(max(os.fstat(file.fileno()).st_mtime, _EARLIEST), _LATEST)
        info = zipfile.ZipInfo(entry.name, time.localtime(changed)[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (stat.S_IFREG | 0o644) << 16
        info.file_size = size
        with archive.open(info, "w") as member:
            for piece in pieces(file, size):
                member.write(piece)


def _walk(root: Path, notes: list[str]) -> Iterator[tuple[Path, bool]]:
    """Files and empty folders, in the order of their names."""

    def note_error(error: OSError) -> None:
        notes.append(f"{error.filename!a} is not in the artifact: {error.strerror}.")

    for base, folders, files in os.walk(root, onerror=note_error):
        folders.sort()
        here = Path(base)
        if not folders and not files and here != root:
            yield here, True
        for name in sorted([*files, *(folder for folder in folders if (here / folder).is_symlink())]):
            problem = _problem(here / name, root)
            if problem is None:
                yield here / name, False
            else:
                notes.append(f"{(here / name).relative_to(root).as_posix()!a} is not in the artifact: it is {problem}.")


def _problem(path: Path, root: Path) -> str | None:
    """Why a path is left out. A link that an adapter left here must not publish other files of the machine."""
    target = Path(os.path.realpath(path))
    if path.is_symlink() and not target.is_relative_to(root):
        return "a link that leads out of the folder"
    if target.is_file():
        return None
    if path.is_symlink():
        return "a link to a folder" if target.is_dir() else "a link to nothing"
    return "not a regular file" if target.exists() else "gone"


def _portable(relative: str) -> str:
    readable = relative.encode("utf-8", "replace").decode()
    return "".join("_" if letter in _FORBIDDEN or ord(letter) < 32 else letter for letter in readable)


def _unused(name: str, taken: set[str]) -> str:
    """The name, or the name with a number when an earlier one became the same."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
