"""NPUs: nodes made with mknod stand in for real ones; the vendor's runtime is a line of the engine's description."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.integration.container.conftest import RunInside, Start
from tests.integration.container.test_container_run import ended
from tests.integration.container.tools import ADAPTER_IMAGE, make_adapter

from model_accuracy_eval.adapter import container_spec
from model_accuracy_eval.adapter.adapter_container import ContainerLauncher, ContainerOptions
from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.system.docker_engine import OwnContainer, find_own_container

if TYPE_CHECKING:
    from docker import DockerClient

LIST = 'for node in /dev/davinci*; do [ -c "$node" ] && echo "$node"; done; read x < /dev/davinci71; echo read $?\n'


@pytest.fixture
def nodes() -> Iterator[list[str]]:
    """Two NPUs and a control node of this host that behave like /dev/null."""
    made = ["/dev/davinci71", "/dev/davinci72", "/dev/davinci_manager"]
    if os.geteuid() != 0 or Path(made[2]).exists():
        pytest.skip("device nodes can be made by root alone, and where there are no real NPUs")
    try:
        for node in made:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        yield made
    finally:
        for node in made:
            Path(node).unlink(missing_ok=True)


def test_from_the_host(start: Start, nodes: list[str]) -> None:
    """auto gives every NPU and the control nodes, a number that one, none nothing; a missing one is refused."""
    assert ended(start(LIST, devices="auto")).splitlines() == [*nodes, "read 1"]
    assert ended(start(LIST, devices="71")).splitlines()[-3:] == [nodes[0], nodes[2], "read 1"]
    assert ended(start("ls /dev\n", devices="none")).count("davinci") == 5  # what the log has from before
    with pytest.raises(Refused, match=r"The engine's host has no /dev/davinci5; its devices are: 71, 72\."):
        start(LIST, devices="5,71")


def test_from_inside(inside: RunInside, nodes: list[str], tmp_path: Path) -> None:
    """A container that has no NPU itself finds the host's, and its sibling gets them."""
    make_adapter(tmp_path / "adapter", LIST)
    order = {"folder": "/github/workspace/adapter", "serves": False, "options": {"devices": "all"}}
    inside(order).wait()
    assert (tmp_path / "deploy.log").read_text().splitlines() == [*nodes, "read 1"]


def test_none_there(client: "DockerClient") -> None:
    """Without NPUs auto gives none and all refuses; other words are no devices."""
    if container_spec.choose_npus("auto", client, None, {}, {}).nodes:
        pytest.skip("this machine has NPUs")
    with pytest.raises(Refused, match=r"devices is all, but the engine's host has no /dev/davinci<N>"):
        container_spec.choose_npus("all", client, None, {}, {})
    for wish in ("some", "0-3", "", "0,"):
        with pytest.raises(BadValue, match="it takes auto, all, none, or numbers such as 0,1"):
            container_spec.npu_numbers(wish)


def lack(environ: dict[str, str], wish: str) -> str:
    return ContainerLauncher(environ, ContainerOptions(image=ADAPTER_IMAGE, devices=wish)).lacks_npus()


def test_a_lack_is_known_before_anything_is_fetched(client: "DockerClient", nodes: list[str], tmp_path: Path) -> None:
    """The same rules as for deploying; where more is wrong than that, the objection tells it, and nothing is said twice."""
    environ = dict(os.environ)
    assert [lack(environ, wish) for wish in ("auto", "all", "71")] == ["", "", ""]
    assert lack(environ, "5") == "The engine's host has no /dev/davinci5; its devices are: 71, 72."
    for node in nodes:
        Path(node).unlink()
    assert lack(environ, "auto") == "The engine's host has no /dev/davinci<N>."
    assert lack(environ, "some") == ""
    assert lack({"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}, "auto") == ""


class VendorEngine:
    """An engine whose default runtime hands out NPUs."""

    def info(self) -> dict[str, Any]:
        return {"DefaultRuntime": "ascend"}


def test_vendor_runtime(nodes: list[str]) -> None:
    """The vendor's runtime is told numbers by a variable, and nothing else is given."""
    engine = cast("DockerClient", VendorEngine())
    for wish, environ, value in (
        ("auto", {}, "71,72"), ("all", {}, "71,72"), ("71", {}, "71"), ("none", {}, "void"),
        ("auto", {"ASCEND_VISIBLE_DEVICES": "72"}, "72"),
    ):  # fmt: skip
        chosen = container_spec.choose_npus(wish, engine, None, environ, {})
        assert chosen == container_spec.Devices(environment={"ASCEND_VISIBLE_DEVICES": value}), (wish, nodes)
        assert chosen.any == (value != "void")


def test_host_paths() -> None:
    """The longest mount decides; what lies in no mount, or in one without a place on the host, is refused."""
    own = OwnContainer(
        id="x",
        image="y",
        mounts=(("/github/workspace", "/srv/w"), ("/github/workspace/fast", "/nvme"), ("/github/tmp", None)),
    )
    assert own.on_host("/github/workspace") == "/srv/w"
    assert own.on_host("/github/workspace/a/b") == "/srv/w/a/b"
    assert own.on_host("/github/workspace/fast/c") == "/nvme/c"
    for path in ("/github/workspaces", "/github/tmp/x", "/etc"):
        with pytest.raises(
            Refused, match=r"exists only in this container.*\(/github/workspace, /github/workspace/fast\)"
        ):
            own.on_host(path)


def test_own_container(client: "DockerClient", tmp_path: Path, repository: str) -> None:
    """The id is found in mountinfo (cgroup v2) or cgroup (v1); an engine that does not know it is another one's."""
    assert find_own_container(client) is None
    box = client.containers.create("python:3.11-slim-bookworm", labels={"model-accuracy-eval.repository": repository})
    (tmp_path / "cgroup").write_text(f"0::/system.slice/docker-{box.id}.scope\n")
    found = find_own_container(client, str(tmp_path))
    assert found is not None
    assert found.id == box.id
    (tmp_path / "cgroup").write_text("0::/\n")
    line = "90 72 254:0 /var/lib/docker/containers/{}/hostname /etc/hostname rw - ext4 /dev/vda rw\n"
    (tmp_path / "mountinfo").write_text(line.format(box.id))
    assert find_own_container(client, str(tmp_path)) == found
    (tmp_path / "mountinfo").write_text(line.format("0" * 64))
    assert find_own_container(client, str(tmp_path)) is None
    (tmp_path / "mountinfo").write_text(line.format(box.id).replace("/etc/hostname", "/srv/hostname"))
    assert find_own_container(client, str(tmp_path)) is None
