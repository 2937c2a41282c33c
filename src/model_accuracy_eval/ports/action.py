"""The platform around a run, as the action sees it: the runner's step, the forge, the artifact service."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import Record, RunPlan
from model_accuracy_eval.records.forge import (
    Actor,
    Annotation,
    Check,
    CheckConclusion,
    Hardware,
    Permission,
    PullRequest,
    StatusState,
    Uploaded,
)


class Job(Record, frozen=True, kw_only=True):
    """Who asks for what, and where it is told; no secrets."""

    repository: str
    """The workflow's: comment, check, status and artifact are its."""
    actor: Actor
    pull: PullRequest | None
    sha: str
    """The commit that is told about: a pull request's head, never its merge commit."""
    adapter_repository: str
    adapter_ref: str
    adapter_path: str
    hardware: str
    label: str
    key: str
    """Differs from run to run and attempt to attempt."""
    run_url: str
    comment: bool
    check: bool
    status: Literal["auto", "true", "false"]
    artifact_name: str
    """Empty: none."""
    retention_days: int | None = None
    workspace: str = ""
    """Paths are told relative to it: later steps see it elsewhere."""

    @property
    def own_adapter(self) -> bool:
        """Whether the adapter is in the workflow's own repository, where its token reaches."""
        return is_same(self.adapter_repository, self.repository)


def is_same(one: str, other: str) -> bool:
    """Names of repositories know no case."""
    return one.lower() == other.lower()


class Forge(Protocol):
    """The platform's API, with one token. Every refusal is a `PublishFailed` or `Refused` with its sentence."""

    def permission(self, repository: str, login: str) -> Permission: ...

    def hardware(self, repository: str) -> Hardware: ...

    def upsert_comment(self, repository: str, number: int, marker: str, body: Callable[[str], str]) -> str:
        """`body` makes the new text from what our comment says below its marker; empty: there is none yet."""

    def open_check(
        self,
        repository: str,
        sha: str,
        *,
        name: str,
        key: str,
        title: str,
        summary: str,
        details_url: str | None = None,
    ) -> Check: ...

    def complete_check(
        self,
        check: Check,
        *,
        conclusion: CheckConclusion,
        title: str,
        summary: str,
        text: str | None = None,
        annotations: Sequence[Annotation] = (),
        details_url: str | None = None,
    ) -> tuple[str, ...]: ...

    def commit_status(
        self,
        repository: str,
        sha: str,
        *,
        state: StatusState,
        context: str,
        description: str,
        target_url: str | None = None,
    ) -> None: ...

    def hurry(self, seconds: float) -> None: ...


class Artifacts(Protocol):
    """Keeps whole folders beside the workflow run."""

    def upload(self, name: str, folder: str, *, retention_days: int | None, left: Callable[[], float]) -> Uploaded:
        """`left`: seconds for everything together, which a stop can change at any moment."""


class Progress(Protocol):
    """Keeps a check up to date while the run is under way, and never in its way."""

    def start(self, check: Check) -> None: ...

    def stop(self) -> bool:
        """Nothing is sent from now on. False when the forge is still busy with what was sent before."""


class Step(Protocol):
    """The runner's surface for this step."""

    def output(self, name: str, value: str) -> None: ...

    def save(self, name: str, value: str) -> None: ...

    def say(self, text: str) -> None: ...

    def summary(self, markdown: str) -> None: ...

    def notice(self, message: str, *, title: str = "") -> None: ...

    def warning(self, message: str, *, title: str = "") -> None: ...

    def error(self, message: str, *, title: str = "") -> None: ...

    def group(self, title: str) -> AbstractContextManager[None]: ...

    def give_back(self, folder: str) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """Everything outside that the action may touch."""

    step: Step
    forge: Forge
    artifacts: Artifacts | None
    check_out: Callable[[Job], str]
    """Brings the adapter at its commit; returns its folder."""
    plan: Callable[[str], tuple[RunPlan, str]]
    """The plan of the run for an adapter folder (empty for an endpoint), and the file that keeps it."""
    ports: Callable[[RunPlan], Ports]
    needs_adapter: bool
    progress: Progress
    since_stop: Callable[[], float]
    """Seconds since somebody asked the run to end; 0 when nobody did."""
    lacks_npus: Callable[[RunPlan], str]
    """Why deploy.sh would see no NPU; empty: it would see one, or nobody can know."""
