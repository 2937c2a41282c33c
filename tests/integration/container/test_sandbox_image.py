"""The image that a sandbox is given by name: pulled from a real registry, or refused, and never another one."""

import io
import os
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.base_image import BASE
from tests.servers.image_registry import ImageRegistry, image_registry

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.system import docker_engine
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.docker_engine import Labels

if TYPE_CHECKING:
    from docker import DockerClient

_SMALL = f"""
FROM {BASE}
RUN mkdir /small && cp -a --parents \\
    $(ls -d /usr/bin/python3* /usr/local/bin /usr/local/lib /usr/lib /usr/lib64 /lib /lib64 2>/dev/null) /small
FROM scratch
COPY --from=0 /small /
"""
"""Python and nothing else, in one layer that no other image has."""
LABELS = Labels(repository=f"tests/{secrets.token_hex(4)}")

Served = tuple[ImageRegistry, str]


@pytest.fixture(scope="module")
def served(client: "DockerClient") -> Iterator[Served]:
    """A registry, and the full name of its image, which the engine does not have."""
    built, _ = client.images.build(fileobj=io.BytesIO(_SMALL.encode()), rm=True, forcerm=True)
    saved = b"".join(built.save())
    client.images.remove(str(built.id), force=True)
    with image_registry(saved) as (registry, host):
        yield registry, f"{host}/tests/small:1"


@pytest.fixture
def absent(client: "DockerClient", served: Served) -> Iterator[Served]:
    """The same; the engine does not keep what the test pulled."""
    yield served
    if docker_engine.has_image(client, served[1]):
        client.images.remove(served[1], force=True)


@pytest.mark.parametrize("kind", ["auto", "docker"])
def test_a_missing_image_is_pulled(kind: str, absent: Served) -> None:
    """What is done is said, programs run in it, and its digest stands in what came of them."""
    registry, image = absent
    said: list[str] = []
    box = open_sandbox(kind, os.environ, image=image, workers=1, labels=LABELS, say=said.append)
    try:
        execution = run(box.run(Program(code="def one(): return 1", tests="assert one() == 1")))
    finally:
        run(box.close())
    name = f"{image.removesuffix(':1')}@{registry.digest}"
    assert (execution.passed, execution.isolation, execution.image) == (True, "container", name)
    assert (said[0], said[-1]) == (f"Pulling the image {image}.", f"Pulled {name}.")


@pytest.mark.parametrize("kind", ["auto", "docker"])
def test_a_registry_that_refuses_is_told(kind: str, absent: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its own words, with the command to type; `auto` takes no weaker sandbox for a named image."""
    registry, image = absent
    monkeypatch.setattr(registry, "denied", "only for members")
    with pytest.raises(
        Refused, match=rf"^The image {image} is not on this .*only for members.* docker pull {image}\.$"
    ):
        open_sandbox(kind, os.environ, image=image, workers=1, labels=LABELS)


def test_an_image_that_is_built_is_not_pulled() -> None:
    """No registry has it; the command that builds it is named."""
    image = "mae-humaneval-x:never-built"
    with pytest.raises(Refused, match="no registry has") as refusal:
        open_sandbox("auto", os.environ, image=image, labels=LABELS, say=pytest.fail)
    assert refusal.value.next_step == f"docker build -t {image} docker/humaneval_x"
