"""The files of a task as its tests find them: a copy that was there before the program, and that nobody has changed.

Tests and program may be the same user, so nothing locks the copy. But it is read-only: whoever writes to it, moves or
replaces it changes what the kernel alone writes, the time of an entry's last change.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection
from model_accuracy_eval.sandbox.inside.value_forms import NotData

_COARSE_CLOCK = 5
"""By which the kernel writes these times: CLOCK_REALTIME_COARSE."""


def write_files(files: dict[str, str]) -> None:
    """Into the working folder."""
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")


class PristineFiles:
    """Those of one job."""

    def __init__(self, place: str, files: dict[str, str]) -> None:
        """Writes them into a new folder there, which becomes this process's working folder."""
        root = Path(place, f"tests-{os.getpid()}")
        root.mkdir()
        os.chdir(root)
        write_files(files)
        self._root, self._names = str(root), {str(root / name) for name in files}
        self._entries = [root, *root.rglob("*")]
        for entry in self._entries:
            entry.chmod(0o555 if entry.is_dir() else 0o444)
        self._seen = self._look()
        begun = time.clock_gettime_ns(_COARSE_CLOCK)
        while time.clock_gettime_ns(_COARSE_CLOCK) == begun:  # a change within the same tick would not show
            time.sleep(0.001)

    def watch(self, connection: ProgramConnection) -> None:
        """From now on, any other file in this folder is one that the program should see, too, and cannot."""

        def look(event: str, args: tuple[Any, ...]) -> None:
            if event == "open" and isinstance(args[0], (str, bytes)):
                path = os.path.normpath(os.path.join(self._root, os.fsdecode(args[0])))  # noqa: PTH118
                is_read = path in self._names and not set(str(args[1])) & set("wax+")
                if path.startswith(f"{self._root}/") and not is_read:
                    connection.not_data = "a file that tests and program share"
                    raise NotData(connection.not_data)

        sys.addaudithook(look)

    def changed(self) -> bool:
        """Whether anybody has touched them."""
        return self._look() != self._seen

    def _look(self) -> list[tuple[int, int]]:
        try:
            return [(found.st_ino, found.st_ctime_ns) for found in map(Path.lstat, self._entries)]
        except OSError:
            return []
