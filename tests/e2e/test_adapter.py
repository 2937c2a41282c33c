"""The whole job on the real example adapter: deploy, ask, judge, report, and nothing left running."""

import json
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from tests.e2e import command
from tests.waiting import HANGING, free_port, is_open, until


def descendants(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


JOURNAL = "*/predictions/*/demo_arithmetic.jsonl"


def adapter_arguments(out: Path, port: int, *more: object) -> list[object]:
    folder, weights = command.ADAPTER, command.WEIGHTS
    return ["run", folder, "--model", weights, "--datasets", "demo_arithmetic", "--out", out, "--port", port, *more]


def test_the_example_adapter_is_evaluated_end_to_end(tmp_path: Path) -> None:
    """Exit 0, the designed tree, figures that agree with counting `c` by hand, and a free port afterwards."""
    port = free_port()
    gate = "demo_arithmetic: avg@5 >= 60"
    done = command.run(*adapter_arguments(tmp_path, port, "--gate", gate))
    assert done.code == 0, done.err
    folder = command.only_run(tmp_path)
    results = json.loads((folder / f"results/{command.LABEL}/demo_arithmetic.json").read_bytes())
    counted = [sum(problem["correct"]) for problem in results["details"]]
    assert len(counted) == 100
    by_hand = {
        "avg@5": sum(counted) / 5,
        "pass@5": float(sum(c > 0 for c in counted)),
        "cons@5": float(sum(c > 2.5 for c in counted)),
    }
    assert {name: results[name] for name in by_hand} == pytest.approx(by_hand)
    assert results["pass@5"] > results["cons@5"] > results["avg@5"]
    for name, figure in by_hand.items():
        assert f"{name:<25}" in done.out
        assert f"{figure:.2f}" in done.out
    assert f"{gate} passed" in done.out
    subprocess.run(["sha256sum", "--check", "--quiet", "manifest.sha256"], cwd=folder, check=True)
    assert not is_open(port)
    assert "Serving" in (folder / "logs/deploy.log").read_text()
    found = command.facts(folder)["stack"]
    assert found["serves with"].endswith(f"server.py {command.WEIGHTS} --port {port}")
    assert found["dtype"] == "float32"


def adapter_copy(folder: Path, script: str) -> Path:
    folder.mkdir()
    (folder / "deploy.sh").write_text(script)
    return folder


SERVE = f'cd "{command.ADAPTER}" && exec python3 server.py "$MODEL_PATH" --port "$PORT"'

BROKEN = {
    "fails at once": ("echo no NPU found >&2; exit 7", 4, "deploy.sh exited with code 7", "no NPU found"),
    "serves without the chat endpoint": (
        'exec python3 -m http.server "$PORT" --bind 127.0.0.1', 4, "does not offer /v1/chat/completions", "",
    ),
    "dies while it is asked": (f"({SERVE}) & sleep 3; echo killed by the kernel; kill $!; exit 9", 4, "code 9", "kernel"),
}  # fmt: skip


@pytest.mark.parametrize(("script", "code", "sentence", "log"), BROKEN.values(), ids=BROKEN)
def test_each_way_to_break_has_its_sentence(script: str, code: int, sentence: str, log: str, tmp_path: Path) -> None:
    """Exit code 4, one sentence that says what happened, the end of the log, and nothing left running."""
    folder, port = adapter_copy(tmp_path / "adapter", script), free_port()
    done = command.run(
        "run", folder, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", tmp_path / "out",
        "--port", port, "--ready-timeout", HANGING, "-n", 200, "--concurrency", 1, "--generation", '{"n": 1}',
    )  # fmt: skip
    assert done.code == code, done.out + done.err
    assert sentence in done.out
    assert log in done.out
    assert not is_open(port)
    assert command.facts(command.only_run(tmp_path / "out"))["status"] == "broken"


DAEMON = f"""
python3 -c '
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(999)
    os._exit(0)
os.wait()
'
{SERVE}
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_everything_and_leaves_a_partial_report(number: signal.Signals, tmp_path: Path) -> None:
    """In the middle of the asking: 128 + signal, daemons gone, what was answered is marked."""
    folder, port, out = adapter_copy(tmp_path / "adapter", DAEMON), free_port(), tmp_path / "out"
    process = command.start(
        "run", folder, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", out,
        "--port", port, "--concurrency", 1, "-n", 20,
    )  # fmt: skip
    until(lambda: list(out.glob(JOURNAL)), "samples are journaled")
    below = descendants(process)
    process.send_signal(number)
    done = command.finish(process)
    assert done.code == 128 + number, done.err
    assert f"Cancelled (exit code {128 + number})" in done.out
    assert not [one for one in below if one.is_running()]
    assert not is_open(port)
    facts = command.facts(command.only_run(out))
    assert facts["status"] == "stopped"
    assert facts["datasets"]["demo_arithmetic"]["counts"]["answered"] == len(
        command.journal(command.only_run(out), "demo_arithmetic")
    )
    assert (command.only_run(out) / "report.html").stat().st_size > 1000


def slow_package(folder: Path) -> None:
    """A package that notes that its build has begun, and never ends it; needs nothing from an index."""
    folder.mkdir()
    backend = '[build-system]\nrequires = []\nbuild-backend = "slow"\nbackend-path = ["."]\n'
    (folder / "pyproject.toml").write_text(backend)
    begun = folder.parent / "begun"
    (folder / "slow.py").write_text(f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(999)\n")


@pytest.mark.parametrize("stage", ["installing", "starting"])
def test_a_stop_before_the_first_question(stage: str, tmp_path: Path) -> None:
    """While requirements are installed, or deploy.sh comes up: nothing is left."""
    folder = adapter_copy(tmp_path / "adapter", "touch begun; exec sleep 999")
    if stage == "installing":
        slow_package(folder / "slow")
        (folder / "requirements.txt").write_text("./slow\n")
    out = tmp_path / "out"
    process = command.start(
        "run", folder, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", out, "--port", free_port()
    )
    until((folder / "begun").exists, f"{stage} has begun")
    below = descendants(process)
    process.send_signal(signal.SIGTERM)
    done = command.finish(process)
    assert done.code == 143, done.out + done.err
    assert not [one for one in below if one.is_running()]
    assert command.facts(command.only_run(out))["status"] == "stopped"


STALL = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[2], "w").close()
time.sleep(999)
"""


@pytest.mark.parametrize("ending", ["a stop", "the exit of deploy.sh"])
def test_a_service_that_takes_the_probe_and_says_nothing_holds_nobody_up(ending: str, tmp_path: Path) -> None:
    """While the first chat request hangs in a model that warms up, a stop and a crash are noticed all the same."""
    folder, port, out = adapter_copy(tmp_path / "adapter", ""), free_port(), tmp_path / "out"
    (folder / "stall.py").write_text(STALL)
    crash = "while [ ! -e crash ]; do sleep 0.05; done; exit 9" if ending != "a stop" else "wait"
    (folder / "deploy.sh").write_text(f'python3 stall.py "$PORT" begun & {crash}\n')
    process = command.start(
        "run", folder, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", out, "--port", port
    )
    until((folder / "begun").exists, "the service listens")
    if ending == "a stop":
        process.send_signal(signal.SIGTERM)
    else:
        (folder / "crash").touch()
    done = command.finish(process)
    assert done.code == (143 if ending == "a stop" else 4), done.out + done.err
    assert "deploy.sh exited with code 9" in done.out or ending == "a stop"
    assert not is_open(port)
