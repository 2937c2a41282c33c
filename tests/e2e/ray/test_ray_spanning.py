"""Replicas of which each spans two nodes of a Ray cluster, and whose ranks have to meet before the first one serves."""

import shutil
from pathlib import Path

import psutil
import pytest
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


def second_ranks(adapter: Path) -> list[psutil.Process]:
    return [process for process in processes_of(adapter) if "rank=1" in process.cmdline()]


@pytest.mark.parametrize("lost", ["node", "deploy.sh"])
def test_what_a_lost_node_served_the_others_answer(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path, lost: str
) -> None:
    """The rest of a replica ends with any of its nodes; the figures are those of one undisturbed machine."""
    meeting(adapter)
    # However late the second replica comes on a busy machine, the first has not answered all by then.
    (adapter / "seconds").write_text("0.6")
    out, fourth = tmp_path / "out", cluster.start()
    fourth.wait()
    process = start(*asked(adapter, questions, out, *SPANNING), address=cluster.address)
    until(lambda: len(processes_of(adapter)) == 4 and answers(out) > PROBLEMS * N // 10, "all ranks run, and answer")
    if lost == "node":
        fourth.lose()
    else:
        second_ranks(adapter)[0].kill()
    until(lambda: len(processes_of(adapter)) == 2, "the other rank of that replica has ended")
    done = command.finish(process)
    assert done.code == 0, done.err + done.out
    folder = command.only_run(out)
    assert figures(folder) == expected
    assert len(command.journal(folder, "lengths")) == PROBLEMS * N
    assert asked_of_servers(adapter) - PROBLEMS * N <= CONCURRENCY * N
    assert "2 replicas wait for nodes of the Ray cluster, each with NPU=2 on 2 nodes." in done.err
    assert (
        " is lost (its node " if lost == "node" else "(rank 1) serves no more: deploy.sh was ended by signal 9"
    ) in done.err
    assert lost == "node" or "| rank 1 is there" in done.err
    logs = {path.name: path.read_text() for path in (folder / "logs").glob("deploy*")}
    assert {"deploy.log", "deploy_node_1.log", "deploy_1.log", "deploy_1_node_1.log"} <= logs.keys()
    assert ["rank 1 of 2 has registered" in logs[name] for name in ("deploy.log", "deploy_1.log")] == [True] * 2
    assert not processes_of(adapter)
    fourth.lose()
