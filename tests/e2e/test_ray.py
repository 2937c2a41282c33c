"""Runs on a Ray cluster of three nodes, all on this machine: the figures are those of one, whatever becomes of nodes."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests import ray_nodes
from tests.e2e import command
from tests.ray_nodes import RayNodes
from tests.servers.fault_server import FaultServer
from tests.waiting import free_ports, until

JSON = dict[str, Any]
PROBLEMS, N = 1_000, 5


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayNodes]:
    ray_nodes.python()
    with RayNodes(tmp_path_factory.mktemp("nodes")) as nodes:
        for _ in range(2):
            nodes.start().wait()
        yield nodes


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("questions") / "lengths.jsonl"
    texts = [f"How long is {'x' * number}?" for number in range(PROBLEMS)]
    file.write_text("".join(json.dumps({"question": text, "answer": len(text)}) + "\n" for text in texts))
    return file


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """One whose processes can be found by the name of its folder, wherever they run."""
    return slow(tmp_path / f"adapter-{os.getpid()}-{tmp_path.name}", 0.15)


def slow(folder: Path, seconds: float) -> Path:
    folder.mkdir()
    shutil.copy(Path(__file__).parent.parent / "servers" / "seeded_server.py", folder / "server.py")
    script = 'echo "cards $ASCEND_RT_VISIBLE_DEVICES"\nexec python3 "$PWD/server.py" "$PORT" "$(cat seconds)"\n'
    (folder / "deploy.sh").write_text(script)
    (folder / "seconds").write_text(str(seconds))
    return folder


@pytest.fixture(scope="module")
def expected(questions: Path) -> JSON:
    """The figures of a run on this machine, of the same adapter without its slowness."""
    ray_nodes.python()
    folder = slow(questions.parent / "adapter", 0)
    done = run(*asked(folder, questions, questions.parent / "out", "--port", free_ports(1)[0]))
    assert done.code == 0, done.err
    return figures(command.only_run(questions.parent / "out"))


def start(*arguments: object, address: str = "") -> "subprocess.Popen[str]":
    words = [ray_nodes.python(), "-m", "model_accuracy_eval", *arguments]
    return subprocess.Popen(
        [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=command.ROOT,
        env=ray_nodes.variables(RAY_ADDRESS=address),
    )  # fmt: skip


def run(*arguments: object, address: str = "") -> command.Done:
    return command.finish(start(*arguments, address=address), 120)


def asked(adapter: Path, questions: Path, out: Path, *more: object) -> list[object]:
    return [
        "run",
        adapter,
        "--model",
        adapter,
        "--datasets",
        questions,
        "-n",
        N,
        "--concurrency",
        24,
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
    return sum(path.read_bytes().count(b"\n") for path in out.glob(f"*/predictions/{command.LABEL}/lengths.jsonl"))


def processes_of(adapter: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if any(adapter.name in word for word in process.cmdline()) and "run" not in process.cmdline():
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def test_the_example_adapter_on_three_nodes_has_the_figures_of_one(cluster: RayNodes, tmp_path: Path) -> None:
    """Each node serves a part, with NPUs of its own; every answer is that of the single run."""
    example = shutil.copytree(command.ADAPTER, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "begun").mkdir()
    words = ["run", example, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--concurrency", 3]
    one = run(*words, "--out", tmp_path / "one", "--port", free_ports(1)[0])
    together = f'touch {tmp_path}/begun/$PORT; until [ "$(ls {tmp_path}/begun | wc -l)" = 3 ]; do sleep 0.1; done'
    script = (example / "deploy.sh").read_text()
    (example / "deploy.sh").write_text(f"echo cards $ASCEND_RT_VISIBLE_DEVICES\n{together}\n{script}")
    three = run(*words, "--out", tmp_path / "three", *ON_RAY, address=cluster.address)
    assert (one.code, three.code) == (0, 0), one.err + three.err
    assert "3 replicas answered: " in three.out, three.out + three.err
    folders = [command.only_run(tmp_path / name) for name in ("one", "three")]
    assert figures(folders[0]) == figures(folders[1])
    assert command.journal(folders[0], "demo_arithmetic") == command.journal(folders[1], "demo_arithmetic")
    logs = sorted((folders[1] / "logs").glob("deploy*"))
    assert [path.name for path in logs] == ["deploy.log", "deploy_1.log", "deploy_2.log"]
    assert ["cards 0,1" in path.read_text() for path in logs] == [True] * 3


def test_a_node_is_lost_and_another_comes_late(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    """What the lost one was asked is asked again, once; the late one gets its replica."""
    doomed = cluster.start(npus=7)
    doomed.wait()
    out = tmp_path / "out"
    resources = ("--engine", "ray", "--replicas", 2, "--resources", "NPU=7", "--ready-timeout", 90)
    process = start(*asked(adapter, questions, out, *resources), address=cluster.address)
    until(lambda: answers(out) > PROBLEMS * N // 10, "a tenth is answered", 60)
    doomed.lose()
    first = answers(out)
    late = cluster.start(npus=14)
    late.wait()
    done = command.finish(process, 120)
    assert done.code == 0, done.err
    folder = command.only_run(out)
    assert figures(folder) == expected
    assert len(command.journal(folder, "lengths")) == PROBLEMS * N
    assert first < PROBLEMS * N
    assert "The cluster's nodes have room for 1 of them; the others begin when nodes join." in done.err
    assert "is lost (its node " in done.err
    assert "another waits for room" in done.err
    assert len(command.facts(folder)["replicas"]) == 3
    assert "cards 0,1,2,3,4,5,6" in (folder / "logs/deploy.log").read_text()
    until(lambda: not processes_of(adapter), "the servers have ended")
    late.lose()


def test_ctrl_c_ends_every_deploy_sh_and_the_run_goes_on_elsewhere(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = start(*asked(adapter, questions, out, *ON_RAY), address=cluster.address)
    until(lambda: answers(out) > 200, "some are answered", 60)
    assert processes_of(adapter)
    process.send_signal(signal.SIGINT)
    done = command.finish(process, 30)
    assert done.code == 130, done.err
    assert not processes_of(adapter)
    folder = command.only_run(out)
    kept = command.journal(folder, "lengths")
    (adapter / "seconds").write_text("0")
    again = run(*asked(adapter, questions, out, *ON_RAY, "--reuse", folder), address=cluster.address)
    assert again.code == 0, again.err
    assert figures(folder) == expected
    assert kept.items() <= command.journal(folder, "lengths").items()


def test_a_run_that_is_killed_leaves_no_server_on_any_node(
    cluster: RayNodes, adapter: Path, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = start(*asked(adapter, questions, out, *ON_RAY), address=cluster.address)
    until(lambda: answers(out) > 200, "some are answered", 60)
    assert processes_of(adapter)
    process.kill()
    process.communicate()
    until(lambda: not processes_of(adapter), "the servers have ended", 30)


def test_a_node_where_deploy_sh_fails_is_named_and_the_others_answer(
    cluster: RayNodes, adapter: Path, questions: Path, tmp_path: Path
) -> None:
    (adapter / "seconds").write_text("0")
    good = (adapter / "deploy.sh").read_text()
    (adapter / "deploy.sh").write_text(f'[ "$PORT" = 8001 ] && echo "card 5 is broken" && exit 3\n{good}')
    some = run(*asked(adapter, questions, tmp_path / "some", *ON_RAY, "--limit", 100), address=cluster.address)
    assert some.code == 0, some.err
    assert "Replica 2 on " in some.err
    assert "serves no more: deploy.sh exited with code 3" in some.err
    assert "card 5 is broken" in (command.only_run(tmp_path / "some") / "logs/deploy_1.log").read_text()
    (adapter / "deploy.sh").write_text("echo no card; exit 3\n# PORT\n")
    none = run(*asked(adapter, questions, tmp_path / "none", *ON_RAY), address=cluster.address)
    assert (none.code, "So none of the 3 replicas serves" in none.out) == (4, True), none.out + none.err
    assert "no card" in none.out + none.err


def test_what_no_node_has_is_refused_with_what_there_is(
    cluster: RayNodes, adapter: Path, questions: Path, tmp_path: Path
) -> None:
    words = asked(adapter, questions, tmp_path / "out", "--engine", "ray", "--resources", "NPU=64")
    done = run(*words, address=cluster.address)
    assert done.code == 3
    assert "No node of the Ray cluster has NPU=64" in done.err
    assert "CPU=1, NPU=2" in done.err
    lacking = [*asked(adapter, questions, tmp_path / "out", *ON_RAY)]
    lacking[3] = tmp_path / "nowhere"
    done = run(*lacking, address=cluster.address)
    assert (done.code, str(tmp_path / "nowhere") in done.err, "(On " in done.err) == (3, True, True), done.err
    done = run(*asked(adapter, questions, tmp_path / "out", *ON_RAY), address=f"127.0.0.1:{free_ports(1)[0]}")
    assert (done.code, "There is no Ray cluster at RAY_ADDRESS=127.0.0.1:" in done.err) == (3, True), done.err
    done = run(*asked(adapter, questions, tmp_path / "out", *ON_RAY), address="ray://127.0.0.1:10001")
    assert (done.code, "the address for clients outside of a cluster" in done.err) == (2, True), done.err
    assert not (tmp_path / "out").exists()


ADD = """
name: add
data: add.jsonl
prompt: {question: "Write add, which adds {{ number }} to a number."}
reference: "{{ solution }}"
extras: [tests, solution]
exec: {tests: "{tests}", solution: "{solution}", entry_points: [add]}
"""


def programs(folder: Path) -> Path:
    """Tasks of which each takes a while to judge."""
    rows = (
        {
            "number": number,
            "solution": f"def add(a):\n    return a + {number}",
            "tests": f"import time\ntime.sleep(0.3)\nassert add(1) == {number + 1}",
        }
        for number in range(16)
    )
    (folder / "add.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "add.yaml").write_text(ADD)
    return folder / "add.yaml"


def added(request: JSON) -> list[str]:
    """Right three times of four."""
    number = int("".join(filter(str.isdigit, request["messages"][-1]["content"])) or 0)
    return [
        f"```python\ndef add(a):\n    return a + {number + ((number + at) % 4 == 0)}\n```"
        for at in range(request.get("n", 1))
    ]


def test_programs_are_judged_on_all_nodes(cluster: RayNodes, tmp_path: Path) -> None:
    """One of which is lost in the middle; every program is judged, as this machine judges it."""
    task = programs(tmp_path)
    doomed = cluster.start(npus=0)
    with FaultServer(added) as server:
        words = ["run", "--endpoint", server.url, "--datasets", task, "-n", 3, "--sandbox", "bwrap"]
        here = run(*words, "--out", tmp_path / "here")
        assert here.code == 0, here.err + here.out
        doomed.wait()
        process = start(*words, "--out", tmp_path / "there", "--judge-engine", "ray", address=cluster.address)
        until(lambda: found(tmp_path / "there") > 8, "some programs are judged", 60)
        doomed.lose()
        there = command.finish(process, 120)
    assert there.code == 0, there.err + there.out
    folders = [command.only_run(tmp_path / name) for name in ("here", "there")]
    assert [each["metrics"] for each in figures(folders[0]).values()] == [
        each["metrics"] for each in figures(folders[1]).values()
    ]
    assert there.err.count("Programs are run on ") >= 3
    assert found(tmp_path / "there") == found(tmp_path / "here")


def found(out: Path) -> int:
    """How many programs have been judged by now."""
    return sum(path.read_bytes().count(b"\n") for path in out.glob("*/**/*findings*") if not path.parent.is_symlink())
