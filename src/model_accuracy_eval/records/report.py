"""How a run ended, how it compares with another run, and everything else that is in a report."""

import posixpath
import re
from typing import Literal, NamedTuple, get_args

from model_accuracy_eval.records.base import Record
from model_accuracy_eval.records.exchange import Service
from model_accuracy_eval.records.plan import SPEED, Gate, Identity, RunPlan
from model_accuracy_eval.records.scores import (
    Counts,
    DatasetResult,
    FigureBounds,
    Interval,
    ReplicaFigure,
    RunSpeed,
    Sharing,
    Speed,
)
from model_accuracy_eval.records.task import PreparedDataset


class ChangeCertainty(Record, frozen=True, kw_only=True):
    """What the limits of a change are computed from, at any confidence: per-problem changes in points, as if two more
    problems had been asked, one gained and one lost completely; of corpus figures, their bootstrap."""

    problems: int
    """Those two included."""
    worst: float
    """Mean of the least changes, lost samples at their worst."""
    worst_stderr: float
    best: float
    best_stderr: float
    within: float | None = 100.0
    """How many points a change can be at most; None: any number."""
    sharing: Sharing | None = None
    """None: the problems share nothing."""


class Difference(Record, frozen=True, kw_only=True):
    """One score of two runs, over the problems that both have."""

    metric: str
    old: float | None
    new: float | None
    points: float | None = None
    """New minus old; None if one of them is missing."""
    interval: Interval | None = None
    """95 % interval of the points, paired by problem; None if the score is not a mean over problems."""
    bounds: FigureBounds | None = None
    """Limits of the points; None if every sample of both runs has a verdict."""
    certainty: "ChangeCertainty | None" = None
    """None if the score is not a mean over problems."""
    stderr: float | None = None
    """Of the points, where that is all that is known of their certainty."""


class LostProblem(Record, frozen=True, kw_only=True):
    """A problem with fewer right samples than before, and a reply to it that is wrong now."""

    problem: int
    right: str
    reply: str


class Flips(Record, frozen=True, kw_only=True):
    """Problems with more right samples than before (gained) or fewer (lost)."""

    gained: int
    lost: int
    first_gained: tuple[int, ...]
    """Ids of those that changed most."""
    first_lost: tuple[int, ...]
    p: float
    """p-value of the exact two-sided sign test on the changed problems."""
    replies: tuple[LostProblem, ...] = ()
    """To some of those that changed most, where the newer run's replies are at hand."""


class DatasetChange(Record, frozen=True, kw_only=True):
    """One dataset in two runs."""

    dataset: str
    old_version: str
    new_version: str
    problems: int
    """How many problems both runs have."""
    differences: tuple[Difference, ...]
    flips: Flips | None = None
    """None if nothing can be right or wrong, or if the versions differ."""
    old_counts: Counts
    new_counts: Counts
    old_speed: Speed
    new_speed: Speed
    notes: tuple[str, ...] = ()


class Comparison(Record, frozen=True, kw_only=True):
    """The differences between two runs, dataset by dataset."""

    base: str
    """Id of the older run."""
    new: str
    changes: tuple[DatasetChange, ...]
    only_base: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    speed: tuple[Difference, ...] = ()
    """How fast the services were; points are per cent of the older figure."""
    notes: tuple[str, ...] = ()

    def find(self, dataset: str, metric: str) -> Difference | None:
        """Returns None if one of the runs lacks the dataset or both lack the metric."""
        changes = (change for change in self.changes if change.dataset == dataset)
        differences = [difference for change in changes for difference in change.differences]
        if dataset == SPEED:
            differences += self.speed
        return next((difference for difference in differences if difference.metric == metric), None)


Decision = Literal["passed", "failed", "undecided"]


class GateResult(Record, frozen=True, kw_only=True):
    """A gate, the score that it was applied to, and the decision."""

    gate: Gate
    value: float | None
    interval: Interval | None = None
    bounds: FigureBounds | None = None
    """Limits of the value, or of the change, while samples have no verdict."""
    limits: Interval | None = None
    """What the value, or the change, may be besides; each end holds with the confidence of the gate."""
    decision: Decision
    sentence: str


