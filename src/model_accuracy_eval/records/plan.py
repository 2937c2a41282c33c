"""What will happen."""

from typing import Literal

import msgspec

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.exam import Exam
from model_accuracy_eval.records.task import TaskGroup, TaskSpec


class Stock(Record, frozen=True, kw_only=True):
    """Weights that were measured: what they are, at which commit, and how large."""

    reference: str
    commit: str | None = None
    size: int
    shown: str
    """The size for people."""
    task_types: tuple[str, ...] = ()
    """What the hub says they are made for; empty: it does not say."""


class Clearance(Record, frozen=True, kw_only=True):
    """What preflight found: nothing stands against the run, and this is what it will ask and run on."""

    exams: tuple[Exam, ...]
    stock: Stock | None = None


class Sampling(Record, frozen=True, kw_only=True):
    """What every request asks of the sampler. `n` samples are asked of every problem."""

    n: int = 5
    temperature: float | None = None
    """None, here and below: what the task says, else 1."""
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = 0
    extra: JSONObject = {}
    """Fields beyond OpenAI's, sent only when configured: some servers refuse them."""

    def of(self, task: TaskSpec) -> "Sampling":
        """What is asked for this task: what the user says, else what the task says. Weighing is no sampling."""

        def said(*values: float | None) -> float | None:
            return next((value for value in values if value is not None), None)

        return msgspec.structs.replace(
            self,
            n=task.repeats or self.n if task.kind == "generate" else 1,
            temperature=said(self.temperature, task.temperature, 1.0),
            top_p=said(self.top_p, task.top_p, 1.0),
            max_tokens=self.max_tokens or task.max_tokens,
            extra={**task.generation, **self.extra},
        )


class Patience(Record, frozen=True, kw_only=True):
    """How long, how often and how many at once."""

    concurrency: int = 32
    retries: int = 5
    ready_timeout: float = 1800.0
    connect_timeout: float = 10.0
    first_token_timeout: float = 600.0
    idle_timeout: float = 120.0
    total_timeout: float = 3600.0
    gone_after: float = 20.0
    """Seconds of refused connections after which the service counts as gone."""


Rung = Literal["chat", "text", "echo", "prompt-logprobs", "top-logprobs", "constrained", "extracted"]
"""How something was asked; the last five are ways to weigh options, from the most to the least exact."""

Weigh = Literal["auto", "echo", "prompt-logprobs", "top-logprobs", "constrained", "extracted"]
"""Which of these ways is wanted; auto: the best that the service offers."""


class Gate(Record, frozen=True, kw_only=True):
    """A line that the figures have to reach: `demo_arithmetic: avg@5 >= 60`."""

    dataset: str
    metric: str
    comparison: Literal[">=", ">", "<=", "<", "=="]
    threshold: float
    from_baseline: bool = False
    """The threshold is counted from the baseline's figure: `demo_arithmetic: avg@5 >= baseline - 1` has -1."""

    def __str__(self) -> str:
        line = f"{self.threshold:.12g}"
        if self.from_baseline:
            sign = "-" if self.threshold < 0 else "+"
            line = f"baseline {sign} {abs(self.threshold):.12g}" if self.threshold else "baseline"
        return f"{self.dataset}: {self.metric} {self.comparison} {line}"


class Shard(Record, frozen=True, kw_only=True):
    """One of `count` equal parts of every dataset: the problems at places index, index + count, …"""

    index: int
    count: int

    def place(self, at: int) -> int:
        """Where the shard's `at`-th problem stands in the whole dataset."""
        return self.index + at * self.count

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class RunPlan(Record, frozen=True, kw_only=True):
    """All that will happen, resolved and secret-free; fed back in, it repeats the run."""

    run_id: str
    stamp: str
    mode: Literal["all", "infer", "eval"] = "all"
    label: str = "vllm-api-stream-chat"
    task_type: Literal["text-generation", "image-text-to-text", "any-to-any"] = "text-generation"
    adapter: str | None = None
    model: str | None = None
    endpoint: str | None = None
    model_name: str | None = None
    port: int = 8000
    runtime: Literal["process", "container"] = "process"
    adapter_image: str | None = None
    devices: str = "auto"
    max_weight_size: str = "100GB"
    weights_dir: str | None = None
    tasks: tuple[TaskSpec, ...]
    groups: tuple[TaskGroup, ...] = ()
    limit: int | None = None
    shard: Shard | None = None
    sampling: Sampling = Sampling()
    weigh: Weigh = "auto"
    k: tuple[int, ...] = (5,)
    score_reasoning: bool = False
    sandbox: Literal["auto", "docker", "bwrap", "uid", "none"] = "auto"
    sandbox_image: str | None = None
    gates: tuple[Gate, ...] = ()
    baseline: str | None = None
    max_failed_requests: int = 0
    judge_endpoint: str | None = None
    judge_model: str | None = None
    patience: Patience = Patience()
    data_dir: str | None = None
    out: str = "outputs"
    debug: bool = False
