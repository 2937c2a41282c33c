"""The variables that programs see, which is all of them, and the Python that they run on outside containers."""

import os
import sys
from pathlib import Path

from model_accuracy_eval.errors import Refused

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


def interpreter() -> str:
    """Our own Python or the system's: one that a user without rights may read."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for path in (Path(own).resolve(), Path("/usr/bin/python3").resolve()):
        if path.is_file() and (os.geteuid() != 0 or all(one.stat().st_mode & 0o005 == 0o005 for one in path.parents)):
            return str(path)
    raise Refused(
        f"{own} lies in a folder that only its owner may read, and generated code runs as another user; "
        "type: apt-get install python3."
    )
