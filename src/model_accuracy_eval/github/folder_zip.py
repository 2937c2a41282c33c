"""A folder as a zip, by names that every system can unpack."""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.artifact_transfer import FORBIDDEN, PIECE_BYTES


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
    root = Path(folder).resolve()
    notes: list[str] = []
    taken: set[str] = set()
    entries = []
    for path, is_folder in _walk(root, notes):
        relative = path.relative_to(root).as_posix()
        name = _unused(_portable(relative), taken)
        taken.add(name)
        if name != relative:
            notes.append(f"{relative!a} is called '{name}' in the artifact: not every system allows such names.")
        entries.append(ZipMember(path=path, name=name, is_folder=is_folder))
    if all(entry.is_folder for entry in entries):
        raise PublishFailed(f"The folder {folder} has no file that could be uploaded.")
    return Contents(entries=tuple(entries), notes=tuple(notes))


def write_zip(contents: Contents, target: Any) -> list[str]:
    """Deflates every entry into the target; returns a sentence for every one that could not be read."""
    # Times that a zip file cannot hold are no reason to fail.
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        return [note for entry in contents.entries if (note := _add(archive, entry))]


def _add(archive: zipfile.ZipFile, entry: ZipMember) -> str | None:
    """A sentence if the entry could not be read, which must not lose the others."""
    try:
        if entry.is_folder:
            archive.write(entry.path, entry.name)
            return None
        with entry.path.open("rb") as file:
            info = zipfile.ZipInfo.from_file(entry.path, entry.name, strict_timestamps=False)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as member:
                for piece in pieces(file, info.file_size):
                    member.write(piece)
    except OSError as error:
        return unreadable(entry, error)
    return None


def pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """At most `size` bytes, in pieces: a log that grows faster than it is read would never end."""
    while size > 0 and (piece := file.read(min(PIECE_BYTES, size))):
        size -= len(piece)
        yield piece


def unreadable(entry: ZipMember, error: OSError) -> str:
    return f"'{entry.name}' is not in the artifact, or not all of it: {error.strerror or error}."


def _walk(root: Path, notes: list[str]) -> Iterator[tuple[Path, bool]]:
    """Files and empty folders, in the order of their names."""

    def note_error(error: OSError) -> None:
        notes.append(f"{error.filename!a} is not in the artifact: {error.strerror}.")

    for base, folders, files in os.walk(root, onerror=note_error):
        folders.sort()
        here = Path(base)
        if not folders and not files and here != root:
            yield here, True
        for path in sorted(here / name for name in (*files, *folders)):
            # A link that an adapter left here must not publish other files of the machine.
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                notes.append(f"{path.relative_to(root).as_posix()!a} is not in the artifact: it is a link or no file.")
            elif path.is_file():
                yield path, False


def _portable(relative: str) -> str:
    readable = relative.encode("utf-8", "replace").decode()
    return "".join("_" if letter in FORBIDDEN or ord(letter) < 32 else letter for letter in readable)


def _unused(name: str, taken: set[str]) -> str:
    """The name, or the name with a number when an earlier one became the same."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
