"""The scores of replies, and what became of every sample."""

from math import fsum
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.records.base import Record

VerdictReason = Literal["right", "wrong", "not found", "unjudged", "empty", "rejected", "failed", "missing"]
"""`unjudged`: there is an answer, but the judge model or the sandbox could not score it."""


class Verdict(Record, frozen=True, kw_only=True):
    """One scored attempt. `value` is None if nothing could be scored; the headline score counts it as 0."""

    value: float | None
    answer: str | None = None
    why: VerdictReason
    cut: bool = False
    doubtful: bool = False
    """The reply does not state the answer, or states several: it may mean another."""


class FigureBounds(Record, frozen=True, kw_only=True):
    """The least and the greatest that a figure can be, whatever its samples without a verdict would have been worth."""

    low: float | None
    """None: there is no least."""
    high: float | None
    """None: there is no greatest."""
    samples: int
    """How many samples have no verdict."""


class ProblemResult(Record, frozen=True, kw_only=True):
    """One problem after its n attempts. `c` is None for metrics that are not right or wrong."""

    problem: int
    n: int
    c: int | None
    values: tuple[float, ...]
    answers: tuple[str | None, ...]
    why: tuple[VerdictReason, ...]
    cut: int = 0
    doubtful: tuple[int, ...] = ()
    """The samples whose answers are doubtful."""
    references: tuple[str, ...]
    key: tuple[str, ...] = ()
    """The user's own ids of the row, where the task names its key columns."""
    category: str | None = None
    cluster: str = ""
    """Equal in problems that share a passage or the like; empty: it stands alone."""
    figures: dict[str, float | None] = {}
    """Every metric of every pipeline for this problem, by its name in the summary; None: it exists only for the whole
    dataset."""
    bounds: dict[str, FigureBounds] = {}
    """For the figures of which samples have no verdict."""
    replicas: tuple[str, ...] = ()
    """Which replica answered each sample; empty if there was one service, and an empty name if nobody answered."""
    statistics: dict[str, tuple[tuple[float, ...], ...]] = {}
    """For figures of the whole dataset that are no means: what each run adds to them, such as numbers of n-grams."""

    @property
    def share(self) -> float:
        """How much of its samples is right, 0..1."""
        if not self.n:
            return 0.0
        return fsum(self.values) / self.n if self.c is None else self.c / self.n


class Counts(Record, frozen=True, kw_only=True):
    """What became of every planned sample; none is dropped silently."""

    planned: int = 0
    answered: int = 0
    rejected: int = 0
    failed: int = 0
    missing: int = 0
    cut: int = 0
    filtered: int = 0
    """Answers that a content filter of the service ended; one kind of `anomalous`."""
    anomalous: int = 0
    """Answers that are odd in some way, whatever the right answer is."""
    empty: int = 0
    thought: int = 0
    """Answers with a thought before them, or in place of one."""
    reasoning_only: int = 0
    """Of these, those that are nothing else."""
    with_media: int = 0
    """Answers with a sound or a picture."""
    audio_only: int = 0
    """Of these, those in sound alone whose transcript was not judged: it is not there, or the task does not say so."""
    not_found: int = 0
    doubtful: int = 0
    """Answers that were read where the reply states none, or several."""
    unjudged: int = 0
    cropped: int = 0
    """Contexts that were longer than the model's context length and lost their beginning."""
    used_tools: int = 0
    unfinished: int = 0
    """Answers that still called tools after the task's last round."""
    unneeded: int = 0
    """Samples that no decision needed: never asked, or answered after it."""

    def plus(self, **increments: int) -> "Counts":
        return replace(self, **{name: getattr(self, name) + increment for name, increment in increments.items()})


class Interval(Record, frozen=True, kw_only=True):
    """95 % confidence interval of a mean over problems, 0..100.

    Where samples have no verdict it reaches from that of the worst case to that of the best."""

    low: float
    high: float


class Sharing(Record, frozen=True, kw_only=True):
    """Problems that are not independent, because several of them share a passage, a picture or the like."""

    clusters: int
    independent: float
    """As many problems that share nothing would say as much: fewer than there are clusters, if these differ in size
    (Kish)."""
    what: str = "clusters"

    def __str__(self) -> str:
        return f"{self.clusters:,} {self.what}"


