"""Labels that say whose a container is, and the removal of containers whose owner is gone.

A container outlives our own SIGKILL, so whoever comes next looks: each run that makes some, and the post step of the
action. The owner is what decides, and not the run: two jobs of one repository may share a host.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from model_accuracy_eval.records import Record
from model_accuracy_eval.rim.containers.engine import connect, told

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

MARK = "model-accuracy-eval"
_CALL_LIMIT = 5.0


class Labels(Record, frozen=True, kw_only=True):
    """Whose a container is. `run_id` names one evaluation, not a workflow run: jobs of a matrix share that."""

    repository: str
    run_id: str = ""
    attempt: str = ""

    def written(self, owner: str) -> dict[str, str]:
        """As the engine keeps them."""
        named = {"repository": self.repository, "run": self.run_id, "attempt": self.attempt, "owner": owner}
        return {MARK: "1"} | {f"{MARK}.{name}": value for name, value in named.items()}


def owner_name(own_id: str | None) -> str:
    """The container that this process runs in, or the process itself, by a name that no later one can have."""
    return f"container:{own_id}" if own_id else f"process:{_process_name(os.getpid())}"


def sweep(labels: Labels, environ: Mapping[str, str]) -> list[str]:
    """Removes containers of the repository whose owner is gone, and those of the run named, owner or not.

    Returns the names of what was removed. Without an engine there is nothing to remove: `Refused` tells why.
    """
    client = connect(environ, timeout=_CALL_LIMIT)
    try:
        wanted = [f"{MARK}=1", f"{MARK}.repository={labels.repository}"]
        with told("The containers of earlier runs could not be listed"):
            found = client.containers.list(all=True, filters={"label": wanted}, ignore_removed=True)
        return [one.name or one.id or "" for one in found if _is_ours(one, labels, client) and remove(client, one.id)]
    finally:
        client.close()


def sweep_orphans(labels: Labels, environ: Mapping[str, str]) -> None:
    """What of the same repository nobody owns any more; runs that are under way keep theirs."""
    sweep(Labels(repository=labels.repository), environ)


def remove(client: "DockerClient", name: str | None) -> bool:
    """Kills and removes in one call; whether that did it (it may have been gone already)."""
    from docker.errors import APIError, DockerException  # noqa: PLC0415
    from requests import RequestException  # noqa: PLC0415

    try:
        client.api.remove_container(name or "", force=True, v=True)
    except APIError as error:
        return "already in progress" in str(error)
    except (DockerException, RequestException):
        return False
    return True


def _is_ours(one: "Container", labels: Labels, client: "DockerClient") -> bool:
    if labels.run_id and one.labels.get(f"{MARK}.run") == labels.run_id:
        return True
    kind, _, name = one.labels.get(f"{MARK}.owner", "").partition(":")
    if kind == "container":
        return not _runs(client, name)
    return kind == "process" and _process_is_gone(name)


def _runs(client: "DockerClient", name: str) -> bool:
    from docker.errors import NotFound  # noqa: PLC0415

    with told("The owner of a container could not be looked up"):
        try:
            return bool(client.containers.get(name).attrs["State"]["Running"])
        except NotFound:
            return False


def _process_is_gone(name: str) -> bool:
    """Only where we could see it: under the same boot and in the same pid namespace. In doubt it lives."""
    boot, space, pid, _ = (name.split(" ") + [""] * 4)[:4]
    here = _process_name(os.getpid()).split(" ")
    return [boot, space] == here[:2] and pid.isdecimal() and _process_name(int(pid)) != name


def _process_name(pid: int) -> str:
    """Boot, pid namespace, pid, and the tick it was started at."""
    boot = space = start = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    with contextlib.suppress(OSError):
        start = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return f"{boot} {space} {pid} {start}"
