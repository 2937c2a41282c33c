"""A folder as a zip that is written as it goes: flat memory, no copy on disk, a sentence for what is left out."""

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

_PIECE = 1024 * 1024
_EARLIEST, _LATEST = 315_619_200, 4_354_646_400
"""What a zip can tell of times: from 1980 to 2107, less a day for the time zone."""
_FORBIDDEN = '":<>|*?\\'
"""What some file system refuses in a name: with it, the archive could not be unpacked there."""


class Drain(Protocol):
    """Where the bytes of the archive go, in order."""

    def write(self, data: bytes, /) -> int: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One file, or one empty folder, of the archive."""

    path: Path
    name: str
    """Relative, with slashes, as every system can unpack it."""
    is_folder: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What goes into the archive, and a sentence for everything that does not, or not under its own name."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


def survey(folder: str) -> Contents:
    """Every file below the folder, hidden ones included, and every empty folder; sorted."""
    root = Path(os.path.realpath(folder))
    notes: list[str] = []
    taken: set[str] = set()
    entries = []
    for path, is_folder in _walk(root, notes):
        relative = path.relative_to(root).as_posix()
        name = _free(_portable(relative), taken)
        taken.add(name)
        if name != relative:
            notes.append(f"{relative!a} is called '{name}' in the artifact: not every system has such names.")
        # A link is read where it leads to, which `_walk` found to be inside.
        entries.append(Entry(path=Path(os.path.realpath(path)), name=name, is_folder=is_folder))
    if all(entry.is_folder for entry in entries):
        raise PublishFailed(f"The folder {folder} has no file that could be uploaded.")
    return Contents(entries=tuple(entries), notes=tuple(notes))


def write(contents: Contents, drain: Drain) -> list[str]:
    """Deflates every entry into the drain; returns a sentence for every one that could not be read."""
    # Without a number zlib takes its level 6. A folder's strange time is no reason to fail.
    with zipfile.ZipFile(drain, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        return [note for entry in contents.entries if (note := _add(archive, entry))]


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """The file and its present size; a pipe or a link that took its place since is refused, never waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is no file any more")
        yield file, status.st_size


def pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """At most `size` bytes: a log that grows faster than it is read would never end."""
    while size > 0 and (piece := file.read(min(_PIECE, size))):
        size -= len(piece)
        yield piece


def unread(entry: Entry, error: OSError) -> str:
    return f"'{entry.name}' is not in the artifact, or not all of it: {error.strerror or error}."


def _add(archive: zipfile.ZipFile, entry: Entry) -> str | None:
    """None when all went well; what cannot be read is no reason to lose the rest."""
    try:
        if entry.is_folder:
            archive.write(entry.path, entry.name)
        else:
            _deflate(archive, entry)
    except OSError as error:
        return unread(entry, error)
    return None


def _deflate(archive: zipfile.ZipFile, entry: Entry) -> None:
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

    def unreadable(error: OSError) -> None:
        notes.append(f"{error.filename!a} is not in the artifact: {error.strerror}.")

    for base, folders, files in os.walk(root, onerror=unreadable):
        folders.sort()
        here = Path(base)
        if not folders and not files and here != root:
            yield here, True
        for name in sorted([*files, *(folder for folder in folders if (here / folder).is_symlink())]):
            trouble = _objection(here / name, root)
            if trouble is None:
                yield here / name, False
            else:
                notes.append(f"{(here / name).relative_to(root).as_posix()!a} is not in the artifact: it is {trouble}.")


def _objection(path: Path, root: Path) -> str | None:
    """Why a name stays out. A link that an adapter left here must not carry other files of the machine out."""
    target = Path(os.path.realpath(path))
    if path.is_symlink() and not target.is_relative_to(root):
        return "a link that leads out of the folder"
    if target.is_file():
        return None
    if path.is_symlink():
        return "a link to a folder" if target.is_dir() else "a link to nothing"
    return "no regular file" if target.exists() else "gone"


def _portable(relative: str) -> str:
    readable = relative.encode("utf-8", "replace").decode()
    return "".join("_" if letter in _FORBIDDEN or ord(letter) < 32 else letter for letter in readable)


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with a number when an earlier one became the same."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
