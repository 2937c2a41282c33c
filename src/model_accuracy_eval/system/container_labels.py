"""Labels that name the owner of a container, and the removal of containers whose owner is gone.

A container survives a SIGKILL of this program, so leftovers are removed by each run that starts containers, and by
the post step of the action. The owner decides and not the run: two jobs of one repository may share a host.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from model_accuracy_eval import extras
from model_accuracy_eval.records import Record
from model_accuracy_eval.system.docker_engine import connect, engine_errors

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

MARK = "model-accuracy-eval"
_CALL_SECONDS = 5.0


class Labels(Record, frozen=True, kw_only=True):
    """The owner of a container. `run_id` names one evaluation; the jobs of a matrix share one workflow run."""

    repository: str
    run_id: str = ""
    attempt: str = ""

    def written(self, owner: str) -> dict[str, str]:
        """The labels as the engine stores them."""
        values = {"repository": self.repository, "run": self.run_id, "attempt": self.attempt, "owner": owner}
        return {MARK: "1"} | {f"{MARK}.{name}": value for name, value in values.items()}


def owner_name(own_id: str | None) -> str:
    """The container that this process runs in, or the process itself, with a name that no later process can have."""
    return f"container:{own_id}" if own_id else f"process:{_process_name(os.getpid())}"


def sweep(labels: Labels, environ: Mapping[str, str]) -> list[str]:
    """Removes containers of the repository whose owner is gone, and all containers of the named run.

    Returns the names of the removed containers. Raises `Refused` if there is no engine.
    """
    client = connect(environ, timeout=_CALL_SECONDS)
    try:
        filters = [f"{MARK}=1", f"{MARK}.repository={labels.repository}"]
        with engine_errors("The containers of earlier runs could not be listed"):
            containers = client.containers.list(all=True, filters={"label": filters}, ignore_removed=True)
        return [
            container.name or container.id or ""
            for container in containers
            if _is_leftover(container, labels, client) and remove(client, container.id)
        ]
    finally:
        client.close()


def sweep_orphans(labels: Labels, environ: Mapping[str, str]) -> None:
    """Removes containers of the repository whose owner is gone; other runs keep theirs."""
    sweep(Labels(repository=labels.repository), environ)


def remove(client: "DockerClient", name: str | None) -> bool:
    """Kills and removes a container in one call; whether this call removed it."""
    docker = extras.load("docker")
    requests = extras.load("requests")
    try:
        client.api.remove_container(name or "", force=True, v=True)
    except docker.errors.APIError as error:
        return "already in progress" in str(error)
    except (docker.errors.DockerException, requests.RequestException):
        return False
    return True


def _is_leftover(container: "Container", labels: Labels, client: "DockerClient") -> bool:
    if labels.run_id and container.labels.get(f"{MARK}.run") == labels.run_id:
        return True
    kind, _, name = container.labels.get(f"{MARK}.owner", "").partition(":")
    if kind == "container":
        return not _is_running(client, name)
    return kind == "process" and _process_is_gone(name)


def _is_running(client: "DockerClient", name: str) -> bool:
    docker = extras.load("docker")
    with engine_errors("The owner of a container could not be looked up"):
        try:
            return bool(client.containers.get(name).attrs["State"]["Running"])
        except docker.errors.NotFound:
            return False


def _process_is_gone(name: str) -> bool:
    """True only if we would see the process: same boot, same pid namespace. In doubt it is taken to be running."""
    boot, namespace, pid, _ = (name.split(" ") + [""] * 4)[:4]
    own = _process_name(os.getpid()).split(" ")
    return [boot, namespace] == own[:2] and pid.isdecimal() and _process_name(int(pid)) != name


def _process_name(pid: int) -> str:
    """Boot, pid namespace, pid and start time."""
    boot = namespace = start = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    with contextlib.suppress(OSError):
        start = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return f"{boot} {namespace} {pid} {start}"
