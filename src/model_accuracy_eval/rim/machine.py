"""What this machine has of what a run may want: extras, engine, bubblewrap, NPUs and driver, a free port, room."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records.doctor import Finding
from model_accuracy_eval.rim.adapter.listener import port_owner
from model_accuracy_eval.rim.containers.engine import connect
from model_accuracy_eval.rim.hubs.hub import cache_folder
from model_accuracy_eval.rim.loop import run
from model_accuracy_eval.rim.sandbox.opening import open_sandbox

_EXTRAS = {
    "uvloop": "fast",
    "pyarrow": "parquet",
    "sacrebleu": "text",
    "langdetect": "ifeval",
    "math_verify": "maths",
    "docker": "action",
}
"""Modules, and the extra that brings each."""


_DRIVER = Path("/usr/local/Ascend/driver/version.info")


def look(environment: Mapping[str, str], *, port: int) -> Iterator[Finding]:
    """Little here decides: most of what is missing is needed by some runs and not by others."""
    yield Finding(name="python", state="PASS", sentence=f"{sys.version.split()[0]} at {sys.executable}.")
    for module, extra in _EXTRAS.items():
        yield _extra(module, extra)
    yield _engine(environment)
    yield _bubblewrap(environment)
    yield _npus()
    yield _driver(_DRIVER)
    yield _port(port)
    yield _cache(cache_folder(environment))


def _extra(module: str, extra: str) -> Finding:
    if importlib.util.find_spec(module):
        return Finding(name=f"extra {extra}", state="PASS", sentence=f"{module} is installed.")
    command = f"pip install 'model-accuracy-eval[{extra}]'"
    return Finding(name=f"extra {extra}", state="SKIP", sentence=f"{module} is not installed; {command}")


def _engine(environment: Mapping[str, str]) -> Finding:
    try:
        connect(environment).close()
    except EvalError as error:
        return Finding(name="docker", state="WARN", sentence=error.sentence)
    except ImportError:
        told = "Only the extra action can ask the engine: pip install 'model-accuracy-eval[action]'"
        return Finding(name="docker", state="SKIP", sentence=told)
    return Finding(name="docker", state="PASS", sentence="The engine answers.")


def _bubblewrap(environment: Mapping[str, str]) -> Finding:
    try:
        sandbox = open_sandbox("bwrap", environment, slots=1)
    except EvalError as error:
        return Finding(name="bwrap", state="WARN", sentence=error.sentence)
    run(sandbox.close())
    return Finding(name="bwrap", state="PASS", sentence="Programs of models can be run in it.")


def _npus() -> Finding:
    seen = sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))
    if seen:
        return Finding(name="NPUs", state="PASS", sentence=f"{', '.join(seen)}.")
    return Finding(name="NPUs", state="SKIP", sentence="There is no /dev/davinci<N>; adapters that need one fail here.")


def _driver(told: Path) -> Finding:
    """Of Ascend's NPUs; the file is what its installer leaves, and the first line of it names the version."""
    try:
        version = told.read_text(errors="replace").partition("\n")[0].rpartition("=")[2].strip()
    except OSError:
        sentence = f"There is no {told}; where there are NPUs, install the driver or mount that folder."
        return Finding(name="driver", state="SKIP", sentence=sentence)
    return Finding(name="driver", state="PASS", sentence=f"Version {version} of the NPU driver.")


def _port(port: int) -> Finding:
    owner = port_owner(port)
    if owner is None:
        return Finding(name="port", state="PASS", sentence=f"{port} is free for an adapter to serve on.")
    told = f"{port} is taken by {owner}: stop it, or name another port with --port."
    return Finding(name="port", state="WARN", sentence=told)


def _cache(folder: Path) -> Finding:
    """The folder itself may not be there yet; then what counts is the nearest one above."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if there.is_dir() and os.access(there, os.W_OK):
        return Finding(name="cache", state="PASS", sentence=f"{folder} has {free / 1e9:.1f} GB of room.")
    told = f"{there} cannot be written to; name another folder in MODEL_ACCURACY_EVAL_CACHE."
    return Finding(name="cache", state="FAIL", sentence=told)
