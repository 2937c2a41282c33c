"""Replicas of which each spans two nodes of a Ray cluster, and whose ranks have to meet before the first one serves."""

import shutil
from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import (
    CONCURRENCY,
    JSON,
    PROBLEMS,
    N,
    answers,
    asked,
    asked_of_servers,
    figures,
    processes_of,
    start,
)
from tests.waiting import until

SPANNING = ("--engine", "ray", "--replicas", 2, "--resources", "nodes=2,NPU=2")


def meeting(adapter: Path) -> Path:
    """The adapter's server, behind a meeting of its ranks."""
    shutil.copy(Path(__file__).parents[2] / "servers" / "meeting.py", adapter)
    script = adapter / "deploy.sh"
    script.write_text(script.read_text().replace("exec ", 'exec python3 "$PWD/meeting.py" "rank=$NODE_RANK" '))
    return adapter


def test_what_a_lost_node_served_the_others_answer(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    """The rest of a replica ends with any of its nodes; the figures are those of one undisturbed machine."""
    meeting(adapter)
    (adapter / "seconds").write_text("inf")  # until the second replica has come, too
    out, fourth = tmp_path / "out", cluster.start()
    fourth.wait()
    process = start(*asked(adapter, questions, out, *SPANNING), address=cluster.address)
    until(lambda: len(processes_of(adapter)) == 4, "all ranks run")
    (adapter / "seconds").write_text("2")
    until(lambda: answers(out), "they answer")
    fourth.lose()
    until(lambda: len(processes_of(adapter)) == 2, "the other rank of that replica has ended")
    (adapter / "seconds").write_text("0")
    done = command.finish(process)
    assert done.code == 0, done.err + done.out
    folder = command.only_run(out)
    assert figures(folder) == expected
    assert len(command.journal(folder, "lengths")) == PROBLEMS * N
    assert asked_of_servers(adapter) - PROBLEMS * N <= CONCURRENCY * N
    assert "2 replicas wait for nodes of the Ray cluster, each with NPU=2 on 2 nodes." in done.err
    assert " is lost (its node " in done.err
    logs = {path.name: path.read_text() for path in (folder / "logs").glob("deploy*")}
    assert {"deploy.log", "deploy_node_1.log", "deploy_1.log", "deploy_1_node_1.log"} <= logs.keys()
    assert ["rank 1 of 2 has registered" in logs[name] for name in ("deploy.log", "deploy_1.log")] == [True] * 2
    assert not processes_of(adapter)
