"""The platform around a run, as the action sees it: the runner's step, GitHub, the artifact service."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from model_accuracy_eval.ports import Ports
from model_accuracy_eval.ports.service import Sink
from model_accuracy_eval.records import Record, RunPlan
from model_accuracy_eval.records.report import (
    Actor,
    Annotation,
    CheckConclusion,
    Hardware,
    OpenCheck,
    Permission,
    PullRequest,
    StatusState,
    UploadedArtifact,
)

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class ActionContext(Record, frozen=True, kw_only=True):
    """Who asks for what, and where the result is published; no secrets."""

    repository: str
    """The workflow's own, to which comment, check, status and artifact belong."""
    actor: Actor
    event: str
    """The name of the event that started the workflow, such as `pull_request`."""
    pull: PullRequest | None
    commit: str
    """The commit that check, status and comment are about, fixed before anything else: the adapter's own, or that of
    the event when the adapter is in another repository. Never a merge commit; empty if no commit could be fixed."""
    adapter_repository: str
    adapter_ref: str
    """The input, as it was given."""
    adapter_commit: str
    """What `adapter_ref` stood for when the step began; empty if nothing could be found or nothing is checked out."""
    adapter_path: str
    hardware: str
    model: str = ""
    """The input."""
    allowed_models: tuple[str, ...] = ()
    """Patterns, one of which the model must match; none: every model is allowed."""
    admit_only: bool = False
    label: str
    objections: tuple[str, ...] = ()
    """Why the commit cannot be fixed, as sentences."""
    key: str
    """Differs between runs, and between the attempts of one run."""
    run_url: str
    workspace: str = ""
    """Outputs name paths relative to it, because later steps see it elsewhere."""

    @property
    def own_adapter(self) -> bool:
        """Says whether the adapter is in the workflow's own repository, which its token can read."""
        return is_same(self.adapter_repository, self.repository)


class CheckedOut(Record, frozen=True, kw_only=True):
    """The adapter's files at the commit of the context."""

    folder: str
    tree: str
    """git's hash of all files, which two commits with the same files share."""


def is_commit(ref: str) -> bool:
    """Says whether it is a full commit id; nothing shorter says for ever which commit is meant."""
    return _COMMIT.fullmatch(ref) is not None


def is_same(name: str, other: str) -> bool:
    """Compares names of repositories, which ignore case."""
    return name.lower() == other.lower()


class GitHubApi(Protocol):
    """GitHub's REST API with one token. Every failure is a `PublishFailed` or `Refused` with its sentence."""

    def head(self, repository: str, number: int) -> str:
        """The head commit of a pull request at this moment."""

    def permission(self, repository: str, login: str) -> Permission: ...

    def hardware(self, repository: str) -> Hardware: ...

    def append_to_branch(
        self, repository: str, branch: str, path: str, make: Callable[[bytes], bytes], *, message: str
    ) -> bytes:
        """Adds what `make` makes of a file's content; returns the new content. Makes file and branch if need be."""

    def upsert_comment(self, repository: str, number: int, marker: str, body: str) -> str:
        """Writes our comment or edits it, and returns its address."""

    def open_check(
        self,
        repository: str,
        sha: str,
        *,
        name: str,
        key: str,
        title: str,
        summary: str,
        details_url: str = "",
    ) -> OpenCheck: ...

    def complete_check(
        self,
        check: OpenCheck,
        *,
        conclusion: CheckConclusion,
        title: str,
        summary: str,
        annotation: Annotation | None = None,
        details_url: str = "",
    ) -> None: ...

    def commit_status(
        self,
        repository: str,
        sha: str,
        *,
        state: StatusState,
        context: str,
        description: str,
        target_url: str = "",
    ) -> None: ...


class ArtifactStore(Protocol):
    """Keeps folders as artifacts of the workflow run."""

    def upload(
        self, name: str, folder: str, *, retention_days: int | None, left: Callable[[], float]
    ) -> UploadedArtifact:
        """`left` gives the seconds that remain for the whole upload; a stop can change it at any moment."""


class RunnerStep(Protocol):
    """What the runner offers a step: its outputs, saved state, log, annotations and job summary."""

    def output(self, name: str, value: str) -> None: ...

    def save(self, name: str, value: str) -> None: ...

    def state(self, name: str) -> str:
        """What an earlier stage of the same step saved."""

    def say(self, text: str) -> None: ...

    def summary(self, markdown: str) -> None: ...

    def notice(self, message: str, *, title: str = "") -> None: ...

    def warning(self, message: str, *, title: str = "") -> None: ...

    def error(self, message: str, *, title: str = "") -> None: ...

    def group(self, title: str) -> AbstractContextManager[None]: ...

    def give_back(self, folder: str) -> None:
        """Makes the owner of the workspace the owner of the folder."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionPorts:
    """Everything outside the program that the action may use."""

    step: RunnerStep
    github: GitHubApi
    sinks: Sequence[Sink]
    """Where the result is published, in this order."""
    check_out: Callable[[], CheckedOut]
    """Fetches the adapter at its commit."""
    plan: Callable[[CheckedOut | None], RunPlan]
    """Makes the plan for an adapter, or for an endpoint."""
    run_ports: Callable[[RunPlan, CheckedOut | None], Ports]
    needs_adapter: bool
    plan_shards: Callable[[], Mapping[str, str]] | None = None
    """Plans the jobs of a matrix, and returns what the step's outputs say of them; None: a run is asked for."""
    lacks_npus: Callable[[RunPlan], str]
    """Returns why deploy.sh would see no NPU; empty when it would see one, or when that cannot be known."""
