"""The whole command with an adapter in a container: killed outright, it leaves nothing for ever."""

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.e2e import command
from tests.integration.container.tools import ADAPTER_IMAGE
from tests.waiting import free_port, free_ports, until

from model_accuracy_eval.adapter.adapter_container import ContainerLauncher, ContainerOptions
from model_accuracy_eval.system import docker_engine
from model_accuracy_eval.system.docker_engine import MARK

if TYPE_CHECKING:
    from docker import DockerClient


def test_what_a_killed_run_leaves_behind_is_removed_by_the_next(client: "DockerClient", tmp_path: Path) -> None:
    """It still serves on the adapter's port, where no other could be started."""
    asked = [
        "run", command.ADAPTER, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", tmp_path,
        "--runtime", "container", "--adapter-image", ADAPTER_IMAGE, "--devices", "none", "--port", free_port(),
    ]  # fmt: skip
    first = command.start(*asked)
    until(lambda: list(tmp_path.glob("[0-9a-f]*/predictions/*/*.jsonl")), "the first run is asking")
    first.send_signal(signal.SIGKILL)
    command.finish(first)
    assert owned(client, first.pid), "a container does not die with its owner"
    done = command.run(*asked)
    assert done.code == 0, done.err
    assert not owned(client, first.pid)


def test_each_replica_has_a_container_of_its_own(client: "DockerClient", tmp_path: Path) -> None:
    """With its port and its log; both answer, and both are gone at the end."""
    first, _ = ports = free_ports(2)
    process = command.start(
        "run", command.ADAPTER, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", tmp_path,
        "--runtime", "container", "--adapter-image", ADAPTER_IMAGE, "--devices", "none", "--port", first, "--replicas", 2,
    )  # fmt: skip
    done = command.finish(process)
    assert done.code == 0, done.err
    folder = command.only_run(tmp_path)
    replicas = command.facts(folder)["replicas"]
    assert {each["replica"] for each in replicas} == {f"127.0.0.1:{port}" for port in ports}
    assert min(each["samples"] for each in replicas) > 0
    assert (folder / "logs/deploy.log").is_file()
    assert (folder / "logs/deploy_1.log").is_file()
    assert not owned(client, process.pid)


def owned(client: "DockerClient", pid: int) -> list[str]:
    found = client.containers.list(all=True, filters={"label": f"{MARK}=1"}, ignore_removed=True)
    return [one.name or "" for one in found if f" {pid} " in one.labels[f"{MARK}.owner"]]


def test_an_image_whose_tag_moves_is_the_one_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digest stands in the report before deploy.sh is started, and that image is started."""
    tags = {"acme/serving:1": "sha256:old"}

    def get(name: str) -> SimpleNamespace:
        found = tags.get(name, name)
        digests = [f"other/name@{found}-manifest", f"acme/serving@{found}-manifest"]
        return SimpleNamespace(id=found, attrs={"RepoDigests": digests})

    client = SimpleNamespace(images=SimpleNamespace(get=get), close=lambda: None)
    monkeypatch.setattr(docker_engine, "connect", lambda _environ: client)
    launcher = ContainerLauncher({}, ContainerOptions(image="acme/serving:1"))
    assert launcher.image() == "acme/serving@sha256:old-manifest"
    tags["acme/serving:1"] = "sha256:evil"
    assert launcher.image() == "acme/serving@sha256:old-manifest"
    assert (
        ContainerLauncher({}, ContainerOptions(image="acme/serving:1")).image() == "acme/serving@sha256:evil-manifest"
    )
