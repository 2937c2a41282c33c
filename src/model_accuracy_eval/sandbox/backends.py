"""Opens a sandbox in the strongest isolation that works on this machine, or in the one that was asked for by name."""

from collections.abc import Callable, Mapping

from model_accuracy_eval.errors import AdapterFailed, BadValue, Refused, UnknownName
from model_accuracy_eval.ports.service import Sandbox
from model_accuracy_eval.sandbox.docker_backend import DockerBackend
from model_accuracy_eval.sandbox.local_backends import BwrapBackend, UnconfinedBackend, UserBackend
from model_accuracy_eval.sandbox.mode_detection import ModeDetectingSandbox
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.sandbox.worker import Backend, WorkerLost
from model_accuracy_eval.system.docker_engine import Labels

IMAGE = "python:3.11-slim-bookworm"
KINDS = ("auto", "docker", "bwrap", "uid", "none")
_AUTO_KINDS = ("docker", "bwrap")
"""What `auto` may take: the others let programs see this machine, which is for the user to decide."""


def open_sandbox(
    kind: str,
    environment: Mapping[str, str],
    *,
    image: str | None = None,
    workers: int | None = None,
    labels: Labels | None = None,
    say: Callable[[str], None] = lambda sentence: None,
    check: Callable[[], None] = lambda: None,
) -> Sandbox:
    """Returns a sandbox of this kind (`KINDS`) with one worker that is up already, so that faults show at once.

    `environment` says where the engine is; `workers` is how many programs run at a time (default: one for each core);
    `labels` are for `container_labels.sweep`, which removes what a killed run could not. `auto` takes the strongest
    kind that works, and `passed_over` says why it took none stronger; but who names an image gets it, or a refusal.
    An image that is not here is pulled: `say` shows how far that is, and `check` may raise to end it. Raises `Refused`
    with the next command to type; blocks for a second or so; call it from a thread that lasts as long as the sandbox.
    """
    if kind not in KINDS:
        raise UnknownName("sandbox", kind, KINDS)
    makers: dict[str, Callable[[], Backend]] = {
        "docker": lambda: DockerBackend(environment, image or IMAGE, labels or Labels(repository=""), say, check),
        "bwrap": BwrapBackend,
        "uid": UserBackend,
        "none": UnconfinedBackend,
    }
    if image is not None:
        kind = _of_image(kind, image)
    if kind != "auto":
        return _open(makers[kind], kind, workers, ())
    passed_over: list[str] = []
    for candidate in _AUTO_KINDS:
        try:
            return _open(makers[candidate], candidate, workers, tuple(passed_over))
        except (AdapterFailed, Refused) as error:  # noqa: PERF203 - two rounds
            passed_over.append(f"{candidate}: {error.sentence}")
    raise Refused(
        "Nothing here can hold code that a model wrote; make one of these work, or take --sandbox uid or none "
        f"if this machine may be harmed. {' '.join(passed_over)}"
    )


def _of_image(kind: str, image: str) -> str:
    """Returns the kind that runs programs in the image; on this machine's own Python they could get other verdicts."""
    if kind not in {"auto", "docker"}:
        raise BadValue(f"The sandbox {kind} has no images: take --sandbox docker for {image}, or name no image.")
    return "docker"


def _open(make: Callable[[], Backend], kind: str, workers: int | None, passed_over: tuple[str, ...]) -> Sandbox:
    backend = make()
    pool = WorkerPool(backend, workers=workers, passed_over=passed_over)
    try:
        info = pool.start_first().info
    except WorkerLost as error:
        pool.end()
        raise Refused(f"The sandbox {kind} does not work on this machine: {str(error).rstrip('.')}.") from error
    if backend.isolation in {"namespace", "uid"} and not info.filters:
        pool.end()
        raise Refused(f"The sandbox {kind} has no filter of system calls for this machine; use --sandbox docker.")
    return ModeDetectingSandbox(pool)
