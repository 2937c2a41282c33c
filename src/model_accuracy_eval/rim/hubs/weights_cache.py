"""The folder that a runner keeps between runs: one place for each commit of each model.

<folder>/<hub>/<org>/<name>/<commit>/          the files, read-only; nothing else is ever put there
                           <commit>.partial/   what was begun
                           <commit>.json       says that all of it was verified, and how the files looked then
                           <commit>.lock       held while somebody fetches; the kernel frees it when he dies
"""

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.hubs.download import hash_of, promised
from model_accuracy_eval.rim.hubs.sizes import show_apart
from model_accuracy_eval.rim.hubs.weights_records import WeightFile, Weights

_NAP = 0.1


class Place:
    """Where one commit lies."""

    def __init__(self, weights: Weights, folder: Path) -> None:
        self._weights = weights
        self.folder = folder
        commit = str(weights.commit)
        base = folder / weights.reference.source / weights.reference.name
        self.files = base / commit
        self._partials = base / f"{commit}.partial"
        self._marker = base / f"{commit}.json"
        self._lock = base / f"{commit}.lock"

    def target(self, file: WeightFile) -> Path:
        return self.files / file.path

    def partial(self, file: WeightFile) -> Path:
        return self._partials / file.path

    def is_complete(self) -> bool:
        """Everything was verified once, and nothing was added, removed or touched since."""
        try:
            looks = self._looks()
            listed = {file.path: file.size for file in self._weights.files}
            told = {name: size for name, (size, _) in looks.items()}
            return told == listed and bool(json.loads(self._marker.read_bytes()) == looks)
        except (OSError, ValueError):
            return False

    def here(self) -> int:
        """Bytes that need not be fetched again."""
        return sum(
            min(file.size, place.stat().st_size)
            for file in self._weights.files
            for place in (self.target(file), self.partial(file))
            if place.is_file()
        )

    async def tidy(self) -> list[WeightFile]:
        """Takes out whatever does not belong here or has a wrong hash; returns the files that are missing."""
        self._marker.unlink(missing_ok=True)
        _set_modes(self.files, folder=0o755, file=0o644)
        wanted = {file.path: file for file in self._weights.files}
        missing = dict(wanted)
        for name, path in list(_walk(self.files)):
            file = wanted.get(name)
            regular = file is not None and path.is_file() and not path.is_symlink()
            if file and regular and await hash_of(path, file) == promised(file):
                del missing[name]
            elif path.is_symlink() or not path.is_dir():
                path.unlink()
        _drop_empty(self.files)
        return list(missing.values())

    def finish(self) -> None:
        """The marker comes last and whole: a crash before it costs hashing, never trust."""
        shutil.rmtree(self._partials, ignore_errors=True)
        _set_modes(self.files, folder=0o555, file=0o444)
        beside = self._marker.with_suffix(".new")
        beside.write_text(json.dumps(self._looks(), indent=1))
        beside.replace(self._marker)

    @asynccontextmanager
    async def locked(self, say: Callable[[str], object]) -> AsyncIterator[None]:
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._lock, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            if not _took(descriptor):
                say(f"Another run is fetching {self._weights.reference}; waiting for it.")
                while not _took(descriptor):  # noqa: ASYNC110 - it happens in another process
                    await asyncio.sleep(_NAP)
            yield
        finally:
            os.close(descriptor)

    def _looks(self) -> dict[str, list[int]]:
        return {name: [(facts := path.lstat()).st_size, facts.st_mtime_ns] for name, path in _walk(self.files)}


def refuse_room(weights: Weights, folder: Path, free: Callable[[Path], int]) -> None:
    """Counts what is still to be fetched."""
    left, room = weights.total - Place(weights, folder).here(), free(folder)
    if left > room:
        needed, found = show_apart(left, room)
        raise Refused(f"{weights.reference} needs {needed}, {folder} has {found} free.")


def free_bytes(folder: Path) -> int:
    """Of the disk that the folder is, or will be, on."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files, links, and folders with nothing in them: all that should not be there shows."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir()):
            yield path.relative_to(folder).as_posix(), path


def _drop_empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):  # what is inside comes first
        if not path.is_symlink() and path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _set_modes(root: Path, *, folder: int, file: int) -> None:
    """From the top, so that a folder can be entered before what it holds is changed."""
    if not root.is_dir():
        return
    root.chmod(folder)
    for entry in os.scandir(root):
        if entry.is_dir(follow_symlinks=False):
            _set_modes(Path(entry.path), folder=folder, file=file)
        elif not entry.is_symlink():
            Path(entry.path).chmod(file)


def _took(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
