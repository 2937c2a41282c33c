"""What goes to the nodes of a cluster, and what is said where Ray is not installed."""

import os
from pathlib import Path

import pytest
from tests.waiting import free_ports

from model_accuracy_eval.cluster import ray_replicas
from model_accuracy_eval.cluster.ray_connection import RayConnection, has_room, pack, shown, unpack
from model_accuracy_eval.errors import Refused, UsageError
from model_accuracy_eval.extras import installed
from model_accuracy_eval.settings import Settings


def test_a_folder_arrives_as_it_was(tmp_path: Path) -> None:
    """Modes and links, also those that lead out of it, but nothing of git's."""
    adapter = tmp_path / "adapter"
    (adapter / ".git").mkdir(parents=True)
    (adapter / ".git" / "HEAD").write_text("ref")
    (adapter / "deploy.sh").write_text("exec serve")
    (adapter / "deploy.sh").chmod(0o755)
    (adapter / "there").symlink_to("/etc/hosts")
    (adapter / "empty").mkdir()
    unpack(pack(str(adapter)), str(tmp_path / "copy"))
    copy = tmp_path / "copy"
    assert sorted(path.name for path in copy.iterdir()) == ["deploy.sh", "empty", "there"]
    assert ((copy / "deploy.sh").read_text(), os.access(copy / "deploy.sh", os.X_OK)) == ("exec serve", True)
    assert (copy / "there").readlink() == Path("/etc/hosts")


def test_a_port_that_is_given_away_is_not_free() -> None:
    """Although nobody listens yet; it is free again when its owner has ended."""
    one, other = free_ports(2)
    with ray_replicas.claim(one) as first, ray_replicas.claim(one) as second, ray_replicas.claim(other) as third:
        assert (first, second, third) == (True, False, True)
    with ray_replicas.claim(one) as mine:
        assert mine


def test_a_folder_with_weights_in_it_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "model.bin").open("wb") as file:
        file.truncate(300 << 20)
    with pytest.raises(Refused, match=r"has 314,572,8\d\d bytes.*keep weights elsewhere"):
        pack(str(tmp_path))


def test_resources_are_counted() -> None:
    settings = Settings(resources=("NPU=2", " nodes = 3", " CPU = 0.5"))
    wanted = settings.node_amounts
    assert (wanted, settings.nodes_per_replica) == ({"NPU": 2.0, "CPU": 0.5}, 3)
    assert shown(wanted) == "NPU=2, CPU=0.5"
    assert has_room({"NPU": 2.0, "CPU": 1.0}, wanted)
    assert not has_room({"NPU": 1.0, "CPU": 64.0}, wanted)
    assert not has_room({"CPU": 64.0}, wanted)


@pytest.mark.skipif(installed("ray"), reason="Ray is installed here")
def test_where_ray_is_not_installed_the_command_is_told() -> None:
    with pytest.raises(
        UsageError, match=r"needs ray, which is not installed: pip install 'model-accuracy-eval\[ray\]'"
    ):
        RayConnection({}).open()
