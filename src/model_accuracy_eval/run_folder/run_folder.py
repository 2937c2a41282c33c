"""The folder of a run: journals are appended so that they survive a kill, other files are written in one step.

What was appended here is checked when it is read again, so that no other program can change it in between.
"""

import contextlib
import fcntl
import hashlib
import io
import mmap
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from model_accuracy_eval.errors import BadReuse, BadValue, NoHonestScore, PublishFailed
from model_accuracy_eval.run_folder.run_archive import FolderArchive, check_is_there
from model_accuracy_eval.run_folder.runfile import RUN_FILE

# What this process has written to a file, line by line, so that a change by another shows when it is read again.


class LineChain:
    """A hash for every line, over that line and all before it. It stays in memory, where nobody else can write."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._hashes: list[bytes] = []

    def add(self, data: bytes) -> None:
        """Whole lines, in the order in which they are written."""
        for line in io.BytesIO(data):
            self._hashes.append(self._hash(line, self._hashes[-1] if self._hashes else b""))

    def checked(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines as they are read, up to the first that was not written so; lines that came after this call are read
        too."""
        expected, before, number = len(self._hashes), b"", 0
        for number, line in enumerate(lines, start=1):
            before = self._hash(line, before)
            if self._hashes[number - 1 : number] != [before]:
                raise self._error(f"line {number} is not what this run wrote")
            yield line
        if number < expected:
            raise self._error(f"{number} of the {expected} lines that this run wrote are left")

    def _hash(self, line: bytes, before: bytes) -> bytes:
        return hashlib.blake2b(line, key=before, digest_size=16).digest()

    def _error(self, reason: str) -> NoHonestScore:
        sentence = (
            f"{self._where} was changed by another program while the run was under way: {reason}. So there is no "
            "verdict; find out who can write there, and run again."
        )
        return NoHonestScore(sentence, stage="score")


class RunFolder(FolderArchive):
    """Implements `ports.Store`. The folder is locked while it is open: two runs must not write one journal."""

    _failure = PublishFailed

    def __init__(self, root: str, *, private: bool = False) -> None:
        self._root = Path(root).absolute()
        super().__init__(str(self._root))
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            if private:
                self._root.chmod(0o700)
            self._lock = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise BadValue(f"The folder {self._root} for the run cannot be created: {error.strerror}.") from error
        try:
            # Freed by the system when this process ends, however it ends.
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise BadReuse(f"The run {self._root} is under way in another process; wait for it or stop it.") from error
        self._appending: dict[str, int] = {}
        self._chains: dict[str, LineChain] = {}

    def path(self, name: str) -> str:
        target = self._root / name
        with self._writing(name):
            target.parent.mkdir(parents=True, exist_ok=True)
        return str(target)

    def append(self, name: str, data: bytes) -> None:
        """Unbuffered: what the kernel has taken survives a kill of this process."""
        with self._writing(name):
            if name not in self._appending:
                self._appending[name] = self._open_for_append(name)
            # Before it is written, so that no reader in another thread can be ahead of the chain.
            self._chains[name].add(data)
            descriptor = self._appending[name]
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._close(name)  # what is left of a line goes when the file is opened again
            raise PublishFailed(f"{self._root / name} cannot be written: {error.strerror or error}.") from error

    def _open_for_append(self, name: str) -> int:
        path = self.path(name)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        os.ftruncate(descriptor, _length_of_whole_lines(path))
        chain = self._chains[name] = LineChain(path)
        with Path(path).open("rb") as file:
            for line in file:
                chain.add(line)
        return descriptor

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        """Writes a temporary file, then renames it, so that the target is never incomplete."""
        with self._writing(name):
            self._close(name)  # else later appends would go to the file that is replaced
            target = Path(self.path(name))
            temporary = target.with_name(f".{target.name}.{os.getpid()}")
            try:
                with temporary.open("wb") as file:
                    file.writelines([data] if isinstance(data, bytes) else data)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)

    def lines_at(self, name: str, places: Iterable[int]) -> Iterator[bytes]:
        with self._opened(name) as file:
            if file is None:
                return
            for place in places:
                file.seek(place)
                yield file.readline()

    def lines(self, name: str) -> Iterator[bytes]:
        chain, lines = self._chains.get(name), super().lines(name)
        yield from chain.checked(lines) if chain else lines

    def remove(self, name: str) -> None:
        with self._writing(name):
            self._close(name)
            (self._root / name).unlink(missing_ok=True)

    def close(self) -> None:
        for name in list(self._appending):
            self._close(name)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _close(self, name: str) -> None:
        self._chains.pop(name, None)
        if name in self._appending:
            os.close(self._appending.pop(name))


def reopened(folder: str) -> RunFolder:
    """The folder of an earlier run."""
    check_is_there(folder)
    path = Path(folder)
    if not (path / RUN_FILE).is_file():
        raise BadReuse(f"'{folder}' is not the folder of a run: it has no run.json.")
    # `outputs/latest` is the run that it names: what is written there has the run's own name in it.
    return RunFolder(str(path.parent / path.readlink() if path.is_symlink() else path))


def _length_of_whole_lines(path: str) -> int:
    """The size without a last line that is incomplete after a crash."""
    if not Path(path).stat().st_size:
        return 0
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.rfind(b"\n") + 1


# `outputs/latest`: a name for the run that began last, so that nobody has to copy its id.


LATEST = "latest"


def point_to(folder: str) -> None:
    """Makes `latest` beside the folder a link to it.

    A run does not fail for it, and what somebody else called `latest` stays.
    """
    target = Path(folder)
    link = target.with_name(LATEST)
    if link.is_dir() and not link.is_symlink():
        return
    temporary = target.with_name(f".{LATEST}.{os.getpid()}")
    with contextlib.suppress(OSError):
        try:
            temporary.symlink_to(target.name, target_is_directory=True)
            # In one step: a run that begins at the same moment finds a whole link, its own or this one.
            temporary.replace(link)
        finally:
            temporary.unlink(missing_ok=True)


# Finds the runs below a folder, their zips included.


def find_runs(place: str) -> Iterator[str]:
    """The paths of all runs in a folder, however deep, sorted; or of the one run that `place` is.

    Links to folders are not followed: `latest` names a run that is there anyway.
    """
    if not Path(place).exists():
        raise BadReuse(f"There is no '{place}': give folders of runs, zips of them, or history files (.jsonl).")
    if not Path(place).is_dir():
        yield place
        return
    for folder, folders, files in os.walk(place):
        if RUN_FILE in files:
            folders.clear()  # a run has no runs inside
            yield folder
            continue
        folders.sort()
        yield from (path for name in sorted(files) if (path := str(Path(folder, name))) and _is_zip_of_run(path))


def _is_zip_of_run(path: str) -> bool:
    """A zip of something else is none of ours; one that cannot be opened is told by whoever reads it."""
    if not path.endswith(".zip"):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(Path(name).name == RUN_FILE for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return True
