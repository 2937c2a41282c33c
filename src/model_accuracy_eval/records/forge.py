"""What is said to GitHub and what it answers, as frozen nouns."""

from typing import Literal

from model_accuracy_eval.records import Record

CheckConclusion = Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"]
"""How a check can end; `stale` is GitHub's own to give."""

StatusState = Literal["error", "failure", "pending", "success"]


class Actor(Record, frozen=True, kw_only=True):
    """The person, or the bot, that set this run going."""

    login: str
    bot: bool = False
    source: str
    """Where the name was read: `GITHUB_TRIGGERING_ACTOR`, or a field of the event."""


class Permission(Record, frozen=True, kw_only=True):
    """What somebody may do in a repository."""

    login: str
    repository: str
    level: str
    """`admin`, `write`, `read` or `none`; maintainers count as `write`, custom roles as what they are based on."""
    role_name: str
    """For people to read: the real, maybe custom, name of the role."""

    @property
    def admin(self) -> bool:
        return self.level == "admin"


class Hardware(Record, frozen=True, kw_only=True):
    """What a repository says it is made for. No types: it does not say."""

    types: tuple[str, ...] = ()
    """In capitals, such as `NPU`; `ascend` is one."""
    source: str = ""
    notes: tuple[str, ...] = ()
    """What was looked at before, and why it gave nothing."""

    def has(self, wanted: str) -> bool:
        return wanted.strip().upper() in self.types


class PullRequest(Record, frozen=True, kw_only=True):
    """The pull request that a run belongs to."""

    number: int
    head_sha: str
    """Where results are posted: never the merge commit that `GITHUB_SHA` names."""
    head_repository: str | None
    """None when the fork was deleted."""
    is_fork: bool
    base_sha: str


class Check(Record, frozen=True, kw_only=True):
    """A check run that was opened."""

    repository: str
    id: int
    url: str


class Annotation(Record, frozen=True, kw_only=True):
    """A remark at some lines of a file."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    message: str
    title: str | None = None


class Uploaded(Record, frozen=True, kw_only=True):
    """An artifact that is complete, as readers and later steps may use it."""

    name: str
    """As asked for, or with a suffix when that name was taken."""
    id: str | None
    """None where the server's protocol knows no ids."""
    url: str
    digest: str | None
    """SHA-256 of the zip in hex; None where there is no zip."""
    size: int
    notes: tuple[str, ...] = ()
    """Sentences about everything that is not as it was asked for."""
