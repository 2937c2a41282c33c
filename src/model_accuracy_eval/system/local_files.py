"""Files on this machine: data files of any size, packed with gzip or not, and task files."""

import contextlib
import fcntl
import gzip
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from model_accuracy_eval.errors import BadData, BadValue

PART = 1 << 20
"""Bytes of a file that are read at once."""


def parts(path: Path) -> Iterator[bytes]:
    """A file of any size in parts; none if it is not there."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), path.open("rb") as file:
        yield from iter(partial(file.read, PART), b"")


def read_lines(path: str) -> Iterator[bytes]:
    """The lines that are not blank, one after the other."""
    open_file = gzip.open if path.endswith(".gz") else open
    try:
        with open_file(path, "rb") as stream:
            for line in stream:
                if not line.isspace():
                    yield line
    except (OSError, EOFError) as error:
        raise BadData(f"{path} cannot be read: {error}.") from error


def read_whole(path: str) -> bytes:
    """All bytes of a file, unpacked."""
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if path.endswith(".gz") else data
    except (OSError, EOFError) as error:
        raise BadData(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


class TaskFiles:
    """Implements `tasks.importers.lm_eval_files.TaskFileReader`."""

    def read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            raise BadData(f"There is no task file '{os.path.normpath(path)}'.") from None
        except OSError as error:
            raise BadData(f"The task file '{path}' cannot be read: {error.strerror or error}.") from error

    def holds(self, path: str) -> bool:
        return Path(path).is_file()

    def under(self, folder: str, kind: Literal["yaml", "json"] = "yaml") -> list[str]:
        """The paths of all task files of a kind below the folder, sorted."""
        if not Path(folder).is_dir():
            raise BadData(f"There is no folder of tasks '{folder}'.")
        paths = (Path(base, name) for base, _, files in os.walk(folder) for name in files)
        suffix = ".yml" if kind == "yaml" else ".json"
        return sorted(str(path) for path in paths if path.suffix == suffix or (kind == "yaml" and "yaml" in path.name))


# A file, a zip archive or a folder as streams of unpacked bytes, recognised by content.


_GZIP, _ZIP, _ZSTANDARD = b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class PackedFile:
    """Implements `rescoring.shapes.file_rows.SavedFile`."""

    path: Path
    name: str

    def chunks(self) -> Iterator[bytes]:
        mark = self._mark()
        if mark == _ZSTANDARD:
            raise BadData(f"{self.name} is packed by Zstandard: unpack it first, with `zstd -d`.")
        with _readable(self.name), gzip.open(self.path) if mark.startswith(_GZIP) else self.path.open("rb") as stream:
            yield from _pieces(stream)

    def members(self) -> list["PackedFile | ArchiveMember"]:
        if self.path.is_dir():
            paths = [path for level in ("*", "*/*") for path in sorted(self.path.glob(level)) if path.is_file()]
            if not paths:
                raise BadData(f"The folder {self.name} has no files in it or in the folders in it.")
            return [PackedFile(path, path.relative_to(self.path).as_posix()) for path in paths]
        if self._mark() != _ZIP:
            return []
        with _readable(self.name), zipfile.ZipFile(self.path) as archive:
            return [ArchiveMember(self.path, entry.filename) for entry in archive.infolist() if not entry.is_dir()]

    def _mark(self) -> bytes:
        if self.path.is_dir():
            return b""
        if self.path.exists() and not self.path.is_file():
            raise BadData(
                f"{self.name} is a pipe or a device, but replies are read more than once: save them to a file first."
            )
        with _readable(self.name), self.path.open("rb") as stream:
            return stream.read(4)


@dataclass(frozen=True)
class ArchiveMember:
    """A file in a zip archive."""

    archive: Path
    name: str

    def chunks(self) -> Iterator[bytes]:
        where = f"{self.archive}, {self.name}"
        with _readable(where), zipfile.ZipFile(self.archive) as archive, archive.open(self.name) as stream:
            yield from _pieces(stream)

    def members(self) -> list["ArchiveMember"]:
        return []


def _pieces(stream: "IO[bytes] | gzip.GzipFile") -> Iterator[bytes]:
    return iter(partial(stream.read, PART), b"")


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BadData(f"{name} cannot be read: {reason}.") from error
    except NotImplementedError as error:
        raise BadData(
            f"{name} is packed in a way that cannot be read here ({error}); a log of inspect becomes readable by "
            "`inspect log convert --to json --output-dir FOLDER FILE`."
        ) from error


# A file of lines that several processes append to: whole lines, each of them once.


def append_lines(path: str, make: Callable[[bytes], bytes]) -> bytes:
    """Appends what `make` makes of the file's content; returns the new content.

    The file is locked from reading to writing, and what is new is written in one piece and on the disk when this
    returns. A last line that a crash cut off keeps a line of its own.
    """
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("a+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _keep_owner(file.fileno(), Path(path).parent)
            file.seek(0)
            before = file.read()
            added = make(before)
            if added and before and not before.endswith(b"\n"):
                added = b"\n" + added
            _write_all(file.fileno(), added)
            os.fsync(file.fileno())
    except OSError as error:
        raise BadValue(f"The history {path} cannot be written: {error.strerror or error}.") from error
    return before + added


def _keep_owner(descriptor: int, folder: Path) -> None:
    """What a container makes as root belongs to whom the folder belongs to, who could not remove it otherwise."""
    owner = folder.stat()
    if os.geteuid() == 0 and os.fstat(descriptor).st_uid == 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
