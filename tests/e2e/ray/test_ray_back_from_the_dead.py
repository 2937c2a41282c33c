"""A node that was given up is there again: its answers are nobody's, and what it serves ends."""

from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import JSON, PROBLEMS, N, answers, asked, figures, processes_of, start
from tests.waiting import until


def test_a_node_that_comes_back(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    """What it was being asked is asked of the other one, once."""
    nodes = [cluster.start(npus=5) for _ in range(1)]
    nodes[0].wait()
    nodes.append(cluster.start(npus=5))
    nodes[1].wait()
    out = tmp_path / "out"
    resources = ("--engine", "ray", "--replicas", 2, "--resources", "NPU=5")
    process = start(*asked(adapter, questions, out, *resources), address=cluster.address)
    until(lambda: len(processes_of(adapter)) >= 2 and answers(out) > PROBLEMS * N // 10, "both serve", 120)
    nodes[0].freeze()
    try:
        done = command.finish(process, 240)
    finally:
        nodes[0].thaw()
    assert done.code == 0, done.err
    assert "is lost" in done.err
    folder = command.only_run(out)
    assert figures(folder) == expected
    assert len(command.journal(folder, "lengths")) == PROBLEMS * N
    until(lambda: not processes_of(adapter), "the servers have ended", 90)
    for node in nodes:
        if node.process.poll() is None:
            node.lose()
