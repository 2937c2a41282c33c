"""The files through which an action hands things to the runner: outputs, state, the job summary.

A file that breaks the runner's rules fails the whole step, or is dropped whole. So nothing is written in part.
"""

import os
import re
from pathlib import Path

from model_accuracy_eval.errors import PublishFailed

LARGEST_SUMMARY = 1024 * 1024
"""Bytes; the runner drops a larger summary whole."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


def pair(name: str, value: str, delimiter: str) -> bytes:
    """One entry of GITHUB_OUTPUT or GITHUB_STATE; whatever the value holds, it cannot make a second one."""
    if not _NAME.match(name):
        raise PublishFailed(f"'{name}' cannot be the name of an output: letters, digits, '_' and '-' only.")
    if delimiter in value or "\0" in value:
        raise PublishFailed(f"The value of the output '{name}' holds a NUL or the delimiter drawn for it.")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n".encode(errors="replace")


def append(path: str, data: bytes) -> None:
    """All of the data or, when the disk is full, nothing of it."""
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


def fitting(text: str, room: int) -> tuple[bytes, bool]:
    """As many whole lines as fit, open blocks closed, with a sentence about the rest; and whether any was cut."""
    data = text.encode(errors="replace")
    if len(data) <= room:
        return data, False
    notice = f"\n\n> [!NOTE]\n> This summary is cut: all of it has {len(data)} bytes, and {room} had room.\n"
    # What closes open blocks is not known before the cut; a kilobyte closes every block we ever open.
    kept = data[: max(0, room - len(notice.encode()) - 1024)]
    kept = kept[: kept.rfind(b"\n") + 1]
    if not kept:
        return b"", True
    closed = kept + _closing(kept.decode()).encode() + notice.encode()
    return (closed, True) if len(closed) <= room else (b"", True)


def _closing(text: str) -> str:
    """What ends the code blocks and foldings that the kept lines have left open."""
    fence = ""
    for mark in _FENCE.findall(text):
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence):
            fence = ""
    pre = "</pre>\n" if text.count("<pre>") > text.count("</pre>") else ""
    open_details = max(0, text.count("<details>") - text.count("</details>"))
    return (f"{fence}\n" if fence else "") + pre + "\n</details>\n" * min(open_details, 50)
