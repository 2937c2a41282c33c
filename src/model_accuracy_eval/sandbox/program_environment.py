"""What programs find: their environment variables, the Python outside containers, and which files may be with them."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.toolchains import TOOLCHAINS

VARIABLES = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - the program's own, where it is confined
    "LANG": "C.UTF-8",
    # The same order of sets each time: a verdict must not depend on the day.
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Threads would reserve more addresses than a program may have, and libraries that start some cannot be forked.
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""All environment variables of a program."""


def interpreter() -> str:
    """The path of our own Python or the system's: one that a user without rights may read."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for path in (Path(own).resolve(), Path("/usr/bin/python3").resolve()):
        if path.is_file() and (os.geteuid() != 0 or _all_readable(path.parents)):
            return str(path)
    raise Refused(
        f"{own} lies in a folder that only its owner may read, and generated code runs as another user; "
        "type: apt-get install python3."
    )


def _all_readable(folders: Iterable[Path]) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in folders)


def check_files(program: Program) -> None:
    """Raises `BadValue` for files that cannot be in the program's folder, or do not fit into it."""
    own = TOOLCHAINS[program.language].file if program.language in TOOLCHAINS else None
    for name in program.files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
            raise BadValue(
                f"The file '{name}' of a program must be named by a path below its folder, such as data/a.csv."
            )
        if str(path) == own:
            raise BadValue(f"The file '{name}' would be overwritten: {program.language} programs are written to it.")
    limit = program.limits.file_mb << 20
    if (size := sum(len(text.encode("utf-8", "replace")) for text in program.files.values())) > limit:
        raise BadValue(f"The files of a program have {size:,} bytes together, and there is room for {limit:,}.")
