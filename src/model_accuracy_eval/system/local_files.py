"""Files on this machine: data files of any size, packed with gzip or not, and task files."""

import contextlib
import gzip
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from model_accuracy_eval.errors import BadData

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
        raise BadData(f"{path} cannot be read: {error}.") from error


class TaskFiles:
    """Implements `tasks.lm_eval.yaml_files.Files`."""

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
