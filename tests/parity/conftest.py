"""Where lm-eval is, in an environment of its own; without it these tests are skipped, or fail where it is required."""

import os
import subprocess
from pathlib import Path

import pytest

PYTHON = Path(os.environ.get("LM_EVAL_PYTHON", ".venv-lm-eval/bin/python")).absolute()
VERSION = "0.4.13"


@pytest.fixture(scope="session")
def folder() -> Path:
    """lm-eval's own folder of tasks."""
    if not PYTHON.is_file():
        if os.environ.get("PARITY") == "required":
            pytest.fail(f"{PYTHON} is not there: `make parity` makes it.")
        pytest.skip(f"lm-eval is not installed at {PYTHON}: `make parity` installs it there.")
    code = "import importlib.metadata as m, importlib.util as u; print(m.version('lm_eval'), u.find_spec('lm_eval').origin)"
    version, origin = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert version == VERSION
    return Path(origin).parent / "tasks"
