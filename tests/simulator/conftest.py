"""A real engine with the base image, or a reason to skip; in continuous integration its absence is a failure."""

import os
import subprocess

import pytest

BASE = "python:3.11-slim-bookworm"


@pytest.fixture(scope="session")
def engine() -> str:
    """The base image's name, when an engine is there that has it."""
    try:
        done = subprocess.run(["docker", "image", "inspect", BASE], capture_output=True, check=False)
        missing = None if done.returncode == 0 else f"no engine with the image {BASE}"
    except FileNotFoundError:
        missing = "no docker client"
    if missing and os.environ.get("CI"):
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)
    return BASE
