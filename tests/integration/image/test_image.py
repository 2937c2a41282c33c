"""The image, built by a real engine: it starts, it is small, and a change of the source is quick to build."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.base_image import BASE, recipe

ROOT = Path(__file__).parent.parent.parent.parent
TAG = "model-accuracy-eval:test"
LARGEST_SHARE = 250_000_000
"""Bytes of our layers; the base image has some 130 million more where it is published."""


def docker(*arguments: str, text: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = ["docker", *arguments]
    return subprocess.run(command, capture_output=True, input=text, text=True, timeout=540, check=False, cwd=ROOT)


def build() -> "subprocess.CompletedProcess[str]":
    return docker("build", "--tag", TAG, "--file", "-", ".", text=recipe(ROOT / "Dockerfile"))


@pytest.fixture(scope="module")
def image() -> str:
    engine = shutil.which("docker") and docker("info").returncode == 0
    if not engine and not os.environ.get("CI"):
        pytest.skip("no Docker engine runs here")
    built = build()
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return TAG


def inspect(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(docker("image", "inspect", name).stdout)[0]
    return found


def test_the_program_starts(image: str) -> None:
    """As the runner starts it: the image's entrypoint, root, a working directory of its own."""
    done = docker("run", "--rm", "--network", "none", "--workdir", "/github/workspace", image, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: model-accuracy-eval")


def test_the_demo_runs_inside(image: str) -> None:
    """Without a network: everything that it needs is in the image."""
    done = docker("run", "--rm", "--network", "none", image, "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Complete, no gate" in done.stdout


def test_git_fetches_without_perl(image: str) -> None:
    """Clones, submodules and large files are what a check-out needs."""
    script = """
    set -e; cd /tmp; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git init -q part; git -C part commit -q --allow-empty -m one
    git init -q whole; cd whole; git -c protocol.file.allow=always submodule --quiet add /tmp/part part
    git commit -q -m one; cd ..
    git -c protocol.file.allow=always clone -q --recurse-submodules --depth 1 file:///tmp/whole copy
    git -C copy submodule status; git lfs version
    """
    done = docker("run", "--rm", "--network", "none", "--entrypoint", "sh", image, "-c", script)
    assert done.returncode == 0, done.stderr
    assert "part" in done.stdout
    assert "git-lfs" in done.stdout


def test_the_image_is_small_and_of_exec_form(image: str) -> None:
    """What we add to the base, and that no shell stands before the program."""
    base = inspect(BASE)
    found = inspect(image)
    assert found["Size"] - base["Size"] <= LARGEST_SHARE
    assert found["Config"]["Entrypoint"] == ["model-accuracy-eval"]
    assert found["Config"]["User"] in {"", "root"}