class FigureSoFar(Record, frozen=True, kw_only=True):
    """A figure of the problems that have been judged while the others are asked, with its 95 % interval, 0..100."""

    metric: str
    value: float
    low: float
    high: float
    judged: int
    of_samples: bool = False
    """Whether single samples are judged, and not problems with all their samples."""

    @property
    def text(self) -> str:
        what = "samples" if self.of_samples else "problems"
        return f"{self.metric} {self.value:.2f} % so far ({self.low:.2f}..{self.high:.2f} in {self.judged:,} {what})"


Conclusion = Literal["passed", "failed", "undecided", "complete", "refused", "broken", "stopped"]


def is_verdict(conclusion: str) -> bool:
    """Whether a run that ended so came to its end: the figures of any other are incomplete."""
    return conclusion == "complete" or conclusion in get_args(Decision)


class ModelVerdict(NamedTuple):
    """How one of several models fared."""

    name: str
    tier: str
    conclusion: Conclusion
    exit_code: int
    figures: str
    sentence: str
    manifest: str = ""
    """Hash of the run's manifest, which stands for all of its files."""


class Outcome(Record, frozen=True, kw_only=True):
    """How a run ended: the conclusion, the last stage, one sentence, and the exit code."""

    conclusion: Conclusion
    exit_code: int
    stage: str
    sentence: str
    detail: str = ""
    folder: str | None = None
    about: tuple[str, int] | None = None
    """File of the adapter, and the line in it, where the problem can be fixed."""
    next_step: str = ""
    """The command to type next, where the error knows it."""
    models: tuple[ModelVerdict, ...] = ()
    """Of several runs, which this is about."""


class Report(Record, frozen=True, kw_only=True):
    """Everything about a run that is reported; `report` renders it to files and pages."""

    plan: RunPlan
    outcome: Outcome
    datasets: tuple[PreparedDataset, ...] = ()
    """What was asked; empty in a report that is read from a folder."""
    dataset_results: tuple[DatasetResult, ...]
    gates: tuple[GateResult, ...] = ()
    comparison: Comparison | None = None
    """The comparison with the baseline, if there is one and the run was completed."""
    service: Service | None = None
    seconds: dict[str, float] = {}
    """Stage → wall seconds."""
    tail_seconds: float | None = None
    """Of the asking: how long fewer requests were under way than may be, because none was left; None: unknown."""
    answered_before: int = 0
    """Samples that the asking of `seconds` found answered."""
    started: str
    finished: str
    environment: dict[str, str] = {}
    replicas: tuple[ReplicaFigure, ...] = ()
    """Of the service; empty if there was one server."""
    speed: RunSpeed | None = None


# What is sent to GitHub's API and what it returns.


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
    head_ref: str = ""
    """The branch of that repository."""
    head_repository: str | None
    """None if the fork was deleted."""
    is_fork: bool
    author: str = ""


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
    image: str = ""
    model: str = ""
    """As the inputs name them, this one and the image that deploy.sh runs in."""
    service: str = ""
    """Where a service runs already that is evaluated in place of the adapter's."""
    allowed_models: tuple[str, ...] = ()
    """Patterns, one of which the model must match; none: every model is allowed."""
    admit_only: bool = False
    label: str
    objections: tuple[str, ...] = ()
    """Why the commit cannot be fixed, as sentences."""
    run: str = ""
    """The number of the workflow run, and the attempt: 4711-1."""
    started: float = 0.0
    """When the step began, in seconds since the epoch."""
    nonce: str
    """Differs between all steps."""
    run_url: str
    workspace: str = ""
    """Outputs name paths relative to it, because later steps see it elsewhere."""

    @property
    def identity(self) -> Identity:
        """What the verdict will be about."""
        return Identity(
            repository=self.adapter_repository,
            commit=self.adapter_commit,
            path=posixpath.normpath(self.adapter_path),
            image=self.image,
            weights=f"{self.model} of the service at {self.service}".strip() if self.service else self.model,
            label=self.label,
        )

    @property
    def key(self) -> str:
        """Differs between all steps, and says of which run and about what this one is."""
        return f"{self.run} {self.identity.subject} {self.nonce}"

    @property
    def own_adapter(self) -> bool:
        """Says whether the adapter is in the workflow's own repository, which its token can read."""
        return is_same(self.adapter_repository, self.repository)


def is_commit(ref: str) -> bool:
    """Says whether it is a full commit id; nothing shorter says for ever which commit is meant."""
    return _COMMIT.fullmatch(ref) is not None


def is_same(name: str, other: str) -> bool:
    """Compares names of repositories, which ignore case."""
    return name.lower() == other.lower()