class CaseCertainty(Record, frozen=True, kw_only=True):
    """What is known of a mean over problems, with every lost sample at its worst, or every one at its best."""

    mean: float
    """0..1."""
    rerun_variance: float | None
    """Of the mean, if the same problems were asked again; None: too few problems have samples that disagree."""
    freedom: float
    """Degrees of freedom of that variance."""
    flips: float
    """As many coin flips as would vary like the problems' values do."""
    drawn_flips: float | None = None
    """Of a sample, as many as would vary like it does around all problems of its dataset, asked again; None: these are
    all, or the first ones."""


class Certainty(Record, frozen=True, kw_only=True):
    """What the limits of a figure are computed from, at any confidence. The figure is the mean times `factor` plus
    `offset`."""

    problems: int
    samples: int
    """Of every problem, those that are equal in all of them counted once."""
    draws: int
    """Right-or-wrong draws that the mean is made of; 0: asked again, the service gives the same figure."""
    worst: CaseCertainty
    best: CaseCertainty
    factor: float = 100.0
    offset: float = 0.0
    sharing: Sharing | None = None
    """None: the problems share nothing."""
    repeated: int = 0
    """As many samples of every problem were the same, in all problems, so that they say nothing about how far the
    figure varies; 0: they differ somewhere, or there is one."""


class SummaryRow(Record, frozen=True, kw_only=True):
    """One row of the summary table, in AISBench's format, with its interval."""

    dataset: str
    version: str
    metric: str
    mode: str = "gen"
    value: float | None
    interval: Interval | None = None
    stderr: float | None = None
    higher_is_better: bool = True
    share: bool = True
    """Whether it is a percentage; a perplexity, for example, is not."""
    bounds: FigureBounds | None = None
    """None: every sample has a verdict, or none has one and there is no figure."""
    chance: float | None = None
    """The expected figure of guessing; None where there are no options to guess from."""
    drawn: bool = True
    """Whether the same service would give other values if it were asked again; likelihoods are computed, not drawn."""
    of: int | None = None
    """Of how many problems those that were asked are a sample: then the interval is that of all of them. None: these
    are all, or the first ones."""
    certainty: Certainty | None = None
    """None if the figure is no mean of shares over problems."""
    aggregation: str = "mean"
    """How the problems' values make the figure."""
    estimated: bool = False
    """Whether it is the figure of a part of the dataset, because the rest was not needed for a decision."""
    finished: float | None = None
    """Of the first figure: that of the replies that were not cut, alone. None: none was, or all were."""
    unpinned: bool = False
    """Whether nothing says that the rows are those that the dataset's name stands for."""
    unverified: bool = False
    """Whether nothing says that the replies are those that the run left."""


class AskedPart(Record, frozen=True, kw_only=True):
    """What was read of a dataset that was asked no further than was needed."""

    read: int
    """Samples that the decisions and the figures were made from."""
    answered: int = 0
    """Samples that were answered until then, those included that came before others in the order."""
    planned: int
    problems: int
    """Of which samples were read."""
    left_inside: bool
    """Whether problems were left once their figures were settled."""
    estimated: bool
    """Whether the figures are those of a part; else no sample that is missing could have changed them."""
    repeated: bool = False
    """Whether all samples of every problem were the same."""
    decisions: dict[str, Literal["passed", "failed", "undecided"]] = {}
    """By gate, as it is written."""

    @property
    def share(self) -> str:
        """Of the samples, for people."""
        percent = 100 * self.read / self.planned
        return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"


class Spread(Record, frozen=True, kw_only=True):
    """Distribution of a time in seconds, or of a number of tokens, over the samples."""

    mean: float
    p50: float
    p90: float
    p95: float | None = None
    """None: of a run before it was told."""
    p99: float
    maximum: float


