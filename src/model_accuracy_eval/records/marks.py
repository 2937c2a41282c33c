"""What replies are worth."""

from typing import Literal

from model_accuracy_eval.records.base import Record

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
    used_tools: int = 0
    unfinished: int = 0
    """Answers that still called tools when the task's last round was over."""


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
    share: bool = True
    """Whether it is per cent, on a scale that ends at 100; a perplexity is not."""


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
