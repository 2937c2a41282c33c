"""A program in another language: one file, perhaps compiled, then run. Its exit code is all that is known."""

import os
import subprocess
from pathlib import Path


def run(source: str, file: str, compiling: list[str], running: list[str]) -> None:
    """Becomes the program; 1 is the exit code of one that does not compile."""
    Path(file).write_text(source, encoding="utf-8")
    if compiling and subprocess.run(compiling, check=False).returncode:  # noqa: S603 - from our own table
        os._exit(1)
    os.execvp(running[0], running)  # noqa: S606 - from our own table
