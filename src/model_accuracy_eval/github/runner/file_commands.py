"""The files through which an action gives the runner outputs, state and its job summary.

A file that breaks the runner's rules fails the step, or is dropped as a whole. So nothing is written in part.
"""

import os
import re
from pathlib import Path

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.text_limits import closing_marks

SUMMARY_BYTES = 1024 * 1024
"""The runner drops a larger summary as a whole."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


def name_and_value(name: str, value: str, delimiter: str) -> bytes:
    """One entry of GITHUB_OUTPUT or GITHUB_STATE; no value can add a second entry."""
    if not _NAME.match(name):
        raise PublishFailed(f"'{name}' cannot be the name of an output: letters, digits, '_' and '-' only.")
    if delimiter in value or "\0" in value:
        raise PublishFailed(f"The value of the output '{name}' contains a NUL or the delimiter chosen for it.")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n".encode(errors="replace")


def append(path: str, data: bytes) -> None:
    """Appends all of the data or, when the disk is full, nothing."""
    try:
        with Path(path).open("ab") as file:
            before = os.fstat(file.fileno()).st_size
            try:
                file.write(data)
                file.flush()
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
    except OSError as error:
        raise PublishFailed(f"{len(data)} bytes for the runner could not be written to {path}: {error}.") from error


def size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def cut_summary(text: str, room: int) -> tuple[bytes, bool]:
    """As many lines as fit, with open blocks closed and a note about the rest; and whether any line was cut."""
    data = text.encode(errors="replace")
    if len(data) <= room:
        return data, False
    note = f"\n\n> [!NOTE]\n> This summary is cut: all of it has {len(data)} bytes, and {room} had room.\n"
    # Which blocks are open is known only after the cut; a kilobyte is enough to close them.
    lines = data[: max(0, room - len(note.encode()) - 1024)]
    lines = lines[: lines.rfind(b"\n") + 1]
    if not lines:
        return b"", True
    closed = lines + closing_marks(lines.decode()).encode() + note.encode()
    return (closed, True) if len(closed) <= room else (b"", True)
