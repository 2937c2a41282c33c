"""Reads the files of a run that has ended: its folder, or a zip file, as artifacts are downloaded."""

import difflib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO

from model_accuracy_eval.errors import BadReuse, EvalError
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records.plan import is_artifact
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.system.local_files import PART

_LARGEST = 4 << 30
"""Bytes of one unpacked file: a zip file from elsewhere may claim any size."""


class _Files:
    """Reads the files of a run. One that is not there has nothing in it: a shard may have no question of a dataset, and
    so no replies."""

    def _opened(self, name: str) -> AbstractContextManager[IO[bytes] | None]:
        raise NotImplementedError

    def read(self, name: str) -> bytes | None:
        with self._opened(name) as file:
            return None if file is None else file.read()

    def parts(self, name: str) -> Iterator[bytes]:
        with self._opened(name) as file:
            yield from () if file is None else iter(partial(file.read, PART), b"")

    def lines(self, name: str) -> Iterator[bytes]:
        with self._opened(name) as file:
            yield from (line for line in file or () if line.endswith(b"\n"))


class FolderArchive(_Files):
    """Implements `ports.Archive`. Nothing is locked or created: the folder is only read."""

    _failure: type[EvalError] = BadReuse

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") or "/"

    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in Path(self.root).rglob("*") if path.is_file())

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes] | None]:
        path = Path(self.root) / name
        try:
            with path.open("rb") if path.exists() else nullcontext() as file:
                yield file
        except OSError as error:
            raise self._failure(f"{path} cannot be read: {error.strerror or error}.") from error


class ZipArchive(_Files):
    """Implements `ports.Archive` with a zip file. The run may be at its top or in a folder of it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._checked: set[str] = set()
        with self._zip() as archive:
            names = archive.namelist()
        runs = [name for name in names if Path(name).name == RUN_FILE]
        if len(runs) > 1:
            raise BadReuse(f"'{root}' holds {len(runs)} runs, and only one can be read: unpack it.")
        inner = next((name for name in names if name.endswith(".zip")), None)
        if not runs and inner:
            sentence = f"'{root}' holds no run, but another zip ({inner}): unpack it, and give that one."
            raise BadReuse(sentence)
        self._prefix = runs[0].removesuffix(RUN_FILE) if runs else ""

    def names(self) -> list[str]:
        with self._zip() as archive:
            files = [name for name in archive.namelist() if not name.endswith("/")]
        return sorted(name.removeprefix(self._prefix) for name in files if name.startswith(self._prefix))

    def lines(self, name: str) -> Iterator[bytes]:
        """A file's checksum is known at its end: unchecked, damage would be taken for a mistake in a line."""
        if name not in self._checked:
            for _ in self.parts(name):
                pass
            self._checked.add(name)
        return super().lines(name)

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes] | None]:
        with self._zip() as archive:
            place = self._prefix + name
            size = archive.getinfo(place).file_size if place in archive.namelist() else None
            if size is not None and size > _LARGEST:
                raise BadReuse(f"{name} in '{self.root}' is {size} bytes; {_LARGEST} is the most.")
            with nullcontext() if size is None else archive.open(place) as file:
                yield file

    @contextmanager
    def _zip(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.root) as archive:
                yield archive
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            raise BadReuse(
                f"'{self.root}' cannot be read as a zip of a run: {str(error).rstrip('.')}. It may have been cut off "
                "or damaged: download it again."
            ) from error


def open_archive(path: str) -> Archive:
    """A folder, else a zip file."""
    if is_artifact(path) and not Path(path).exists():
        raise BadReuse(f"'{path}' is an artifact, which the action downloads: here, give a path (gh run download).")
    if Path(path).is_dir():
        return FolderArchive(path)
    check_is_there(path)
    return ZipArchive(path)


def check_is_there(path: str) -> None:
    """Refuses a path where nothing is, and says what lies beside it under a similar name."""
    if Path(path).exists():
        return
    folder = Path(path).parent
    near = difflib.get_close_matches(Path(path).name, [each.name for each in folder.glob("*")], n=1)
    hint = f"; did you mean {folder / near[0]}?" if near else "."
    raise BadReuse(f"There is no run at '{path}': neither a folder nor a zip of one{hint}")
