"""The command itself is lost in a run on a Ray cluster, or meets another one there."""

import signal
from pathlib import Path

import pytest
from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import (
    CONCURRENCY,
    JSON,
    ON_RAY,
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


def test_a_lost_command_is_gone_on_with(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    """All NPUs are free again, what is in the journal is not asked again, and the figures are those of one run."""
    out = tmp_path / "out"
    process = start(*asked(adapter, questions, out, *ON_RAY), address=cluster.address)
    until(lambda: answers(out), "some are answered")
    process.kill()
    command.finish(process)
    until(lambda: not processes_of(adapter), "the servers have ended")
    gone_on_with(cluster, adapter, questions, expected, out)


def gone_on_with(cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, out: Path) -> None:
    """What was being asked when the run was lost is all that is asked twice."""
    folder = command.only_run(out)
    in_vain = asked_of_servers(adapter) - answers(out)
    assert 0 <= in_vain <= CONCURRENCY * N, in_vain
    (adapter / "seconds").write_text("0")
    # Three nodes have two NPUs each: none may be held still.
    words = asked(adapter, questions, out, *ON_RAY, "--reuse", folder, "--ready-timeout", 240)
    again = run(*words, address=cluster.address)
    assert again.code == 0, again.err
    assert "has had" not in again.err
    assert figures(folder) == expected
    assert len(command.journal(folder, "lengths")) == PROBLEMS * N
    assert asked_of_servers(adapter) == PROBLEMS * N + in_vain


def test_a_run_whose_head_is_lost_is_gone_on_with_on_another_cluster(
    cluster: RayNodes,
    adapter: Path,
    questions: Path,
    expected: JSON,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command ends, and with it every deploy.sh on the nodes that are left."""
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")  # Ray's own is a minute
    out = tmp_path / "out"
    with RayNodes(tmp_path_factory.mktemp("doomed")) as doomed:
        for _ in range(2):
            doomed.start().wait()
        process = start(*asked(adapter, questions, out, *ON_RAY), address=doomed.address)
        until(lambda: answers(out), "some are answered")
        doomed.head.lose()
        done = command.finish(process)
        assert done.code != 0, done.err
        until(lambda: not processes_of(adapter), "the servers have ended")
    gone_on_with(cluster, adapter, questions, expected, out)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_end_while_deploy_sh_starts_ends_it_on_all_nodes(
    cluster: RayNodes, adapter: Path, questions: Path, tmp_path: Path, number: signal.Signals
) -> None:
    script = adapter / "deploy.sh"
    script.write_text(f'python3 -c "import time; time.sleep(600)" {adapter.name}\n{script.read_text()}')
    process = start(*asked(adapter, questions, tmp_path / "out", *ON_RAY), address=cluster.address)
    until(lambda: len(processes_of(adapter)) >= 3, "deploy.sh runs on three nodes")
    process.send_signal(number)
    done = command.finish(process)
    assert done.code == (-9 if number == signal.SIGKILL else 130), done.err + done.out
    until(lambda: not processes_of(adapter), "deploy.sh has ended on all nodes")


def test_two_runs_share_a_cluster(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    """Side by side where there is room, on ports of their own although both begin at once and load for a while."""
    (adapter / "seconds").write_text("0")
    script = (adapter / "deploy.sh").read_text()
    (adapter / "deploy.sh").write_text(f"sleep 8\n{script}")
    outs = [tmp_path / "first", tmp_path / "second"]
    resources = ("--engine", "ray", "--replicas", 3, "--resources", "NPU=1")
    runs = [start(*asked(adapter, questions, out, *resources), address=cluster.address) for out in outs]
    for done, out in zip([command.finish(each) for each in runs], outs, strict=True):
        assert done.code == 0, done.err + done.out
        assert "serves no more" not in done.err
        assert figures(command.only_run(out)) == expected
