"""Where each version of lm-eval is, in an environment of its own; without it tests are skipped, or fail where it is required."""

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

STABLE, NEXT = "0.4.13", "0.5.0.dev1"
ENVIRONMENTS = {STABLE: ".venv-lm-eval-0.4", NEXT: ".venv-lm-eval-0.5"}


@dataclass(frozen=True)
class Oracle:
    """One version of the real program."""

    version: str
    python: Path
    folder: Path
    """Its own folder of tasks."""

    @property
    def is_next(self) -> bool:
        return self.version == NEXT


@cache
def find(version: str) -> Oracle:
    python = Path(ENVIRONMENTS[version], "bin", "python").absolute()
    if not python.is_file():
        if os.environ.get("PARITY") == "required":
            pytest.fail(f"{python} is not there: `make parity` makes it.")
        pytest.skip(f"lm-eval {version} is not installed at {python}: `make parity` installs it there.")
    code = "import importlib.metadata as m, importlib.util as u; print(m.version('lm_eval'), u.find_spec('lm_eval').origin)"
    found, origin = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert found == version
    return Oracle(version, python, Path(origin).parent / "tasks")


@pytest.fixture(scope="session", params=ENVIRONMENTS)
def oracle(request: pytest.FixtureRequest) -> Oracle:
    """Each version in turn."""
    return find(request.param)


@pytest.fixture(scope="session")
def next_oracle() -> Oracle:
    """The version that has scorers, pipelines with metrics of their own, and formats."""
    return find(NEXT)
