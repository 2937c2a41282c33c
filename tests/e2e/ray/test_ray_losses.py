"""A run loses its Ray cluster, meets another run there, or is stopped before it has begun."""

import signal
from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import JSON, ON_RAY, asked, figures, processes_of, start
from tests.waiting import until


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
    for done, out in zip([command.finish(each, 240) for each in runs], outs, strict=True):
        assert done.code == 0, done.err + done.out
        assert "serves no more" not in done.err
        assert figures(command.only_run(out)) == expected


def test_a_stop_while_deploy_sh_starts_ends_it_on_all_nodes(
    cluster: RayNodes, adapter: Path, questions: Path, tmp_path: Path
) -> None:
    script = adapter / "deploy.sh"
    script.write_text(f'python3 -c "import time; time.sleep(600)" {adapter.name}\n{script.read_text()}')
    process = start(*asked(adapter, questions, tmp_path / "out", *ON_RAY), address=cluster.address)
    until(lambda: len(processes_of(adapter)) >= 3, "deploy.sh runs on three nodes", 120)
    process.send_signal(signal.SIGINT)
    done = command.finish(process, 60)
    assert done.code == 130, done.err + done.out
    assert not processes_of(adapter)
