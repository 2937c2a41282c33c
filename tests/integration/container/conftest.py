"""A real engine and the images that the tests use; everything started carries a label of this session."""

import io
import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.base_image import BASE
from tests.integration.container.tools import ADAPTER_IMAGE, DOCKERFILES, INSIDE, SELF_IMAGE, SOURCE, make_adapter
from tests.simulator.scene import unmet

from model_accuracy_eval.adapter.adapter_container import AdapterContainer, ContainerLauncher, ContainerOptions
from model_accuracy_eval.system.docker_engine import MARK, Labels

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

Start = Callable[..., AdapterContainer]
RunInside = Callable[..., "Container"]


@pytest.fixture(scope="session")
def client() -> Iterator["DockerClient"]:
    """The engine with its base image and ours built on it."""
    try:
        import docker  # noqa: PLC0415 - its absence is told
    except ImportError:
        unmet("the docker package is not installed")
    try:
        found = docker.from_env(timeout=120)
    except docker.errors.DockerException as error:
        unmet(f"no container engine is reachable: {error}")
    try:
        found.images.get(BASE)
    except docker.errors.ImageNotFound:
        found.close()
        unmet(f"the engine has no image {BASE}")
    for tag, text in DOCKERFILES.items():
        found.images.build(fileobj=io.BytesIO(text.encode()), tag=tag, rm=True, forcerm=True)
    yield found
    found.close()


@pytest.fixture
def repository(client: "DockerClient") -> Iterator[str]:
    """A name that the containers of one test carry; what carries it at the end is removed."""
    name = f"tests/{secrets.token_hex(4)}"
    yield name
    for one in client.containers.list(all=True, filters={"label": f"{MARK}.repository={name}"}, ignore_removed=True):
        one.remove(force=True)


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "deploy.log")


@pytest.fixture
def start(tmp_path: Path, log: str, repository: str) -> Iterator[Start]:
    """`start(deploy, requirements, port=…, model_path=…, environ=…, **options)` starts an adapter from out here."""
    started: list[AdapterContainer] = []

    def run(deploy: str, requirements: str | None = None, **more: Any) -> AdapterContainer:
        folder = more.pop("folder", None) or make_adapter(tmp_path / "adapter", deploy, requirements)
        call = {"port": more.pop("port", 8000), "model_path": more.pop("model_path", "")}
        environ = {**os.environ, **more.pop("environ", {})}
        labels = Labels(repository=repository, run_id=secrets.token_hex(16), attempt="1")
        options = ContainerOptions(**{"image": ADAPTER_IMAGE, "devices": "none", "labels": labels, **more})
        started.append(ContainerLauncher(environ, options).start(folder=folder, log=log, **call))
        return started[-1]

    yield run
    for box in started:
        box.stop()


@pytest.fixture
def inside(client: "DockerClient", tmp_path: Path, repository: str) -> Iterator[RunInside]:
    """`inside(order)` runs the launcher in a container that has the engine's socket, and a workspace mounted."""
    running: list[Container] = []

    def run(order: dict[str, Any], **more: Any) -> "Container":
        labels = {"repository": repository, "run_id": secrets.token_hex(16), "attempt": "1"}
        options = {"image": ADAPTER_IMAGE, "devices": "none", "labels": labels, **order.pop("options", {})}
        order = {"model_path": "", "log": "/github/workspace/deploy.log", "options": options, **order}
        volumes = ["/var/run/docker.sock:/var/run/docker.sock", f"{tmp_path}:/github/workspace", f"{SOURCE}:/source:ro"]
        environment = {"PYTHONPATH": "/source", "PYTHONDONTWRITEBYTECODE": "1", **more.pop("environment", {})}
        running.append(
            client.containers.run(
                SELF_IMAGE,
                ["python3", "-c", INSIDE, json.dumps(order)],
                volumes=volumes,
                environment=environment,
                detach=True,
                **more,
            )
        )
        return running[-1]

    yield run
    for one in running:
        one.remove(force=True)
