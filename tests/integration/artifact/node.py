"""npm packages that serve as oracles: installed once, by name and version, outside of the checkout."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "node"


def cannot(reason: str) -> None:
    """Skips with the reason; in CI a missing part is a failure."""
    assert not os.environ.get("CI"), reason
    pytest.skip(reason)


def installed() -> Path:
    """Folder with `node_modules` and our scripts beside it, where Node looks for packages."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        cannot("Node and npm are not on this machine")
    version = hashlib.sha256((SOURCES / "package.json").read_bytes()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "model-accuracy-eval" / "node" / version
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for file in SOURCES.iterdir():
            _place(file, folder)
        if not (folder / ".ready").exists():
            _install(folder)
            (folder / ".ready").touch()
    return folder


def _place(file: Path, folder: Path) -> None:
    """Whole or not at all: other tests, of other checkouts too, may be reading what is there."""
    there = folder / file.name
    if not there.exists() or there.read_bytes() != file.read_bytes():
        half = folder / f".{file.name}"
        shutil.copy(file, half)
        half.replace(there)


def _install(folder: Path) -> None:
    command = ["npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=540)
    except subprocess.TimeoutExpired:
        cannot("npm could not install the packages within 540 s")
    else:
        if done.returncode:
            cannot(f"npm could not install the packages: {done.stderr[-500:]}")
