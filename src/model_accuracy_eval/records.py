"""The nouns that flow through a run. Frozen, keyword-only, JSON-ready; they know no file, socket or clock.

inputs → RunPlan → clearance → Service → Attempts → Verdicts → Tallies → Report → Outcome
"""

from typing import Any, Literal

import msgspec

JSONObject = dict[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every noun: equal by value, and `msgspec.convert(to_builtins(x))` gives it back."""


# ── What is asked: a task as pure data ────────────────────────────────────────────────────────────


class DataFile(Record, frozen=True, kw_only=True):
    """Rows of one split: found by file name in `--data-dir`, in the package, or fetched and checked."""

    name: str
    """File name as `--data-dir` has it, such as `gsm8k/test.jsonl` (`.gz` beside it is found too), or a path."""
    bundled: str | None = None
    """File inside the package, for datasets that we wrote."""
    hub: str | None = None
    """Pinned place it can be fetched from, such as `github:openai/grade-school-math@<commit>/<path>`."""
    sha256: str | None = None
    """Hash of the uncompressed bytes; a file with another hash is another question."""


class Slice(Record, frozen=True, kw_only=True):
    """A view of the rows, by position, as Python slices have it."""

    start: int = 0
    stop: int | None = None
    step: int = 1


class Step(Record, frozen=True, kw_only=True):
    """A named function of one of the tables in `scoring`, with its arguments."""

    name: str
    args: JSONObject = {}


class FewShot(Record, frozen=True, kw_only=True):
    """Solved examples shown before the question, as earlier turns of the conversation."""

    data: DataFile
    count: int
    answer: str
    """Jinja template of the reply that the example shows."""


class Prompt(Record, frozen=True, kw_only=True):
    """Jinja templates over a row's fields."""

    question: str
    system: str | None = None
    fewshot: FewShot | None = None


class Pipeline(Record, frozen=True, kw_only=True):
    """How one reply becomes one verdict: steps that read the answer out of the text, then a metric."""

    name: str = "main"
    extract: tuple[Step, ...]
    metric: Step


class TaskSpec(Record, frozen=True, kw_only=True):
    """One dataset as data: where its rows are, how they are asked, how replies are judged."""

    name: str
    about: str
    home: str = ""
    licence: str = ""
    data: DataFile
    slice: Slice = Slice()
    fields: tuple[str, ...]
    """Columns that every row must have."""
    prompt: Prompt
    reference: str
    """Jinja template of the right answer."""
    choices: str | None = None
    """Jinja template that gives a JSON list of the options, for multiple choice."""
    category: str | None = None
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    pipelines: tuple[Pipeline, ...]


class Message(Record, frozen=True, kw_only=True):
    """One turn of the conversation that is sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class Problem(Record, frozen=True, kw_only=True):
    """One row made neutral: all that asking and judging need, whatever file it came from."""

    id: int
    """Position of the row in its file, so that slices and limits never rename a problem."""
    messages: tuple[Message, ...]
    references: tuple[str, ...]
    choices: tuple[str, ...] = ()
    category: str | None = None


class Exam(Record, frozen=True, kw_only=True):
    """One dataset ready to be asked: its task, its problems, and what identifies the two."""

    task: TaskSpec
    problems: tuple[Problem, ...]
    version: str
    """Six hex digits over data, prompt and scoring: same version, same question."""
    questions: str
    """Hash over what is sent alone, so that better scoring can be run over old replies."""


# ── What will happen ──────────────────────────────────────────────────────────────────────────────


class Stock(Record, frozen=True, kw_only=True):
    """Weights that were measured: what they are, at which commit, and how large."""

    reference: str
    commit: str | None = None
    size: int
    shown: str
    """The size for people."""


class Clearance(Record, frozen=True, kw_only=True):
    """What preflight found: nothing stands against the run, and this is what it will ask and run on."""

    exams: tuple[Exam, ...]
    stock: Stock | None = None


class Sampling(Record, frozen=True, kw_only=True):
    """What every request asks of the sampler. `n` samples are asked of every problem."""

    n: int = 5
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int | None = None
    """None: as much as the task says."""
    seed: int | None = 0
    extra: JSONObject = {}
    """Fields beyond OpenAI's, sent only when configured: some servers refuse them."""


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


class Gate(Record, frozen=True, kw_only=True):
    """A line that the figures have to reach: `demo_arithmetic: avg@5 >= 60`."""

    dataset: str
    metric: str
    comparison: Literal[">=", ">", "<=", "<", "=="]
    threshold: float

    def __str__(self) -> str:
        return f"{self.dataset}: {self.metric} {self.comparison} {self.threshold:.12g}"


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
    limit: int | None = None
    sampling: Sampling = Sampling()
    k: tuple[int, ...] = (5,)
    score_reasoning: bool = False
    gates: tuple[Gate, ...] = ()
    max_failed_requests: int = 0
    patience: Patience = Patience()
    data_dir: str | None = None
    out: str = "outputs"
    debug: bool = False


# ── What the service said ─────────────────────────────────────────────────────────────────────────


class Service(Record, frozen=True, kw_only=True):
    """A server that answers `/v1/chat/completions`, and the name of the model it serves."""

    base_url: str
    model: str | None = None


class Request(Record, frozen=True, kw_only=True):
    """One call of the chat endpoint: `n` choices of one conversation."""

    messages: tuple[Message, ...]
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: JSONObject = {}


FaultKind = Literal["rejected", "refused", "failed"]


class Fault(Record, frozen=True, kw_only=True):
    """Why there is no answer. `rejected`: the service will not do this item (4xx). `refused`: nobody
    listens. `failed`: transport, 429, 5xx or a broken stream, after all retries."""

    kind: FaultKind
    sentence: str
    status: int | None = None


class Usage(Record, frozen=True, kw_only=True):
    """Tokens of one request, all its choices together; unknown is None."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


class Timings(Record, frozen=True, kw_only=True):
    """Seconds of one choice, measured as the bytes left the socket. Chunks are not tokens."""

    ttft: float | None = None
    """Request sent → first text of this choice."""
    e2e: float
    """Request sent → this choice complete."""
    gap_mean: float | None = None
    gap_max: float | None = None
    chunks: int = 0


class Choice(Record, frozen=True, kw_only=True):
    """One complete answer of a reply."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    timings: Timings


class Reply(Record, frozen=True, kw_only=True):
    """What one request brought: complete choices (maybe fewer than asked), or a fault."""

    id: str
    choices: tuple[Choice, ...] = ()
    usage: Usage | None = None
    tries: int = 1
    fault: Fault | None = None


class Attempt(Record, frozen=True, kw_only=True):
    """One sample: what the service said to problem `problem` the `index`-th time, or why nothing."""

    problem: int
    index: int
    text: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    timings: Timings | None = None
    usage: Usage | None = None
    """Of the whole request; samples that share `request` share it."""
    request: str = ""
    seed: int | None = None
    tries: int = 1
    fault: Fault | None = None


# ── What it is worth ──────────────────────────────────────────────────────────────────────────────

Why = Literal["right", "wrong", "not found", "empty", "rejected", "failed", "missing"]


class Verdict(Record, frozen=True, kw_only=True):
    """One judged attempt. `value` is None when nothing could be judged; the headline counts it as 0."""

    value: float | None
    answer: str | None = None
    why: Why
    cut: bool = False


class Tally(Record, frozen=True, kw_only=True):
    """One problem after its n attempts. `c` is None when the metric is no yes-or-no matter."""

    problem: int
    n: int
    c: int | None
    values: tuple[float, ...]
    answers: tuple[str | None, ...]
    why: tuple[Why, ...]
    references: tuple[str, ...]


class Counts(Record, frozen=True, kw_only=True):
    """Where every planned sample went; nothing is dropped in silence."""

    planned: int = 0
    answered: int = 0
    rejected: int = 0
    failed: int = 0
    missing: int = 0
    cut: int = 0
    empty: int = 0
    reasoning_only: int = 0
    not_found: int = 0


class Interval(Record, frozen=True, kw_only=True):
    """95 % confidence interval of a mean over problems, 0..100."""

    low: float
    high: float


class Row(Record, frozen=True, kw_only=True):
    """One line of the summary table, as AISBench has it, with its interval."""

    dataset: str
    version: str
    metric: str
    mode: str = "gen"
    value: float | None
    interval: Interval | None = None


class Spread(Record, frozen=True, kw_only=True):
    """Distribution of one timing over the samples, in seconds."""

    mean: float
    p50: float
    p90: float
    p99: float
    maximum: float


class Speed(Record, frozen=True, kw_only=True):
    """What the same requests tell about speed; None where the server did not say."""

    ttft: Spread | None = None
    e2e: Spread | None = None
    gap: Spread | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Sheet(Record, frozen=True, kw_only=True):
    """One dataset's marks: its rows, its tallies, and where the samples went."""

    dataset: str
    version: str
    rows: tuple[Row, ...]
    tallies: tuple[Tally, ...]
    counts: Counts
    notes: tuple[str, ...] = ()
    speed: Speed = Speed()


Decision = Literal["passed", "failed", "undecided"]


class GateResult(Record, frozen=True, kw_only=True):
    """A gate, the figure it met, and what follows."""

    gate: Gate
    value: float | None
    interval: Interval | None = None
    decision: Decision
    sentence: str


Conclusion = Literal["passed", "failed", "undecided", "refused", "broken", "stopped"]


class Outcome(Record, frozen=True, kw_only=True):
    """How it ended: the conclusion, the stage it ended in, one sentence, and the exit code."""

    conclusion: Conclusion
    exit_code: int
    stage: str
    sentence: str
    detail: str = ""
    folder: str | None = None


class Report(Record, frozen=True, kw_only=True):
    """All that a reader wants to know of a run; `reporting` renders it to files and pages."""

    plan: RunPlan
    outcome: Outcome
    sheets: tuple[Sheet, ...]
    gates: tuple[GateResult, ...] = ()
    service: Service | None = None
    seconds: dict[str, float] = {}
    """Stage → wall seconds."""
    started: str
    finished: str
    environment: dict[str, str] = {}
