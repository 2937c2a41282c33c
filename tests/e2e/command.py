"""The command line as a user has it: a process of its own, its output, its exit code."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import HANGING

ROOT = Path(__file__).parent.parent.parent
ADAPTER = ROOT / "example-adapter"
WEIGHTS = ADAPTER / "weights"
LABEL = "vllm-api-stream-chat"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """This process's, with the interpreter that runs the tests first in PATH, as an activated environment has it."""
    first = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": first, "PIP_NO_INDEX": "1", **more}


def start(*arguments: object, **more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "model_accuracy_eval", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more), cwd=ROOT
    )


def finish(process: "subprocess.Popen[str]", seconds: float = HANGING) -> Done:
    with process:
        out, err = process.communicate(timeout=seconds)
    return Done(process.returncode, out, err)


def run(*arguments: object, **more: str) -> Done:
    return finish(start(*arguments, **more))


def only_run(out: Path) -> Path:
    """The folder of the one run under `out`."""
    (folder,) = (path for path in out.iterdir() if not path.is_symlink())
    return folder


def journal(folder: Path, dataset: str) -> dict[tuple[int, int], str]:
    """(problem, sample) → text; a sample that stands there twice is an error."""
    lines = [json.loads(line) for line in (folder / f"predictions/{LABEL}/{dataset}.jsonl").read_bytes().splitlines()]
    samples = {(line["id"], line.get("index", -1)): line["prediction"] for line in lines}
    assert len(samples) == len(lines), "a sample stands in the journal twice"
    return samples


def facts(folder: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((folder / "run.json").read_bytes())
    return whole
