"""What `doctor` checks on this machine: extras, container engine, bubblewrap, NPUs and driver, port, disk space."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from model_accuracy_eval import extras
from model_accuracy_eval.adapter.port_watch import port_owner
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.hubs.file_hub import cache_folder
from model_accuracy_eval.records import DoctorFinding
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.system.concurrency import run
from model_accuracy_eval.system.docker_engine import connect

_EXTRAS = ("uvloop", "sacrebleu", "langdetect", "jieba", "docker", "ray")
"""One library of each extra."""

_DRIVER = Path("/usr/local/Ascend/driver/version.info")


def look(environment: Mapping[str, str], *, port: int) -> Iterator[DoctorFinding]:
    """Most of what is missing is needed by some runs only, so that little here fails."""
    yield DoctorFinding(name="python", state="PASS", sentence=f"{sys.version.split()[0]} at {sys.executable}.")
    yield from map(_extra, _EXTRAS)
    yield _engine(environment)
    yield _bubblewrap(environment)
    yield _npus()
    yield _driver(_DRIVER)
    yield _port(port)
    yield _cache(cache_folder(environment))


def _extra(name: str) -> DoctorFinding:
    library = extras.LIBRARIES[name]
    check = f"extra {library.name}"
    if extras.installed(name):
        return DoctorFinding(name=check, state="PASS", sentence=f"{name} is installed.")
    return DoctorFinding(name=check, state="SKIP", sentence=f"{name} is not installed; {library.command}")


def _engine(environment: Mapping[str, str]) -> DoctorFinding:
    try:
        connect(environment).close()
    except EvalError as error:
        return DoctorFinding(name="docker", state="WARN", sentence=error.sentence)
    return DoctorFinding(name="docker", state="PASS", sentence="The engine answers.")


def _bubblewrap(environment: Mapping[str, str]) -> DoctorFinding:
    try:
        sandbox = open_sandbox("bwrap", environment, workers=1)
    except EvalError as error:
        return DoctorFinding(name="bwrap", state="WARN", sentence=error.sentence)
    run(sandbox.close())
    return DoctorFinding(name="bwrap", state="PASS", sentence="Programs of models can be run in it.")


def _npus() -> DoctorFinding:
    names = sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))
    if names:
        return DoctorFinding(name="NPUs", state="PASS", sentence=f"{', '.join(names)}.")
    return DoctorFinding(
        name="NPUs", state="SKIP", sentence="There is no /dev/davinci<N>; adapters that need one fail here."
    )


def _driver(version_file: Path) -> DoctorFinding:
    """The driver of Ascend NPUs. Its installer writes the file, and the first line names the version."""
    try:
        version = version_file.read_text(errors="replace").partition("\n")[0].rpartition("=")[2].strip()
    except OSError:
        sentence = f"There is no {version_file}; where there are NPUs, install the driver or mount that folder."
        return DoctorFinding(name="driver", state="SKIP", sentence=sentence)
    return DoctorFinding(name="driver", state="PASS", sentence=f"Version {version} of the NPU driver.")


def _port(port: int) -> DoctorFinding:
    owner = port_owner(port)
    if owner is None:
        return DoctorFinding(name="port", state="PASS", sentence=f"{port} is free for an adapter to serve on.")
    sentence = f"{port} is taken by {owner}: stop it, or name another port with --port."
    return DoctorFinding(name="port", state="WARN", sentence=sentence)


def _cache(folder: Path) -> DoctorFinding:
    """The folder may not exist yet; then the nearest existing one above it is checked."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if existing.is_dir() and os.access(existing, os.W_OK):
        return DoctorFinding(name="cache", state="PASS", sentence=f"{folder} has {free / 1e9:.1f} GB free.")
    sentence = f"{existing} cannot be written to; name another folder in MODEL_ACCURACY_EVAL_CACHE."
    return DoctorFinding(name="cache", state="FAIL", sentence=sentence)
