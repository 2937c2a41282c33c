"""The plan of a run: its settings, and what was resolved from them."""

import re
from pathlib import PurePath
from typing import Any, Literal

import msgspec

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.identity import Identity
from model_accuracy_eval.records.task import TaskGroup, TaskSpec
from model_accuracy_eval.settings import Settings


class WeightsInfo(Record, frozen=True, kw_only=True):
    """Weights whose size was checked: what they are, at which commit, and how large."""

    reference: str
    commit: str | None = None
    digest: str = ""
    """Of weights of this machine, which have no commit: a hash of their names, sizes and of blocks of each file."""
    size: int
    shown: str
    """The size as it is shown to users."""
    task_types: tuple[str, ...] = ()
    """Task types that the hub gives for them; empty: unknown."""

    @property
    def name(self) -> str:
        """What no other weights are called."""
        if self.commit:
            return f"{self.reference.partition('@')[0]}@{self.commit}"
        return f"{PurePath(self.reference).name} {self.digest}".strip()


class Sampling(Record, frozen=True, kw_only=True):
    """Sampling parameters of every request, and `n`, the number of samples per problem."""

    n: int = 5
    temperature: float | None = None
    """None, also below: the task's value, otherwise 1."""
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = 0
    neutral: dict[str, float] = {}
    """Samplers that are sent with neutral values; the task's fields and the user's win over them."""
    extra: JSONObject = {}
    """Fields that OpenAI's API does not have. They are sent only if given, because some servers reject them."""

    def of(self, task: TaskSpec) -> "Sampling":
        """Returns the parameters for one task: the user's, otherwise the task's. Log-likelihoods take one sample."""

        def first(*values: float | None) -> float | None:
            return next((value for value in values if value is not None), None)

        return msgspec.structs.replace(
            self,
            n=task.repeats or self.n if task.kind == "generate" else 1,
            temperature=first(self.temperature, task.temperature, 1.0),
            top_p=first(self.top_p, task.top_p, 1.0),
            max_tokens=self.max_tokens or task.max_tokens,
            extra={**self.neutral, **task.generation, **self.extra},
        )


class ClientLimits(Record, frozen=True, kw_only=True):
    """Concurrency, retries and time limits of the client. The seconds from `connect_timeout` on are no settings."""

    concurrency: int = 32
    retries: int = 5
    silent_retries: int | None = None
    """Of these, those after a try that got no answer in time; None: all of them."""
    ready_timeout: float | None = None
    """None: as long as makes sense."""
    connect_timeout: float = 10.0
    first_token_timeout: float = 600.0
    """To the first byte of an answer, including the time in the service's queue."""
    idle_timeout: float = 120.0
    """Between bytes within an answer."""
    total_timeout: float = 3600.0
    gone_after: float = 20.0
    """Of refused connections, as in a restart, after which the service is considered gone."""


_SPECIAL = re.compile(r"""[:<>=#"']|\s+and\s+|^\s|\s$""")
"""What gates cannot have in a name without quotes."""


class Gate(Record, frozen=True, kw_only=True):
    """A condition on a score: `demo_arithmetic: avg@5 >= 60`."""

    dataset: str
    metric: str
    comparison: Literal[">=", ">", "<=", "<", "=="]
    threshold: float
    from_baseline: bool = False
    """Whether the threshold is relative to the baseline's score: `demo_arithmetic: avg@5 >= baseline - 1` has -1."""
    drop: bool = False
    """Whether it is written as the most that a figure may lose, before it is known which way is worse."""
    percent: bool = False
    """Whether the threshold is written with `%`: then 0.75 is no share of 1."""

    def __str__(self) -> str:
        line = f"{self.threshold:.12g}{'%' if self.percent else ''}"
        if self.from_baseline:
            sign = "-" if self.threshold < 0 else "+"
            line = f"baseline {sign} {abs(self.threshold):.12g}" if self.threshold else "baseline"
        return f"{_quoted(self.dataset)}: {_quoted(self.metric)} {self.comparison} {line}"


def _quoted(name: str) -> str:
    if not _SPECIAL.search(name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


class Shard(Record, frozen=True, kw_only=True):
    """One of `count` equal parts of every dataset: the problems at positions index, index + count, …"""

    index: int
    count: int

    def place(self, at: int) -> int:
        """Returns the position of the shard's `at`-th problem in the whole dataset."""
        return self.index + at * self.count

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class RunPlan(Record, frozen=True, kw_only=True):
    """Everything that a run will do, resolved and without secrets. Given back to the program, it repeats the run."""

    run_id: str
    stamp: str
    settings: Settings = Settings()
    """The user's settings and the defaults; the other fields are resolved from them."""
    identity: Identity = Identity()
    """What the verdict will be about, as far as it is known before anything is measured."""
    tasks: tuple[TaskSpec, ...]
    adapter_tree: str = ""
    """git's hash of the adapter's files, where they were checked out: their folder is another one each time."""
    groups: tuple[TaskGroup, ...] = ()
    shard: Shard | None = None
    absent_shards: tuple[str, ...] = ()
    """Shards that a run was merged without, or that had not come to their end: what they lack counts as lost."""
    unverified: tuple[str, ...] = ()
    """Why nobody can say that the replies are those that a run left: whoever read them was told, and went on."""
    sampling: Sampling = Sampling()
    k: tuple[int, ...] = (5,)
    gates: tuple[Gate, ...] = ()
    client_limits: ClientLimits = ClientLimits()

    @property
    def is_of_saved_replies(self) -> bool:
        """Whether another program asked, so that nothing is known of its requests."""
        return not self.run_id

    def with_settings(self, **changes: Any) -> "RunPlan":
        """Returns the plan with other values of settings that need no resolving."""
        return msgspec.structs.replace(self, settings=msgspec.structs.replace(self.settings, **changes))


# What a run can be held against that is no path: how artifacts of earlier runs of the action are named.


ARTIFACT_BRANCH, ARTIFACT_DIGEST = "branch:", "sha256:"


def is_artifact(place: str) -> bool:
    """Whether a baseline is no path: `branch:main`, `sha256:…`."""
    return place.startswith((ARTIFACT_BRANCH, ARTIFACT_DIGEST))
