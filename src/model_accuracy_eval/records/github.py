"""What is sent to GitHub's API and what it returns."""

from typing import Literal

from model_accuracy_eval.records import Record

CheckConclusion = Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"]
"""Conclusions of a check run; only GitHub itself can set `stale`."""

StatusState = Literal["error", "failure", "pending", "success"]


class Actor(Record, frozen=True, kw_only=True):
    """The user or bot that started this run."""

    login: str
    source: str
    """Where the name was found: `GITHUB_TRIGGERING_ACTOR`, or a field of the event."""


class Permission(Record, frozen=True, kw_only=True):
    """The permission of a user in a repository."""

    login: str
    repository: str
    level: str
    """`admin`, `write`, `read` or `none`; maintainers have `write`, custom roles what they are based on."""
    role_name: str
    """The name of the role, which may be a custom one."""

    @property
    def admin(self) -> bool:
        return self.level == "admin"


class Hardware(Record, frozen=True, kw_only=True):
    """The hardware types that a repository declares; none if it declares nothing."""

    types: tuple[str, ...] = ()
    """In capitals, such as `NPU`; `ascend` counts as `NPU`."""
    source: str = ""
    notes: tuple[str, ...] = ()
    """Other places that were checked before, and why they had no answer."""

    def has(self, kind: str) -> bool:
        return kind.strip().upper() in self.types


class PullRequest(Record, frozen=True, kw_only=True):
    """The pull request that a run belongs to."""

    number: int
    head_sha: str
    """The commit that results are posted to, not the merge commit in `GITHUB_SHA`."""
    head_repository: str | None
    """None if the fork was deleted."""
    is_fork: bool
    base_sha: str


class OpenCheck(Record, frozen=True, kw_only=True):
    """A check run that was created and not yet completed."""

    repository: str
    id: int
    url: str


class Annotation(Record, frozen=True, kw_only=True):
    """What a check says about one line of a file."""

    path: str
    line: int
    message: str
    title: str


class UploadedArtifact(Record, frozen=True, kw_only=True):
    """An artifact whose upload is complete."""

    name: str
    """The requested name, with a suffix if it was taken."""
    id: str | None
    """None if the server's protocol has no ids."""
    url: str
    digest: str | None
    """SHA-256 of the zip in hex; None if there is no zip."""
    notes: tuple[str, ...] = ()
    """Sentences about everything that differs from what was requested."""
