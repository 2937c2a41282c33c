"""The cluster of a RayJob as KubeRay makes it: a head and workers that share a network, and no disk.

Each pod is a `ray start` in a file system of its own (bwrap), at an address of its own; the job is submitted by the
words that KubeRay's submitter uses.
"""

import random
import shutil
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.e2e.ray import ray_nodes
from tests.e2e.ray.ray_nodes import Node
from tests.waiting import HANGING, free_ports, until

JSON = dict[str, Any]
_OF_THE_IMAGE = ("bin", "etc", "lib", "lib64", "opt", "root", "sbin", "usr", "home", "nix")
"""Folders of this machine that an image has too; tests and their environments lie wherever they are checked out."""
_HOME = "/pod"


class Pods:
    """The head and the workers of a RayJob's `rayClusterSpec`. Use it in a `with` block, which ends all of them.

    `volumes`: the names of the spec's volumes → folders of this machine.
    """

    def __init__(self, spec: JSON, folder: Path, volumes: Mapping[str, Path], **variables: str) -> None:
        if shutil.which("bwrap") is None:
            pytest.skip("no bwrap, which gives each pod its own disk")
        self._cluster, self._folder, self._volumes, self._variables = spec["rayClusterSpec"], folder, volumes, variables
        self._net = f"127.{random.randint(1, 254)}.{random.randint(0, 254)}"
        self._port, dashboard = free_ports(2)
        self.dashboard = f"http://{self._net}.1:{dashboard}"
        self._dashboard_port = dashboard
        self._nodes: list[Node] = []
        self.disks: list[Path] = []
        """The /tmp of each pod, where Ray keeps its logs."""

    def __enter__(self) -> "Pods":
        try:
            self._start_all()
        except BaseException:
            self.__exit__()  # nobody else would
            raise
        return self

    def _start_all(self) -> None:
        head = self._cluster["headGroupSpec"]
        own = [
            "--head", f"--port={self._port}", "--dashboard-host=0.0.0.0", f"--dashboard-port={self._dashboard_port}",
        ]  # fmt: skip
        self._start(head, own).wait()
        for group in self._cluster["workerGroupSpecs"]:
            for _ in range(group["replicas"]):
                self._start(group, [f"--address={self._net}.1:{self._port}"]).wait()
        until(self._takes_jobs, "the head takes jobs")

    def _takes_jobs(self) -> bool:
        """KubeRay's submitter waits for that, too."""
        try:
            with urllib.request.urlopen(f"{self.dashboard}/api/gcs_healthz", timeout=10) as reply:
                return b"success" in reply.read()
        except OSError:
            return False

    def __exit__(self, *_: object) -> None:
        for node in reversed(self._nodes):
            node.lose()

    def _start(self, group: JSON, words: Sequence[str]) -> Node:
        number = len(self._nodes) + 1
        (container,) = group["template"]["spec"]["containers"]
        limits = container.get("resources", {}).get("limits", {})
        parameters = {"num-cpus": limits.get("cpu", "1"), **group.get("rayStartParams", {})}
        # KubeRay writes them so, and a shell reads them.
        flags = " ".join(f"--{name}={value}" for name, value in parameters.items())
        ip = f"{self._net}.{number}"
        # All addresses of one machine share the ports of what listens on every address.
        own = f"--node-ip-address={ip} --dashboard-agent-listen-port={free_ports(1)[0]} --object-store-memory=80000000"
        script = f"ray start --block {' '.join(ray_nodes.ANY_PORTS)} {own} {' '.join(words)} {flags}"
        disk = self._folder / f"pod-{number}"
        disk.mkdir()
        self.disks.append(disk)
        mounts = [
            word
            for mount in container.get("volumeMounts", [])
            for word in ("--bind", str(self._volumes[mount["name"]]), mount["mountPath"])
        ]
        self._nodes.append(
            Node([*_in_pod(disk, mounts, self._variables), "sh", "-c", script], self._folder / f"pod-{number}.log")
        )
        return self._nodes[-1]

    def submitted(self, entrypoint: str, job: str, *more: str) -> "subprocess.Popen[str]":
        """What KubeRay's submitter runs, in a shell as it does."""
        where = f"--address {self.dashboard}"
        script = (
            f"ray job submit {where} --no-wait {' '.join(more)} --submission-id {job} -- {entrypoint.strip()} ; "
            f"ray job logs {where} --follow {job}"
        )
        return subprocess.Popen(
            ["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ray_nodes.variables()
        )

    def ray(self, *words: str) -> str:
        """What a command of Ray prints that asks the dashboard."""
        done = subprocess.run(
            [str(ray_nodes.ENVIRONMENT / "ray"), *words, "--address", self.dashboard],
            capture_output=True, text=True, env=ray_nodes.variables(), timeout=HANGING, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr


def _in_pod(disk: Path, mounts: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    words = ["bwrap", "--die-with-parent", "--tmpfs", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
    for place in (f"/{name}" for name in _OF_THE_IMAGE):
        if Path(place).exists():
            words += ["--ro-bind", place, place]
    # The checkout comes after what may hide it: it may lie in /tmp.
    words += ["--bind", str(disk), "/tmp", "--ro-bind", str(command.ROOT), str(command.ROOT)]
    words += ["--tmpfs", "/dev/shm", "--tmpfs", _HOME, *mounts]
    for name, value in {"HOME": _HOME, **variables}.items():
        words += ["--setenv", name, value]
    return [*words, "--unsetenv", "RAY_ADDRESS", "--chdir", _HOME]
