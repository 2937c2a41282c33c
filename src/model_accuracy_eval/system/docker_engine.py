"""The container engine through the docker SDK, and its errors as sentences."""

import contextlib
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from model_accuracy_eval import extras
from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused, UsageError
from model_accuracy_eval.records import Record
from model_accuracy_eval.system.clock import in_background

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container
    from docker.models.images import Image


T = TypeVar("T")

DEFAULT_SOCKET = "unix:///var/run/docker.sock"
_CALL_LIMIT = 600.0
"""Seconds for one call: a busy engine may take long to create a container."""

_KNOWN_ERRORS: tuple[tuple[str, type[EvalError], str], ...] = (
    (
        "bind source path does not exist",
        Refused,
        "The engine does not see the weights at this path because it runs on another machine; use --runtime process",
    ),
    ("port is already allocated", AdapterFailed, "Another container has the port; `docker ps` shows which"),
    ("address already in use", AdapterFailed, "Another program has the port; `ss -ltnp` shows which"),
    ("error gathering device information", Refused, "The engine's host lacks a device; list them with `ls /dev`"),
)
"""A part of the engine's message, the error that it means, and what to do."""


def connect(environ: Mapping[str, str], *, timeout: float = _CALL_LIMIT) -> "DockerClient":
    """A client of the engine that answers; DOCKER_HOST and its like are honoured."""
    try:
        docker = extras.load("docker", needed_by="The container runtime")
    except UsageError as error:
        raise Refused(error.sentence, next_step=error.next_step) from error
    address = environ.get("DOCKER_HOST") or DEFAULT_SOCKET
    try:
        _connect_socket(address)
        client: DockerClient = docker.DockerClient.from_env(environment=dict(environ), timeout=int(timeout))
    except (docker.errors.DockerException, OSError, ValueError) as error:
        raise Refused(_unreachable(address, error)) from error
    return client


def _connect_socket(address: str) -> None:
    """Raises the system's own error, which the SDK would wrap several times."""
    scheme, _, path = address.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(path)


def _unreachable(address: str, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, PermissionError):
        return (
            f"This user may not talk to the container engine at {address} ({reason}); "
            "type: sudo usermod -aG docker $USER, and log in again."
        )
    return (
        f"No container engine answers at {address} ({reason}); "
        "start one (sudo systemctl start docker), mount its socket here, or use --runtime process."
    )


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turns the engine's errors into sentences that begin with `what`, such as "The container could not be started"."""
    docker = extras.load("docker")
    requests = extras.load("requests")
    try:
        yield
    except docker.errors.APIError as error:
        message = str(error.explanation or error)
        for fragment, kind, sentence in _KNOWN_ERRORS:
            if fragment in message:
                raise kind(f"{sentence}.", detail=message) from error
        raise AdapterFailed(f"{what}: {message.strip().rstrip('.')}.") from error
    except (docker.errors.DockerException, requests.RequestException) as error:
        raise AdapterFailed(f"{what}: {str(error).strip().rstrip('.')}.") from error


def has_image(client: "DockerClient", image: str) -> bool:
    docker = extras.load("docker")
    with engine_errors(f"The image {image} could not be looked up"):
        try:
            client.images.get(image)
        except docker.errors.ImageNotFound:
            return False
        return True


def pull(client: "DockerClient", image: str, say: Callable[[str], None], check: Callable[[], None]) -> None:
    """Pulls the image; its tag is `latest` where none is given, as on the command line."""
    docker = extras.load("docker")
    requests = extras.load("requests")
    say(f"Pulling the image {image}.")
    try:
        pulled = run_attended(lambda: client.images.pull(image), check)
    except (docker.errors.DockerException, requests.RequestException) as error:
        message = str(getattr(error, "explanation", None) or error).strip().rstrip(".")
        raise Refused(
            f"The image {image} is not on this machine, and pulling it was refused ({message}); "
            f"correct its name, or type on the engine's machine: docker login, docker pull {image}."
        ) from error
    say(f"Pulled {digest(pulled)}.")


def digest(image: "Image", name: str = "") -> str:
    """Name and digest in its registry, of several that of the name; the engine's own id of one that was in none."""
    digests = [str(each) for each in image.attrs.get("RepoDigests") or ()]
    repository = re.sub(r"(@.*|:[^/:]*)$", "", name)
    own = f"{name} {image.id}".strip()
    return next((each for each in digests if each.startswith(f"{repository}@")), digests[0] if digests else own)


def run_attended(work: Callable[[], T], check: Callable[[], None]) -> T:
    """The result of slow work in a thread. `check` is called every 0.1 s and may raise, which ends the waiting."""
    future = in_background(work, "container-engine")
    while not future.done():
        check()
        wait([future], 0.1)
    return future.result()


# Labels that name the owner of a container, and the removal of containers whose owner is gone.
#
# A container survives a SIGKILL of this program, so leftovers are removed by each run that starts containers, and by
# the post step of the action. The owner decides and not the run: two jobs of one repository may share a host.


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


# The container that this process runs in, if any, and the names of its paths on the engine's host.


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


def find_own_container(client: "DockerClient", proc: str = "/proc/self") -> OwnContainer | None:
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
