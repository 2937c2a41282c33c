"""The end of a log as it would look on a terminal, the lines that are added to it, and a bound on its size."""

import os
import re
from pathlib import Path

_BYTES = 256 * 1024
LONGEST = 64 << 20
_KEPT = 32 << 20
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shorten(descriptor: int) -> None:
    """Cuts a log that has become too long back to its beginning, from where it grows again; what was between is lost.

    It has to be open for appending. (`supervisor.py`, which must run alone, does the same.)
    """
    if os.fstat(descriptor).st_size > LONGEST:
        os.ftruncate(descriptor, _KEPT)
        os.write(descriptor, f"\n── the log was longer than {LONGEST >> 20} MiB; a part was left out here\n".encode())


def tail(log: str, lines: int) -> str:
    """Returns the last lines as a terminal would show them: no colours, progress bars in their last state."""
    try:
        with Path(log).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _BYTES))
            block = file.read(_BYTES)
    except FileNotFoundError:
        return ""
    if size > len(block) and b"\n" in block:
        block = block.partition(b"\n")[2]  # its beginning was cut off
    text = _ANSI.sub("", block.decode("utf-8", "replace"))
    visible = [_CONTROL.sub("", line.rstrip("\r").rpartition("\r")[2]).rstrip() for line in text.split("\n")]
    return "\n".join("\n".join(visible).rstrip().split("\n")[-lines:])


class NewLines:
    """Reads what is added to a log, in whole lines, each once."""

    def __init__(self, log: str) -> None:
        self._log = Path(log)
        self._position = 0

    def read(self) -> str:
        """Returns the lines since the last call; after the log was shortened, those from there on."""
        with self._log.open("rb") as file:
            self._position = min(self._position, file.seek(0, os.SEEK_END))
            file.seek(self._position)
            lines = file.read().rpartition(b"\n")[0]
        self._position += len(lines) + 1 if lines else 0
        return lines.decode(errors="replace")
