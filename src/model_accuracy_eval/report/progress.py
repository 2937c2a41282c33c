"""How far a run is, how fast, and how long the rest of it takes, from what is counted while it is asked."""

from collections.abc import Mapping
from math import fsum

import msgspec

from model_accuracy_eval.ports import Activity
from model_accuracy_eval.records import Counts, FigureSoFar, Record
from model_accuracy_eval.records.base import duration
from model_accuracy_eval.report import markdown
from model_accuracy_eval.report.figures import count_remarks
from model_accuracy_eval.run_folder.runfile import RunFile


class DatasetPace(msgspec.Struct):
    """The pace of one dataset. Samples of an earlier run do not count in the rate."""

    begun: float
    counts: Counts
    answered_before: int
    activity: Activity | None = None
    ended: float | None = None

    @property
    def done(self) -> int:
        return self.counts.answered + self.lost

    @property
    def lost(self) -> int:
        return self.counts.rejected + self.counts.failed

    @property
    def is_done(self) -> bool:
        return self.done >= self.counts.planned

    @property
    def left(self) -> int:
        return 0 if self.ended is not None else max(0, self.counts.planned - self.done)

    @property
    def done_now(self) -> int:
        """Samples of this run."""
        return self.done - self.answered_before

    @property
    def is_active(self) -> bool:
        """Whether it is being asked."""
        waits = self.activity is not None and self.activity.first_asked is None
        return not waits and self.ended is None and not self.is_done

    @property
    def tokens(self) -> int:
        return self.activity.tokens if self.activity else 0

    def request_seconds(self, now: float) -> float:
        return self.activity.request_seconds if self.activity else self.seconds(now)

    def seconds(self, now: float) -> float:
        """Since its first request: it may have waited for others."""
        asked = self.activity.first_asked if self.activity else None
        return (now if self.ended is None else self.ended) - (self.begun if asked is None else asked)

    def figure(self, *, short: bool = False) -> str:
        """As far as there is one, or why there is none."""
        so_far = self.activity.so_far() if self.activity else None
        if isinstance(so_far, FigureSoFar):
            return f"{so_far.value:.1f} % ({so_far.low:.0f}..{so_far.high:.0f})" if short else so_far.text
        return so_far or ""

    def rate(self, now: float) -> str:
        return _rate(self.done_now, self.seconds(now))

    def line(self, now: float, *, figure: bool = True) -> str:
        speed = _speed(self.done_now, self.tokens, self.seconds(now))
        return ", ".join([*_counted(self.counts), *filter(None, [self.figure() if figure else ""]), speed])


class RunPace(msgspec.Struct):
    """The pace of all datasets together: one that has ended says nothing about those that have not begun."""

    datasets: dict[str, DatasetPace] = msgspec.field(default_factory=dict)

    def _all(self) -> list[DatasetPace]:
        return list(self.datasets.values())

    def active(self) -> list[tuple[str, DatasetPace]]:
        return [(name, pace) for name, pace in list(self.datasets.items()) if pace.is_active]

    @property
    def lost(self) -> int:
        return sum(pace.lost for pace in self._all())

    @property
    def finished(self) -> int:
        return sum(pace.is_done or pace.ended is not None for pace in self._all())

    @property
    def counts(self) -> Counts:
        names = Counts.__struct_fields__
        return Counts(**{name: sum(getattr(pace.counts, name) for pace in self._all()) for name in names})

    def line(self, now: float) -> str:
        return ", ".join([*_counted(self.counts), self.speed(now)])

    def speed(self, now: float) -> str:
        """Of samples and of tokens, and how long it has been."""
        ends = [now if pace.ended is None else pace.ended for pace in self._all()]
        seconds = max(ends) - min(pace.begun for pace in self._all())
        return _speed(sum(pace.done_now for pace in self._all()), sum(pace.tokens for pace in self._all()), seconds)

    def left(self, now: float) -> str:
        """How long the rest takes.

        Every sample that is left costs what those of its dataset did, measured in the seconds that requests take, and
        those of a dataset without answers what all others did; as many requests are under way at a time as were.
        """
        done, took = sum(pace.done_now for pace in self._all()), sum(pace.request_seconds(now) for pace in self._all())
        if done <= 0 or took <= 0:
            return "time left not known yet"
        cost = sum(
            pace.left * (pace.request_seconds(now) / pace.done_now if pace.done_now > 0 else took / done)
            for pace in self._all()
        )
        wall = now - min(pace.begun for pace in self._all())
        most = any(pace.activity is not None and pace.activity.may_end_early and pace.left for pace in self._all())
        return f"{'at most ' if most else ''}about {duration(cost * wall / took)} left"


