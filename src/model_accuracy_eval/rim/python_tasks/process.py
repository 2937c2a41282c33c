"""How the process of a task's Python is started: in an empty folder, and of our environment it has but the path."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[3])


def command(module: str, *arguments: str) -> list[str]:
    """`module`, one of this folder, in an interpreter that looks at nothing of ours but our package."""
    place = "model_accuracy_eval.rim.python_tasks"
    code = f"import sys; sys.path.insert(0, sys.argv[1]); from {place} import {module}; {module}.main()"
    return [sys.executable, "-I", "-B", "-c", code, _PACKAGE, *arguments]


def surroundings(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    path = environment.get("PATH", os.defpath)
    return {"PATH": path, "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
