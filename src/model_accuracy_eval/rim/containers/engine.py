"""The container engine behind the docker SDK, which is imported here alone and late; its troubles as sentences."""

import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused
from model_accuracy_eval.rim.beside import beside

if TYPE_CHECKING:
    from docker import DockerClient

T = TypeVar("T")

DEFAULT_SOCKET = "unix:///var/run/docker.sock"
_CALL_LIMIT = 600.0
"""Seconds for one call: a busy engine may take long to create a container."""

_KNOWN: tuple[tuple[str, type[EvalError], str], ...] = (
    (
        "bind source path does not exist",
        Refused,
        "The engine does not see the weights where we do: it runs on another machine; use --runtime process",
    ),
    ("port is already allocated", AdapterFailed, "Another container has the port; `docker ps` shows which"),
    ("address already in use", AdapterFailed, "Another program has the port; `ss -ltnp` shows which"),
    ("error gathering device information", Refused, "The engine's host lacks a device; list them with `ls /dev`"),
)
"""What engines say, and what follows from it."""


def connect(environ: Mapping[str, str], *, timeout: float = _CALL_LIMIT) -> "DockerClient":
    """A client of the engine that answers; DOCKER_HOST and its like are honoured."""
    try:
        import docker  # noqa: PLC0415 - only the container runtime needs it
        from docker.errors import DockerException  # noqa: PLC0415
    except ImportError as error:
        raise Refused(
            "The container runtime needs the docker package; type: pip install 'model-accuracy-eval[action]'."
        ) from error
    address = environ.get("DOCKER_HOST") or DEFAULT_SOCKET
    try:
        _knock(address)
        client = docker.DockerClient.from_env(environment=dict(environ), timeout=int(timeout))
    except (DockerException, OSError, ValueError) as error:
        raise Refused(_unreachable(address, error)) from error
    return client


def _knock(address: str) -> None:
    """The plain word of the system, which the SDK would wrap several times over."""
    scheme, _, path = address.partition("://")
    if scheme == "unix":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(path)


def _unreachable(address: str, error: Exception) -> str:
    why = getattr(error, "strerror", None) or str(error)
    if isinstance(error, PermissionError):
        return (
            f"This user may not talk to the container engine at {address} ({why}); "
            "type: sudo usermod -aG docker $USER, and log in anew."
        )
    return (
        f"No container engine answers at {address} ({why}); "
        "start one (sudo systemctl start docker), mount its socket here, or use --runtime process."
    )


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turns what the engine says about `what` ("The container could not be started") into a sentence."""
    from docker.errors import APIError, DockerException  # noqa: PLC0415
    from requests import RequestException  # noqa: PLC0415

    try:
        yield
    except APIError as error:
        said = str(error.explanation or error)
        for fragment, kind, sentence in _KNOWN:
            if fragment in said:
                raise kind(f"{sentence}.", detail=said) from error
        raise AdapterFailed(f"{what}: {said.strip().rstrip('.')}.") from error
    except (DockerException, RequestException) as error:
        raise AdapterFailed(f"{what}: {str(error).strip().rstrip('.')}.") from error


def has_image(client: "DockerClient", image: str) -> bool:
    from docker.errors import ImageNotFound  # noqa: PLC0415

    with told(f"The image {image} could not be looked up"):
        try:
            client.images.get(image)
        except ImageNotFound:
            return False
        return True


def pull(client: "DockerClient", image: str, log: str, check: Callable[[], None]) -> None:
    """Fetches the image; its tag is `latest` where none is given, as on the command line."""
    from docker.errors import DockerException  # noqa: PLC0415
    from requests import RequestException  # noqa: PLC0415

    with Path(log).open("ab") as output:
        output.write(f"── docker pull {image}\n".encode())
    try:
        attended(lambda: client.images.pull(*_with_tag(image)), check)
    except (DockerException, RequestException) as error:
        said = str(getattr(error, "explanation", None) or error).strip().rstrip(".")
        raise Refused(
            f"The image {image} is not on this machine, and fetching it was refused ({said}); "
            f"correct its name, or type on the engine's machine: docker login, docker pull {image}."
        ) from error


def _with_tag(image: str) -> tuple[str, str | None]:
    """Without a tag the SDK would fetch every tag there is."""
    tagged = "@" in image or ":" in image.rpartition("/")[2]
    return image, None if tagged else "latest"


def attended(work: Callable[[], T], check: Callable[[], None]) -> T:
    """Does slow work beside; `check` is called every 0.1 s and may raise, which leaves the work to itself."""
    future = beside(work, "container-engine")
    while not future.done():
        check()
        wait([future], 0.1)
    return future.result()