def _counted(counts: Counts) -> list[str]:
    lost = {"rejected": counts.rejected, "failed": counts.failed}
    return [
        f"{counts.answered:,} of {counts.planned:,} answered",
        *(f"{number:,} {what}" for what, number in lost.items() if number),
    ]


def _rate(samples: int, seconds: float) -> str:
    return f"{samples / seconds if seconds > 0 else 0.0:,.1f}/s"


def _speed(samples: int, tokens: int, seconds: float) -> str:
    rates = [_rate(samples, seconds)]
    if tokens and seconds > 0:
        rates.append(f"{tokens / seconds:,.0f} tokens/s")
    return ", ".join([*rates, f"{duration(seconds)} elapsed"])


# How fast an earlier run was asked, as its `run.json` says: what a further run will take.


class EarlierPace(Record, frozen=True, kw_only=True):
    """How long answers took, and how many there were in a second."""

    lengths: dict[str, float]
    """Dataset → mean seconds of an answer."""
    usual: float
    """Seconds of an answer in all datasets together."""
    rate: float | None
    """Answers in a second; None: the run, which may be a merged one, does not say how long it asked."""

    def seconds(self, samples: Mapping[str, int], concurrency: int) -> float:
        """How long so many samples of each dataset take, as many at a time as then; where that is not known, as many
        as `concurrency` says."""
        width = concurrency if self.rate is None else self.rate * self.usual
        return fsum(count * self.lengths.get(name, self.usual) for name, count in samples.items()) / width


def of_run(run: RunFile) -> EarlierPace | None:
    """None: the run has no answers of its own, or says nothing of their time."""
    answered = {name: entry.counts.answered for name, entry in run.datasets.items() if entry.counts}
    lengths = {
        name: entry.speed.e2e.mean
        for name, entry in run.datasets.items()
        if entry.speed and entry.speed.e2e and answered.get(name)
    }
    # Of a run that broke off, nobody noted how many of its answers an earlier part had given.
    asked = run.seconds.get("infer", 0.0) if run.is_verdict else 0.0
    now = sum(answered.values()) - (run.answered_before or 0)
    rate = now / asked if asked and now > 0 else None
    timed = sum(answered[name] for name in lengths)
    if timed:
        usual = fsum(mean * answered[name] for name, mean in lengths.items()) / timed
        return EarlierPace(lengths=lengths, usual=usual, rate=rate)
    # Log-likelihoods are not timed one by one: how many are under way at a time is in the rate.
    return EarlierPace(lengths={}, usual=1 / rate, rate=rate) if rate else None


# The progress of a run as its check shows it: a title for the list of checks, a summary for the check's page.


_STAGES = {
    "prepare": "Preparing",
    "preflight": "Checking the data, the adapter and the weights",
    "weights": "Fetching the weights",
    "deploy": "Deploying the adapter",
    "infer": "Asking",
    "score": "Scoring",
}


def title(stage: str, pace: RunPace, group: str = "") -> str:
    """One line without markup. `group`: what all datasets are of."""
    if stage != "infer" or not pace.datasets:
        return _STAGES.get(stage, stage.capitalize())
    name = group or (next(iter(pace.datasets)) if len(pace.datasets) == 1 else f"{len(pace.datasets)} datasets")
    return f"{markdown.valid_unicode(name)}: {_answered(pace.counts)}"


def summary(stage: str, pace: RunPace, now: float) -> str:
    """Every dataset, with its rate."""
    lines = [
        f"- {markdown.text(name, 100)}: {_answered(one.counts)}, {one.rate(now)}"
        + (f", {markdown.text(figure, 200)}" if (figure := one.figure()) else "")
        for name, one in list(pace.datasets.items())
    ]
    return "\n".join([f"The evaluation is under way. Stage: {stage}.\n", *lines])


def _answered(counts: Counts) -> str:
    remarks = "".join(f", {remark}" for remark in count_remarks(counts))
    return f"{counts.answered:,} of {counts.planned:,} answered{remarks}"
