"""The command on a Ray cluster, and an adapter whose processes can be found on all nodes."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psutil
from tests.e2e import command
from tests.e2e.ray import ray_nodes
from tests.waiting import free_ports

JSON = dict[str, Any]
PROBLEMS, N = 300, 5
CONCURRENCY = 24
PORT = free_ports(20)[0]
"""The first one of replicas, which take the next that is free. The usual 8000 is for the tests beside these whose
containers serve there."""


def slow(folder: Path, seconds: float) -> Path:
    """It answers after as many seconds as the folder's file says, which tests change while it is asked."""
    folder.mkdir()
    shutil.copy(Path(__file__).parents[2] / "servers" / "seeded_server.py", folder / "server.py")
    script = (
        # Pods have no folder of this machine, and each node a copy of this one.
        f"if [ -d '{folder.parent}' ]; then export ASKED='{log_of(folder)}'; fi\n"
        f"seconds='{folder}/seconds'; [ -f \"$seconds\" ] || seconds=$PWD/seconds\n"
        'echo "cards $ASCEND_RT_VISIBLE_DEVICES"\nexec python3 "$PWD/server.py" "$PORT" "$seconds"\n'
    )
    (folder / "deploy.sh").write_text(script)
    (folder / "seconds").write_text(str(seconds))
    return folder


def start(*arguments: object, address: str = "") -> "subprocess.Popen[str]":
    words = [ray_nodes.python(), "-m", "model_accuracy_eval", *arguments]
    return subprocess.Popen(
        [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=command.ROOT,
        env=ray_nodes.variables(RAY_ADDRESS=address),
    )  # fmt: skip


def run(*arguments: object, address: str = "") -> command.Done:
    return command.finish(start(*arguments, address=address))


def asked(adapter: Path, questions: Path, out: Path, *more: object) -> list[object]:
    """The weights are a file that no test changes, as they change the adapter's pace."""
    return [
        "run",
        adapter,
        "--model",
        adapter / "server.py",
        "--datasets",
        questions,
        "-n",
        N,
        "--concurrency",
        CONCURRENCY,
        "--port",
        PORT,
        "--out",
        out,
        *more,
    ]


ON_RAY = ("--engine", "ray", "--replicas", 3, "--resources", "NPU=2")


def figures(folder: Path) -> JSON:
    """What the report says about the answers, without what a clock says."""
    datasets: JSON = command.facts(folder)["datasets"]
    return {name: {key: value for key, value in each.items() if key != "speed"} for name, each in datasets.items()}


def answers(out: Path) -> int:
    """How many lines the journal of the run under `out` has by now."""
    folders = (path for path in out.glob("*") if not path.is_symlink())
    files = (path for folder in folders for path in folder.glob(f"predictions/{command.LABEL}/lengths.jsonl"))
    return sum(path.read_bytes().count(b"\n") for path in files)


def processes_of(adapter: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if any(adapter.name in word for word in process.cmdline()) and "run" not in process.cmdline():
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def log_of(adapter: Path) -> Path:
    """What its servers were asked, beside the folder: what is in that is the same on all nodes."""
    return adapter.with_name(f"asked-{adapter.name}.jsonl")


def asked_of_servers(adapter: Path) -> int:
    """How many samples the adapter's servers have been asked for by now, on all nodes and in all runs."""
    return sum(json.loads(line)["samples"] for line in log_of(adapter).read_text().splitlines())
