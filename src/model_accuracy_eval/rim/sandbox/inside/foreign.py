"""A program in another language: one file, perhaps compiled, then run. Its exit code is all that is known of it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

COMPILED = ["compiled"]
"""Reported before the program runs, whose own time begins then."""
_SAID = Path(".compiler")
_MOST_SAID = 4096


def run(source: str, report: Callable[[list[str]], None], file: str, compiling: list[str], running: list[str]) -> None:
    """Becomes the program, to which no way to report is left."""
    Path(file).write_text(source, encoding="utf-8")
    if compiling and not _compiled(compiling):
        said = _SAID.read_bytes()[:_MOST_SAID]
        os.write(1, said)
        report(["error", f"It does not compile: {_complaint(said.decode('utf-8', 'replace'))}"])
        os._exit(1)
    report(COMPILED)
    os.set_inheritable(3, False)
    os.execvp(running[0], running)  # noqa: S606 - from our own table


def _compiled(words: list[str]) -> bool:
    with _SAID.open("wb") as said:
        ended = subprocess.run(words, check=False, stdout=said, stderr=said)  # noqa: S603 - from our own table
    return not ended.returncode


def _complaint(said: str) -> str:
    """The first line that speaks of an error, else the first of all."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["the compiler says nothing"]
    return next((line for line in lines if "error" in line.lower()), lines[0])[:300]