class Speed(Record, frozen=True, kw_only=True):
    """Speed figures of the same requests; None: the server did not report them."""

    ttft: Spread | None = None
    e2e: Spread | None = None
    gap: Spread | None = None
    thought: Spread | None = None
    """Tokens of the thoughts that there are."""
    answer: Spread | None = None
    """Tokens of what is said behind thoughts; None: no reply has one."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    uncounted: int | msgspec.UnsetType = msgspec.UNSET
    """Requests that are missing in the completion tokens: the service did not count them, or one of several choices."""


class TimedSample(NamedTuple):
    """When a sample was asked for and came."""

    request: str
    sent: float
    """In seconds since the epoch."""
    ttft: float | None
    e2e: float
    writing: float | None
    """From its first text to its last."""
    tokens: float | None


class SpeedFigure(Record, frozen=True, kw_only=True):
    """One figure of how fast a service was; times in milliseconds."""

    value: float
    stderr: float | None = None
    """None: too few requests, or too short, to see how it varies."""


class ClientLoad(Record, frozen=True, kw_only=True):
    """What the asking program was like meanwhile."""

    since: float
    """In seconds since the epoch."""
    busy: float
    """Share of its time in which it computed."""
    late: float
    """Seconds by which its timers came late (p95)."""


class RunSpeed(Record, frozen=True, kw_only=True):
    """How fast the service was over all datasets, while requests were under way as the run allows."""

    figures: dict[str, SpeedFigure]
    under_way: float
    """Requests, in the mean."""
    seconds: float
    requests: int
    client: ClientLoad
    limited: str = ""
    """Why these figures may be those of the client or the machine, so that no gate is decided on them."""
    shards: int = 1
    """Services, each of a shard of the run, whose means these figures are."""


class ExecutionSummary(Record, frozen=True, kw_only=True):
    """How many programs were run in one environment; in another one the score may differ."""

    isolation: str
    image: str
    integrity: str
    programs: int
    passed: int = 0
    """Of these, how many passed: `integrity` says how sure that is."""


class Reading(Record, frozen=True, kw_only=True):
    """How another pipeline of the task reads the same replies: in how many it finds an answer, and which."""

    pipeline: str
    answers: int
    """Replies in which the first pipeline finds an answer."""
    more: int
    """Replies in which only this one does."""
    fewer: int
    """Replies in which only the first one does."""
    different: int
    """Replies in which they find different answers."""
    metric: str
    """The name of this reading's figure in the summary."""
    examples: tuple[str, ...] = ()
    """The first problems whose samples the two judge differently, with what each reads."""


class ReplicaPace(Record, frozen=True, kw_only=True):
    """How fast one replica was while a dataset was asked: its median seconds between chunks, block by block of samples;
    None where it answered none."""

    replica: str
    gaps: tuple[float | None, ...]


class ReplicaFigure(Record, frozen=True, kw_only=True):
    """One replica of the service beside the others, over all datasets."""

    replica: str
    samples: int
    """Those that are right or wrong, or a share of that."""
    figure: float | None
    """Their mean, 0..100. Replicas answer different problems, so these figures alone are no comparison."""
    points: float | None = None
    """By how much it differs from the others on the same problems; None: too few problems."""
    interval: Interval | None = None
    """99 % interval of the points, for all replicas together."""
    differs: bool = False
    """Whether by more than chance."""
    gap: float | None = None
    """Median seconds between chunks."""
    ratio: float | None = None
    """How much longer that is than the others' at the same time."""
    differs_in_speed: bool = False


class DatasetResult(Record, frozen=True, kw_only=True):
    """The result of one dataset: its rows, its problems, and what became of the samples."""

    dataset: str
    version: str
    rows: tuple[SummaryRow, ...]
    problem_results: tuple[ProblemResult, ...]
    counts: Counts
    anomalies: dict[str, int] | None = None
    """How many replies have each kind; None: nobody has looked."""
    look_first: str = ""
    """What to look at before the figures are believed, which the run's verdict begins with."""
    notes: tuple[str, ...] = ()
    speed: Speed = Speed()
    ran: tuple[ExecutionSummary, ...] = ()
    """The environments in which programs were run; empty if none were."""
    readings: tuple[Reading, ...] = ()
    """Other readings of the same replies; empty if the task has one way to read them."""
    part: AskedPart | None = None
    """None: everything was asked."""
    paces: tuple[ReplicaPace, ...] = ()
    timed: tuple[TimedSample, ...] = ()

    def row(self, metric: str) -> SummaryRow | None:
        return next((row for row in self.rows if row.metric == metric), None)
