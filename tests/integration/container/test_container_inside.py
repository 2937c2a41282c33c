"""The launcher in a container that has the engine's socket, as the action runs; and what is left when that is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.container.conftest import RunInside, Start
from tests.integration.container.tools import ADAPTER_IMAGE, get, make_adapter, report
from tests.waiting import until

from model_accuracy_eval.adapter.adapter_container import ContainerLauncher, ContainerOptions
from model_accuracy_eval.system.docker_engine import MARK, Labels, sweep

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

WORKSPACE = "/github/workspace"


def told(program: "Container") -> dict[str, object]:
    program.wait()
    return report(program.logs())


def names(client: "DockerClient", repository: str) -> set[str]:
    found = client.containers.list(all=True, filters={"label": f"{MARK}.repository={repository}"}, ignore_removed=True)
    return {str(one.name) for one in found}


def test_served_to_the_action_alone(inside: RunInside, tmp_path: Path, client: "DockerClient", repository: str) -> None:
    """Two jobs on one host serve on localhost:8000 each; the host's port stays closed; mounted weights are found."""
    for job in ("one", "two"):
        make_adapter(tmp_path / job, "cd $MODEL_PATH; exec python3 -m http.server 8000 --bind 127.0.0.1\n")
        (tmp_path / f"weights-{job}" / "v1").mkdir(parents=True)
        (tmp_path / f"weights-{job}" / "v1" / "models").write_text(f"weights of {job}")
    jobs = {
        job: inside({"folder": f"{WORKSPACE}/{job}", "model_path": f"{WORKSPACE}/weights-{job}", "linger": True,
                     "log": f"{WORKSPACE}/{job}.log"})
        for job in ("one", "two")
    }  # fmt: skip
    for job, program in jobs.items():
        until(program.logs, "the adapter serves")
        said = report(program.logs())
        assert (said["objection"], said["answer"]) == (None, f"weights of {job}")
    assert get(8000) is None
    assert len(names(client, repository)) == 2
    for program in jobs.values():
        program.kill("SIGINT")
        program.wait()
    assert names(client, repository) == set()


def test_permission_denied(inside: RunInside, tmp_path: Path) -> None:
    """A user who may not use the socket is told how to be allowed."""
    tmp_path.chmod(0o755)
    make_adapter(tmp_path / "adapter", "")
    said = told(inside({"folder": f"{WORKSPACE}/adapter"}, user="65534:65534"))
    assert said["objection"] == said["sentence"]
    assert "may not talk to the container engine at unix:///var/run/docker.sock (Permission denied)" in str(
        said["sentence"]
    )
    assert "sudo usermod -aG docker $USER" in str(said["sentence"])


def test_no_engine(tmp_path: Path) -> None:
    """Without an engine the objection says where it was looked for and what to type."""
    folder = make_adapter(tmp_path / "adapter", "")
    launcher = ContainerLauncher({"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}, ContainerOptions(image=ADAPTER_IMAGE))
    objection = str(launcher.objection(folder))
    assert f"No container engine answers at unix://{tmp_path}/none.sock (No such file or directory)" in objection
    assert "sudo systemctl start docker" in objection
    assert "There is no deploy.sh" in str(launcher.objection(str(tmp_path)))


def test_sweep_after_a_kill(inside: RunInside, tmp_path: Path, client: "DockerClient", repository: str) -> None:
    """A sibling that outlived its owner is swept; one whose owner lives stays, until its own run is named."""
    make_adapter(tmp_path / "adapter", "exec python3 server.py 127.0.0.1 8000\n")
    order = {"folder": f"{WORKSPACE}/adapter", "linger": True}
    dead, alive = inside(dict(order)), inside({**order, "log": f"{WORKSPACE}/second.log"})
    siblings = []
    for program in (dead, alive):
        until(program.logs, "the adapter serves")
        siblings.append(str(report(program.logs())["name"]))
    dead.kill()
    assert names(client, repository) == set(siblings), "a sibling does not die with its owner"
    assert sweep(Labels(repository="tests/another"), os.environ) == []
    assert sweep(Labels(repository=repository, run_id="another"), os.environ) == [siblings[0]]
    assert names(client, repository) == {siblings[1]}
    run = client.containers.get(siblings[1]).labels[f"{MARK}.run"]
    assert sweep(Labels(repository=repository, run_id=run), os.environ) == [siblings[1]]
    assert sweep(Labels(repository=repository, run_id=run), os.environ) == []


def test_sweep_on_a_plain_machine(start: Start, tmp_path: Path, client: "DockerClient", repository: str) -> None:
    """A process that was killed leaves its container to the sweep; a process that lives keeps its own."""
    kept = start("sleep 60\n", port=0)
    program = (
        "import os, signal, sys; from model_accuracy_eval.adapter.adapter_container import *; "
        "options = ContainerOptions(image=sys.argv[1], devices='none', labels=Labels(repository=sys.argv[2])); "
        "ContainerLauncher(os.environ, options).start(folder=sys.argv[3], model_path='', port=0, log=sys.argv[4]); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    folder, log = str(tmp_path / "adapter"), str(tmp_path / "other.log")
    done = subprocess.run([sys.executable, "-c", program, ADAPTER_IMAGE, repository, folder, log], check=False)
    assert done.returncode == -signal.SIGKILL
    orphans = names(client, repository) - {kept.name}
    assert len(orphans) == 1
    assert set(sweep(Labels(repository=repository), os.environ)) == orphans
    assert names(client, repository) == {kept.name}


if not Path("/var/run/docker.sock").exists() and os.environ.get("CI") != "true":
    pytestmark = pytest.mark.skip("the engine's socket is not at /var/run/docker.sock")
