"""Reads the files of a run that has ended: its folder, or a zip file, as artifacts are downloaded."""

import contextlib
import difflib
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records.plan import is_artifact
from model_accuracy_eval.system import local_files
from model_accuracy_eval.system.local_files import PART

_RUN_FILE = "run.json"
_LARGEST = 4 << 30
"""Bytes of one unpacked file: a zip file from elsewhere may claim any size."""


class FolderArchive:
    """Implements `ports.Archive`. Nothing is locked or created: the folder is only read."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") or "/"

    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in Path(self.root).rglob("*") if path.is_file())

    def read(self, name: str) -> bytes | None:
        with self._reading(name):
            return (Path(self.root) / name).read_bytes()
        return None

    def parts(self, name: str) -> Iterator[bytes]:
        with self._reading(name):
            yield from local_files.parts(Path(self.root) / name)

    def lines(self, name: str) -> Iterator[bytes]:
        with self._reading(name), (Path(self.root) / name).open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """A file that is not there has nothing in it: a shard may have no question of a dataset, and so no replies."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise BadReuse(f"{self.root}/{name} cannot be read: {error.strerror or error}.") from error


class ZipArchive:
    """Implements `ports.Archive` with a zip file. The run may be at its top or in a folder of it."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._checked: set[str] = set()
        with self._reading(), zipfile.ZipFile(root) as archive:
            names = archive.namelist()
        runs = [name for name in names if Path(name).name == _RUN_FILE]
        if len(runs) > 1:
            raise BadReuse(f"'{root}' holds {len(runs)} runs, and only one can be read: unpack it.")
        inner = next((name for name in names if name.endswith(".zip")), None)
        if not runs and inner:
            sentence = f"'{root}' holds no run, but another zip ({inner}): unpack it, and give that one."
            raise BadReuse(sentence)
        self._prefix = runs[0].removesuffix(_RUN_FILE) if runs else ""

    def names(self) -> list[str]:
        with self._reading(), zipfile.ZipFile(self.root) as archive:
            files = [name for name in archive.namelist() if not name.endswith("/")]
        return sorted(name.removeprefix(self._prefix) for name in files if name.startswith(self._prefix))

    def read(self, name: str) -> bytes | None:
        with self._reading(), zipfile.ZipFile(self.root) as archive, contextlib.suppress(KeyError):
            entry = archive.getinfo(self._prefix + name)
            if entry.file_size > _LARGEST:
                raise BadReuse(f"{name} in '{self.root}' is {entry.file_size} bytes; {_LARGEST} is the most.")
            return archive.read(entry)
        return None

    def parts(self, name: str) -> Iterator[bytes]:
        with (
            self._reading(),
            zipfile.ZipFile(self.root) as archive,
            contextlib.suppress(KeyError),
            archive.open(self._prefix + name) as file,
        ):
            yield from iter(partial(file.read, PART), b"")

    def lines(self, name: str) -> Iterator[bytes]:
        self._check(name)
        with (
            self._reading(),
            zipfile.ZipFile(self.root) as archive,
            contextlib.suppress(KeyError),
            archive.open(self._prefix + name) as file,
        ):
            yield from (line for line in file if line.endswith(b"\n"))

    def _check(self, name: str) -> None:
        """A file's checksum is known at its end: without this, damage would be taken for a mistake in a line."""
        if name not in self._checked:
            for _ in self.parts(name):
                pass
            self._checked.add(name)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
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
