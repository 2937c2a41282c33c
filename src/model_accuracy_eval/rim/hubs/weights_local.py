"""Weights that lie on this machine: every byte is counted once, whatever links lead to it."""

import os
from collections.abc import Iterator
from pathlib import Path

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.hubs.weights_records import Reference, WeightFile, Weights

_LEFT_OUT = (".git",)
"""A clone keeps a second copy of every large file there."""


def measure_path(reference: Reference) -> Weights:
    root = Path(reference.name).expanduser()
    try:
        if not root.exists():
            raise Refused(
                f"There is no folder with weights at {reference.name}; for weights of a hub write "
                "hf:org/name or ms:org/name."
            )
        seen: set[tuple[int, int]] = set()
        files = [_file(root, root)] if root.is_file() else list(_walk(root, root, seen))
    except OSError as error:
        raise Refused(f"The weights at {reference.name} cannot be read: {error}.") from error
    if not files:
        raise Refused(f"There are no files in {reference.name}.")
    return Weights(reference=reference, files=tuple(sorted(files, key=lambda file: file.path)))


def _walk(folder: Path, root: Path, seen: set[tuple[int, int]]) -> Iterator[WeightFile]:
    """Follows links into blob caches. What was seen is not seen again, so circles end."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        if entry.name in _LEFT_OUT and entry.is_dir():
            continue
        if entry.is_symlink() and not path.exists():
            raise Refused(f"{path} is a link to {path.readlink()}, where nothing is; the weights are incomplete.")
        facts = path.stat()
        if (facts.st_dev, facts.st_ino) in seen:
            continue
        seen.add((facts.st_dev, facts.st_ino))
        if path.is_dir():
            yield from _walk(path, root, seen)
        elif path.is_file():
            yield _file(path, root)


def _file(path: Path, root: Path) -> WeightFile:
    name = path.name if path == root else path.relative_to(root).as_posix()
    return WeightFile(path=name, size=path.stat().st_size)
