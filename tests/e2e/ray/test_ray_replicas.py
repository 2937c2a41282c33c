"""Runs on a Ray cluster of three nodes, all on this machine: the figures are those of one, whatever becomes of nodes."""

import shutil
from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import (
    CONCURRENCY,
    JSON,
    ON_RAY,
    PORT,
    PROBLEMS,
    N,
    answers,
    asked,
    asked_of_servers,
    figures,
    processes_of,
    run,
    start,
)
from tests.waiting import until


def test_the_example_adapter_on_three_nodes_has_the_figures_of_one(cluster: RayNodes, tmp_path: Path) -> None:
    """Each node serves a part, with NPUs of its own; every answer is that of the single run."""
    example = shutil.copytree(command.ADAPTER, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "begun").mkdir()
    # So many samples that those which begin later, and are looked at first, have some left.
    words = ["run", example, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--concurrency", 3, "-n", 40]
    words += ["--port", PORT]
    one = run(*words, "--out", tmp_path / "one")
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
    resources = ("--engine", "ray", "--replicas", 2, "--resources", "NPU=7", "--ready-timeout", 240)
    process = start(*asked(adapter, questions, out, *resources), address=cluster.address)
    until(lambda: answers(out), "some are answered")
    doomed.lose()
    first = answers(out)
    late = cluster.start(npus=14)
    late.wait()
    (adapter / "seconds").write_text("0")
    done = command.finish(process)
    assert done.code == 0, done.err
    folder = command.only_run(out)
    assert figures(folder) == expected
    assert len(command.journal(folder, "lengths")) == PROBLEMS * N
    assert asked_of_servers(adapter) - PROBLEMS * N <= CONCURRENCY * N
    assert first < PROBLEMS * N
    assert "The cluster's nodes have room for 1 of them; the others begin when nodes join." in done.err
    assert "is lost (its node " in done.err
    assert "another waits for room" in done.err
    assert len(command.facts(folder)["replicas"]) == 3
    assert "cards 0,1,2,3,4,5,6" in (folder / "logs/deploy.log").read_text()
    until(lambda: not processes_of(adapter), "the servers have ended")
    late.lose()


def test_a_node_where_deploy_sh_fails_is_named_and_the_others_answer(
    cluster: RayNodes, adapter: Path, questions: Path, tmp_path: Path
) -> None:
    (adapter / "seconds").write_text("0")
    good = (adapter / "deploy.sh").read_text()
    (adapter / "deploy.sh").write_text(f'[ "$PORT" = {PORT + 1} ] && echo "card 5 is broken" && exit 3\n{good}')
    some = run(*asked(adapter, questions, tmp_path / "some", *ON_RAY, "--limit", 100), address=cluster.address)
    assert some.code == 0, some.err
    assert "Replica 2 on " in some.err
    assert "serves no more: deploy.sh exited with code 3" in some.err
    assert "card 5 is broken" in (command.only_run(tmp_path / "some") / "logs/deploy_1.log").read_text()
    (adapter / "deploy.sh").write_text("echo no card; exit 3\n# PORT\n")
    none = run(*asked(adapter, questions, tmp_path / "none", *ON_RAY), address=cluster.address)
    assert (none.code, "So none of the 3 replicas serves" in none.out) == (4, True), none.out + none.err
    assert "no card" in none.out + none.err
