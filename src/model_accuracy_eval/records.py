"""The nouns that flow through a run. Frozen, keyword-only, JSON-ready; they know no file, socket or clock.

inputs → RunPlan → clearance → Service → Attempts → Verdicts → Tallies → Report → Outcome
"""

from typing import Any, Literal

import msgspec

JSONObject = dict[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every noun: equal by value, and `msgspec.convert(to_builtins(x))` gives it back."""


# ── What is asked: a task as pure data ────────────────────────────────────────────────────────────


class Transform(Record, frozen=True, kw_only=True):
    """UltraEval's function that says of a row what is asked, what it shows as an example, and what is right."""

    function: str
    """`module.function`, called with a row, the number of examples, a generator of random numbers, and the task."""
    shots: int
    task: str
    seed: int = 1234
    """Of the first row's generator; every row has one of its own."""


class Recipe(Record, frozen=True, kw_only=True):
    """Python of a task's author that makes its rows; run outside this process, and only where the user trusts it."""

    folder: str
    """Where the modules lie."""
    rows: str | None = None
    """`module.function` over all rows of the file, such as `utils.process_docs`."""
    columns: dict[str, str] = {}
    """Further columns: name → `module.function` of one row."""
    transform: Transform | None = None
    """Makes the columns `input`, `output` and `answers`."""


class DataFile(Record, frozen=True, kw_only=True):
    """Rows of one split: found by file name in `--data-dir`, in the package, or fetched and checked."""

    name: str
    """File name as `--data-dir` has it, such as `gsm8k/test.jsonl` (`.gz` beside it is found too), or a path. Without
    an ending, every kind of data file is looked for."""
    recipe: Recipe | None = None
    """What is made of the file's rows before anything else looks at them."""
    bundled: str | None = None
    """File inside the package, for datasets that we wrote."""
    listed: "Listing | None" = None
    """Which of the rows count, where another file says so."""
    hub: str | None = None
    """Pinned place it can be fetched from, such as `github:openai/grade-school-math@<commit>/<path>`."""
    sha256: str | None = None
    """Hash of the uncompressed bytes; a file with another hash is another question."""


class Listing(Record, frozen=True, kw_only=True):
    """A text file whose lines are values of a column: rows with other values are left out."""

    field: str
    data: DataFile


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
    """Solved examples shown before the question."""

    data: DataFile | None = None
    """None: the other rows of the questions' own file."""
    rows: tuple[JSONObject, ...] = ()
    """The examples themselves, where the task carries them."""
    fields: tuple[str, ...] | None = None
    """Columns that every example must have; None: those of the questions."""
    count: int
    without_itself: bool | None = None
    """Whether a question's own row is no example for it; None: where they are of one file."""
    question: str | None = None
    """How an example's question reads; None: as the question itself."""
    answer_delimiter: str | None = None
    """Between an example's question and its answer; None: as between question and answer."""
    sampler: Step = Step(name="first")
    """How examples are chosen: a function of `tasks.fewshot`."""
    delimiter: str = "\n\n"
    """Between examples, where they are one text."""
    turns: bool = True
    """As earlier turns of the conversation; False: in front of the question, in one text with it."""


class Prompt(Record, frozen=True, kw_only=True):
    """Jinja templates over a row's fields."""

    question: str
    answer: str = ""
    """The reply that a solved example shows; empty: its right option, else its first right answer. Where contexts are
    weighed, the ending that follows them."""
    system: str | None = None
    dialogue: str | None = None
    """Column of messages that are sent before the question; an empty question is left out behind them."""
    description: str = ""
    """In front of everything; in the system message where there are turns."""
    prefix: str = ""
    """How the reply is made to begin."""
    lettered: str = ""
    """The question for services that weigh no options: it lists them by letter; empty: as `prompts` lists them."""
    delimiter: str = " "
    """Between question and answer, where both are one text."""
    fewshot: FewShot | None = None
    strategies: dict[str, str] = {}
    """Other manners of asking the same: name → question."""


class Measure(Record, frozen=True, kw_only=True):
    """One metric of a pipeline; None leaves to the table of metrics what it knows best."""

    name: str
    label: str = ""
    """What the report calls it; empty: its name."""
    args: JSONObject = {}
    reduction: str | None = None
    """How the values of one problem's samples become one."""
    k: tuple[int, ...] = ()
    aggregation: str | None = None
    """How the values of the problems become one."""
    higher_is_better: bool | None = None


class Pipeline(Record, frozen=True, kw_only=True):
    """How replies become figures: filters read the answers out of the texts, and metrics judge these."""

    name: str = "none"
    filters: tuple[Step, ...] = ()
    metrics: tuple[Measure, ...] = ()
    """Empty: the metrics of the task's scorer, else those that suit what is asked."""


WHOLE_ROW = ("*",)
"""The extras of a task whose judging may look at every column."""

Kind = Literal["generate", "choice", "schema", "target", "rolling"]
"""What is asked for: a text; which option is likeliest; which context makes the ending likeliest; how likely the
reference is; how likely the whole text is."""


class Grouping(Record, frozen=True, kw_only=True):
    """Figures of parts of a dataset, and the mean over the parts."""

    by: str = "category"
    weight_by_size: bool = True
    areas: dict[str, str] = {}
    """Part → the area that it belongs to; every area has a figure, too, over all its problems."""


class TaskSpec(Record, frozen=True, kw_only=True):
    """One dataset as data: where its rows are, how they are asked, how replies are judged."""

    name: str
    about: str
    home: str = ""
    licence: str = ""
    data: DataFile
    views: tuple[Step, ...] = ()
    """What is made of the file's rows before they are sliced: functions of `tasks.views`."""
    slice: Slice = Slice()
    fields: tuple[str, ...]
    """Columns that every row must have."""
    prompt: Prompt
    reference: str
    """Jinja template of the right answer; where options are weighed, its position, its letter or its text."""
    references: str | None = None
    """Jinja template that gives a JSON list of all right answers, where there may be several."""
    choices: str | None = None
    """Jinja template that gives a JSON list of the options, for multiple choice."""
    category: str | None = None
    """The column that tells a row's part of the dataset."""
    extras: tuple[str, ...] = ()
    """Columns that judging needs beyond the references; `*` alone: all that a row has."""
    kind: Kind = "generate"
    mode: Literal["chat", "text"] = "chat"
    """Whether texts are asked of `/v1/chat/completions` or `/v1/completions`."""
    boundary: Literal["context", "shared"] = "context"
    """What of an option is weighed: what follows its context, or what follows the tokens that all options share."""
    repeats: int | None = None
    """Samples of every problem; None: as many as the run asks for."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    generation: JSONObject = {}
    """Further request fields that the task asks for."""
    scorer: Step | None = None
    """Filters and metrics under one name, for pipelines that have none of their own."""
    pipelines: tuple[Pipeline, ...] = ()
    grouping: Grouping | None = None
    baseline: float | None = None
    """Share, 0..1, that guessing reaches; centred figures count from there."""
    parts: tuple["TaskSpec", ...] = ()
    """Other tasks that make up this one, each asked and judged in its own way; one that stands here twice weighs
    double."""
    arrangement: Literal["sequence", "mixture"] = "sequence"
    """The problems of the parts one after the other, or shuffled, always in the same way."""

    def of(self, problem: "Problem") -> "TaskSpec":
        """The task that a problem comes from: a part, or this one."""
        task = self
        for at in problem.part:
            task = task.parts[at]
        return task


class GroupMean(Record, frozen=True, kw_only=True):
    """One figure of a group: the mean of its datasets' figures."""

    metric: str
    pipelines: tuple[str, ...] = ()
    """Names of the pipelines it is taken from; empty: all."""
    weight_by_size: bool = True


class TaskGroup(Record, frozen=True, kw_only=True):
    """Several datasets under one name."""

    name: str
    members: tuple[str, ...]
    """Names of datasets and of other groups."""
    means: tuple[GroupMean, ...] = ()


class Message(Record, frozen=True, kw_only=True):
    """One turn of the conversation that is sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class Candidate(Record, frozen=True, kw_only=True):
    """A text whose ending is weighed: how likely the model finds `continuation` after `context`."""

    context: str
    continuation: str


class Problem(Record, frozen=True, kw_only=True):
    """One row made neutral: all that asking and judging need, whatever file it came from."""

    id: int
    """Position of the row in its file, so that slices and limits never rename a problem."""
    messages: tuple[Message, ...]
    text: str = ""
    """The same as one text, where that is what is sent or weighed."""
    references: tuple[str, ...]
    choices: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """One for every option; behind them, where a metric wants it, the same endings after nothing."""
    gold: tuple[int, ...] = ()
    """Positions of the right options."""
    category: str | None = None
    part: tuple[int, ...] = ()
    """Where its task stands among the parts, and among theirs; empty: it is the exam's own."""
    extras: JSONObject = {}

    @property
    def right(self) -> tuple[str, ...]:
        """The right answers as people read them: of weighed options their texts."""
        return tuple(self.choices[place] for place in self.gold if place in range(len(self.choices))) or self.references


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


# ── What the service said ─────────────────────────────────────────────────────────────────────────


class Service(Record, frozen=True, kw_only=True):
    """A server that answers `/v1/chat/completions`, and the name of the model it serves."""

    base_url: str
    model: str | None = None


class Request(Record, frozen=True, kw_only=True):
    """One call: `n` choices of one conversation, or of what follows one text."""

    messages: tuple[Message, ...]
    text: str | None = None
    """Sent to `/v1/completions` instead of the messages."""
    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: JSONObject = {}


class Ballot(Record, frozen=True, kw_only=True):
    """What is weighed for one problem: its candidates as they are, or the letters of its options."""

    request: Request
    """The question with its options behind their letters, for services that tell nothing about given texts."""
    candidates: tuple[Candidate, ...]
    options: int
    """How many of the candidates are options; those behind them are the same endings after nothing."""
    boundary: Literal["context", "shared"] = "context"
    rolling: bool = False
    """The one candidate is a whole text, and may be longer than what the service reads at once."""


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


class Likelihood(Record, frozen=True, kw_only=True):
    """What a service says about one candidate's ending."""

    logprob: float
    """Natural logarithm, summed over the ending's tokens."""
    tokens: int | None = None
    greedy: bool | None = None
    """Whether every token is the one that greedy decoding would take; None: the service does not say."""
    cropped_to: int | None = None
    """How many tokens the model reads at once, where the context was longer and lost its beginning."""


class Choice(Record, frozen=True, kw_only=True):
    """One complete answer of a reply."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    timings: Timings


class Reply(Record, frozen=True, kw_only=True):
    """What one request brought: complete choices (maybe fewer than asked), weights of a ballot, or a fault."""

    id: str
    choices: tuple[Choice, ...] = ()
    weighed: tuple[Likelihood | None, ...] = ()
    """One for every candidate, or where letters were weighed for every option."""
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
    rung: Rung = "chat"
    weighed: tuple[Likelihood | None, ...] = ()
    """One for every candidate, in their order; None where the service said nothing about it."""
    timings: Timings | None = None
    usage: Usage | None = None
    """Of the whole request; samples that share `request` share it."""
    request: str = ""
    seed: int | None = None
    tries: int = 1
    fault: Fault | None = None


# ── What it is worth ──────────────────────────────────────────────────────────────────────────────

Why = Literal["right", "wrong", "not found", "unjudged", "empty", "rejected", "failed", "missing"]
"""`unjudged`: there is an answer, but its judge, or the sandbox, could not say what it is worth."""


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
    cut: int = 0
    references: tuple[str, ...]
    category: str | None = None
    figures: dict[str, float | None] = {}
    """Every metric of every pipeline for this problem alone, under its name in the summary; None: only the whole
    dataset has one."""


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
    unjudged: int = 0
    cropped: int = 0
    """Contexts that were longer than what the model reads at once, and lost their beginning."""


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
    stderr: float | None = None
    higher_is_better: bool = True


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


class Ran(Record, frozen=True, kw_only=True):
    """How many programs were judged in one place, in one way: another place may be another figure."""

    isolation: str
    image: str
    integrity: str
    programs: int


class Sheet(Record, frozen=True, kw_only=True):
    """One dataset's marks: its rows, its tallies, and where the samples went."""

    dataset: str
    version: str
    rows: tuple[Row, ...]
    tallies: tuple[Tally, ...]
    counts: Counts
    notes: tuple[str, ...] = ()
    speed: Speed = Speed()
    ran: tuple[Ran, ...] = ()
    """Empty where judging ran nothing."""


class Difference(Record, frozen=True, kw_only=True):
    """One figure of two runs, over the problems that both have."""

    metric: str
    old: float | None
    new: float | None
    points: float | None = None
    """New minus old; None where there is nothing to subtract."""
    interval: Interval | None = None
    """95 % interval of the points, paired by problem; None where the figure is no mean over problems."""


class Flips(Record, frozen=True, kw_only=True):
    """Problems with more right samples than before (gained), or fewer (lost)."""

    gained: int
    lost: int
    first_gained: tuple[int, ...]
    """Ids of the most changed ones."""
    first_lost: tuple[int, ...]
    p: float
    """Exact sign test, two-sided: how often chance alone would split the changed problems so unevenly."""


class Change(Record, frozen=True, kw_only=True):
    """One dataset in two runs."""

    dataset: str
    old_version: str
    new_version: str
    problems: int
    """How many both have."""
    differences: tuple[Difference, ...]
    flips: Flips | None = None
    """None where nothing can be right or wrong, or the versions differ."""
    old_counts: Counts
    new_counts: Counts
    old_speed: Speed
    new_speed: Speed
    notes: tuple[str, ...] = ()


class Comparison(Record, frozen=True, kw_only=True):
    """Two runs, dataset by dataset."""

    base: str
    """Id of the older run."""
    new: str
    changes: tuple[Change, ...]
    only_base: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, dataset: str, metric: str) -> Difference | None:
        """None when one of the runs lacks the dataset or both lack the metric."""
        found = (one for change in self.changes if change.dataset == dataset for one in change.differences)
        return next((one for one in found if one.metric == metric), None)


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
    about: tuple[str, int] | None = None
    """File of the adapter, and its line, where the cure is to be applied."""


class Report(Record, frozen=True, kw_only=True):
    """All that a reader wants to know of a run; `reporting` renders it to files and pages."""

    plan: RunPlan
    outcome: Outcome
    sheets: tuple[Sheet, ...]
    gates: tuple[GateResult, ...] = ()
    comparison: Comparison | None = None
    """With the baseline, where there is one and the run is a verdict."""
    service: Service | None = None
    seconds: dict[str, float] = {}
    """Stage → wall seconds."""
    started: str
    finished: str
    environment: dict[str, str] = {}
