"""The container that this process runs in, if any, and the names of its paths on the engine's host."""

import os.path
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from model_accuracy_eval import extras
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.system.docker_engine import engine_errors

if TYPE_CHECKING:
    from docker import DockerClient

_MOUNTED = re.compile(r"/(?:overlay-)?containers/(?P<id>[0-9a-f]{64})/\S* /etc/(?:hostname|hosts|resolv\.conf) ")
"""A line of mountinfo: the engine mounts files of its own for the container over these in /etc."""
_CGROUP = re.compile(r"(?:docker|libpod)[-/](?P<id>[0-9a-f]{64})")
_SHORT_ID = re.compile(r"[0-9a-f]{12}")


class OwnContainer(msgspec.Struct, frozen=True):
    """`mounts` are pairs: a path in this container, and its path on the host or None. `defaults` are the image's
    environment variables."""

    id: str
    image: str
    mounts: tuple[tuple[str, str | None], ...] = ()
    defaults: frozenset[str] = frozenset()

    def on_host(self, path: str) -> str:
        """The path on the host, by the innermost mount that contains the path."""
        containing = [mount for mount in self.mounts if inside(path, mount[0])]
        destination, source = max(containing, key=lambda mount: len(mount[0]), default=("", None))
        if source is None:
            usable = ", ".join(sorted(inner for inner, outer in self.mounts if outer and inner.count("/") > 1))
            raise Refused(
                f"{path} exists only in this container, where the adapter's container cannot see it; "
                f"put it below a folder that is mounted ({usable or 'there is none: mount one with docker run -v'})."
            )
        rest = os.path.relpath(path, destination)
        return source if rest == "." else os.path.join(source, rest)  # noqa: PTH118 - a path of another system


def inside(path: str, folder: str) -> bool:
    """Whether the path is the folder or lies below it; both are absolute."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def find(client: "DockerClient", proc: str = "/proc/self") -> OwnContainer | None:
    """None outside of containers, and in a container that the engine does not know; paths are the same then."""
    docker = extras.load("docker")
    for name in _candidates(Path(proc)):
        with engine_errors("The engine did not say which container this is"):
            try:
                attributes = client.containers.get(name).attrs
                image = client.images.get(attributes["Image"]).attrs
            except docker.errors.NotFound:
                continue
        mounts = tuple((mount["Destination"], mount.get("Source") or None) for mount in attributes["Mounts"])
        defaults = frozenset(image["Config"].get("Env") or ())
        return OwnContainer(id=attributes["Id"], image=attributes["Image"], mounts=mounts, defaults=defaults)
    return None


def _candidates(proc: Path) -> Iterator[str]:
    """Possible ids of this container, the surest first: cgroup v2 hides it in /proc/self/cgroup, and `--hostname`
    replaces it in the hostname."""
    for file, pattern in (("mountinfo", _MOUNTED), ("cgroup", _CGROUP)):
        try:
            text = (proc / file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield from dict.fromkeys(match["id"] for match in pattern.finditer(text))
    host = os.uname().nodename
    if _SHORT_ID.fullmatch(host) and Path("/.dockerenv").exists():
        yield host
