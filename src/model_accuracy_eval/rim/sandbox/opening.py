"""The ladder of isolations: the strongest that works here, or the one that was asked for by name."""

from collections.abc import Callable, Mapping

from model_accuracy_eval.errors import EvalError, Refused, UnknownName
from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.rim.containers.sweeping import Labels
from model_accuracy_eval.rim.sandbox.docker_line import DockerBackend
from model_accuracy_eval.rim.sandbox.local_lines import BareBackend, BwrapBackend, UserBackend
from model_accuracy_eval.rim.sandbox.pool import Pool
from model_accuracy_eval.rim.sandbox.settling import SettlingSandbox
from model_accuracy_eval.rim.sandbox.worker import Backend, WorkerLost

IMAGE = "python:3.11-slim-bookworm"
KINDS = ("auto", "docker", "bwrap", "uid", "none")
_CHOSEN = ("docker", "bwrap")
"""What `auto` may take: the others let programs see this machine, which is for the user to say."""


def open_sandbox(
    kind: str,
    environment: Mapping[str, str],
    *,
    image: str = IMAGE,
    slots: int | None = None,
    labels: Labels | None = None,
) -> Sandbox:
    """A sandbox of this kind (`KINDS`) with one worker that is up already, so that its faults show now.

    `environment` says where the engine is; `slots` is how many programs run at a time (default: one for each core);
    `labels` are for `sweeping.sweep`, which removes what a run that was killed could not. `auto` takes the strongest
    kind that works and tells in `passed_over` why it took none stronger. Raises `Refused` with the next command to
    type; blocks for a second or so; call it from a thread that lasts as long as the sandbox.
    """
    if kind not in KINDS:
        raise UnknownName("sandbox", kind, KINDS)
    makers: dict[str, Callable[[], Backend]] = {
        "docker": lambda: DockerBackend(environment, image, labels or Labels(repository="")),
        "bwrap": BwrapBackend,
        "uid": UserBackend,
        "none": BareBackend,
    }
    passed_over: list[str] = []
    for one in _CHOSEN if kind == "auto" else (kind,):
        try:
            return SettlingSandbox(_opened(makers[one], one, slots, tuple(passed_over)))
        except EvalError as error:  # noqa: PERF203 - two rounds
            if kind != "auto":
                raise
            passed_over.append(f"{one}: {error.sentence}")
    raise Refused(
        "Nothing here can hold code that a model wrote; make one of these work, or take --sandbox uid or none "
        f"if this machine may be harmed. {' '.join(passed_over)}"
    )


def _opened(make: Callable[[], Backend], kind: str, slots: int | None, passed_over: tuple[str, ...]) -> Pool:
    backend = make()
    pool = Pool(backend, slots=slots, passed_over=passed_over)
    try:
        hello = pool.warm().hello
    except WorkerLost as error:
        pool.end()
        raise Refused(f"The sandbox {kind} does not work on this machine: {str(error).rstrip('.')}.") from error
    if backend.isolation in {"namespace", "uid"} and not hello["filters"]:
        pool.end()
        raise Refused(f"The sandbox {kind} has no filter of system calls for this machine; use --sandbox docker.")
    return pool
