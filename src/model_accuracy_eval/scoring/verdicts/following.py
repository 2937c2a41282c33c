"""A figure while its samples come in: of the problems from the first one on, as far as nearly all of them are there.

What has arrived first is better than the rest, because wrong answers are often long and late. So the figure is that of
a beginning of the dataset, and a few problems of it that are still missing may be worth anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from model_accuracy_eval.records import (
    NO_PROBLEM,
    DatasetResult,
    Decision,
    FigureSoFar,
    MetricUse,
    Pipeline,
    Record,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.columns import reduced
from model_accuracy_eval.scoring.figures.intervals import ClusterSums
from model_accuracy_eval.scoring.figures.reductions import counts_only
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import SampleValue, metric, pipelines
from model_accuracy_eval.scoring.verdicts.comparison_statistics import value_of
from model_accuracy_eval.scoring.verdicts.sequential import BaselineFigure, MeanDecider, StopLines

_MISSING = 0.05
"""The share of the beginning that may be missing."""


class BeginningMean:
    """The mean of the values of a beginning, each 0..1."""

    def __init__(self, metric: str, clusters: Sequence[str], samples: int = 1, *, of_samples: bool = False) -> None:
        """`clusters`: of every place; empty: it stands alone. `samples`: of every problem. `of_samples`: the places are
        those of single samples."""
        self._metric = metric
        self._of_samples = of_samples
        self._samples = samples
        self._clusters = clusters
        self._end = 0
        """Where the beginning ends."""
        self._missing: set[int] = set()
        """Places in the beginning without a value yet."""
        self._waiting: dict[int, ValueEnds | None] = {}
        """Values of places behind the beginning."""
        self._low, self._high = ClusterSums(), ClusterSums()
        """Of the values at their least, and at their greatest."""

    def is_told(self, place: int) -> bool:
        return place in self._waiting or (place < self._end and place not in self._missing)

    def tell(self, place: int, value: "ValueEnds | None") -> None:
        """The value of a place; the ends differ where nobody knows it. None: the figure does without this one."""
        if self.is_told(place):
            return
        if place in self._missing:
            self._missing.discard(place)
            self._add(place, value)
        else:
            self._waiting[place] = value
        while self._waiting and self._end < len(self._clusters):
            if self._end in self._waiting:
                self._add(self._end, self._waiting.pop(self._end))
            elif len(self._missing) + 1 <= _MISSING * (self._end + 1):
                self._missing.add(self._end)
            else:
                return
            self._end += 1

    def _add(self, place: int, value: "ValueEnds | None") -> None:
        if value is not None:
            self._low.add(value[0], self._clusters[place])
            self._high.add(value[1], self._clusters[place])

    def figure(self) -> FigureSoFar | None:
        """None: two values are the least that say anything."""
        worst = self._low.with_more(0.0, len(self._missing)).interval(self._samples)
        best = self._high.with_more(1.0, len(self._missing)).interval(self._samples)
        if worst is None or best is None or not self._low.problems:
            return None
        return FigureSoFar(
            metric=self._metric,
            value=100 * self._low.total / self._low.problems,
            low=worst.low,
            high=best.high,
            judged=self._low.problems,
            of_samples=self._of_samples,
        )


# Figures that can be followed while samples come in: those that are plain means over problems, each in 0..1.


class FollowedFigure(Record, frozen=True, kw_only=True):
    """How a figure follows from the samples of a problem."""

    is_mean_of_samples: bool
    by_count: tuple[float, ...] | None
    """A problem's value with 0, 1, … n right samples; None: more than their number matters, or samples may be partly
    right."""
    drawn: bool
    """Whether the same service would give other values if it were asked again."""


def followed_figures(task: TaskSpec, n: int, k: Sequence[int]) -> Mapping[str, FollowedFigure]:
    """By the names in the summary; of a task with parts those that are the same in all of them."""
    if not task.parts:
        return dict(_of_pipelines(task, n, k))
    first, *others = (followed_figures(part, n, k) for part in task.parts)
    return {name: figure for name, figure in first.items() if all(other.get(name) == figure for other in others)}


def _of_pipelines(task: TaskSpec, n: int, k: Sequence[int]) -> Mapping[str, FollowedFigure]:
    figures: dict[str, FollowedFigure] = {}
    for place, pipeline in enumerate(pipelines(task)):
        for number, use in enumerate(pipeline.metrics):
            row = metric(use.name)
            followed = row.share and not user_functions.is_path(use.name)
            if followed and row.aggregation_of(use) == "mean":
                figures |= _of_metric(pipeline, use, n, k, headline=place == number == 0)
    return figures


def _of_metric(
    pipeline: Pipeline, use: MetricUse, n: int, k: Sequence[int], *, headline: bool
) -> Mapping[str, FollowedFigure]:
    row = metric(use.name)
    by_samples = not filters.choose(pipeline.filters)
    answers = n if by_samples else len(filters.run(pipeline.filters, [None] * n, NO_PROBLEM))

    def values(right: int) -> dict[str, float]:
        samples: list[SampleValue | None] = [
            dict.fromkeys(row.parts, float(place < right)) if row.parts else float(place < right)
            for place in range(answers)
        ]
        cells = reduced(pipeline, use, samples, k, headline=headline)
        return {name: cell.value for name, cell in cells.items() if isinstance(cell.value, float)}

    by_count = [values(right) for right in range(answers + 1)]
    counted = by_samples and row.yes_or_no and counts_only(use.reduction)
    linear = by_samples and counts_only(use.reduction)
    return {
        name: FollowedFigure(
            is_mean_of_samples=linear and all(abs(by_count[c][name] - c / n) < 1e-9 for c in range(n + 1)),
            by_count=tuple(each[name] for each in by_count) if counted else None,
            drawn=row.reads != "likelihoods",
        )
        for name in by_count[0]
    }


# One dataset while it is asked: which samples its gates still need, and what was decided.
#
# Samples are read in the order in which they were issued, whatever order they come back in, and only as far as all of
# them are there: wrong answers are often long and late, so what has arrived first is better than the rest.


ValueEnds = tuple[float, float]
"""The least and the greatest value, 0..1: they differ where a sample is lost."""
SampleEnds = Mapping[str, ValueEnds]
"""What one sample is worth, by figure."""


class ReadUnit(NamedTuple):
    """What is read at once: one sample, or all samples of a problem."""

    place: int
    """Of the problem in the dataset."""
    sample: int | None
    """Its index; None: all of the problem's."""


class Following(Record, frozen=True, kw_only=True):
    """What is followed of one dataset."""

    problems: tuple[int, ...]
    """Their ids, in the order of the dataset."""
    clusters: tuple[str, ...] = ()
    """Of every problem; none: they share nothing."""
    n: int
    figures: dict[str, FollowedFigure]
    """Those that have to be known."""
    gates: tuple[StopLines, ...] = ()
    seed: str = ""

    @property
    def planned(self) -> int:
        return self.n * len(self.problems)

    @property
    def by_samples(self) -> bool:
        """Whether single samples are read; else problems."""
        return all(figure.is_mean_of_samples for figure in self.figures.values())

    @property
    def stops_inside(self) -> bool:
        """Whether a problem may be left before all its samples are asked."""
        return not self.by_samples and all(figure.by_count is not None for figure in self.figures.values())

    @property
    def order(self) -> list[ReadUnit]:
        """All units, in the order in which they are asked and read, drawn at random."""
        indexes: Sequence[int | None] = range(self.n) if self.by_samples else (None,)
        units = [ReadUnit(place, index) for place in range(len(self.problems)) for index in indexes]
        Random(self.seed).shuffle(units)  # noqa: S311 - an order that can be repeated, not a secret
        return units

    def cluster_of(self, unit: ReadUnit) -> str:
        """What a unit resembles others of: its passage or the like, or its problem."""
        own = self.clusters[unit.place] if self.clusters else ""
        return own or ("" if unit.sample is None else f"problem {unit.place}")


class PrefixReader:
    """Reads the longest completed prefix of the units, and decides the gates by it."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._order = following.order
        self._told: list[dict[int, SampleEnds]] = [{} for _ in following.problems]
        self._read = 0
        self._deciders = [_decider(following, lines, len(self._order)) for lines in following.gates]
        self._decisions: dict[str, Decision] = {}
        self._first = next(iter(following.figures))
        self.so_far = BeginningMean(
            self._first,
            [following.cluster_of(unit) for unit in self._order],
            1 if following.by_samples else following.n,
            of_samples=following.by_samples,
        )
        self._note_decisions()

    def tell(self, place: int, index: int, ends: SampleEnds) -> None:
        """Notes what a sample is worth."""
        self._told[place][index] = ends
        while not self.is_done and self._is_complete(unit := self._order[self._read]):
            for lines, decider in zip(self._following.gates, self._deciders, strict=True):
                decider.tell(*self._ends(unit, lines.gate.metric))
            self.so_far.tell(self._read, self._ends(unit, self._first))
            self._read += 1
            self._note_decisions()

    @property
    def is_decided(self) -> bool:
        """Whether every gate is."""
        return bool(self._deciders) and len(self._decisions) == len(self._deciders)

    @property
    def is_done(self) -> bool:
        """Whether no more samples are needed."""
        return self.is_decided or self._read == len(self._order)

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """By gate, as it is written."""
        return self._decisions

    @property
    def told(self) -> int:
        """How many samples were told, read or not."""
        return sum(map(len, self._told))

    def lacks(self, place: int) -> tuple[int, ...]:
        """The samples of a problem that were not told and may be needed."""
        if self.is_decided or self._is_settled(place):
            return ()
        return tuple(index for index in range(self._following.n) if index not in self._told[place])

    def samples_read(self) -> Iterator[tuple[int, int]]:
        """Problem and index of every sample that was read."""
        for unit in self._order[: self._read]:
            for index in self._told[unit.place] if unit.sample is None else [unit.sample]:
                yield self._following.problems[unit.place], index

    def _note_decisions(self) -> None:
        for lines, decider in zip(self._following.gates, self._deciders, strict=True):
            if decider.is_decided:
                self._decisions.setdefault(str(lines.gate), lines.above if decider.is_above else lines.below)

    def _is_complete(self, unit: ReadUnit) -> bool:
        told = self._told[unit.place]
        if unit.sample is not None:
            return unit.sample in told
        return len(told) == self._following.n or self._is_settled(unit.place)

    def _is_settled(self, place: int) -> bool:
        """Whether no sample that is left can change a figure of the problem."""
        if not self._following.stops_inside:
            return False
        return all(low == high for low, high in (self._problem_ends(place, name) for name in self._following.figures))

    def _ends(self, unit: ReadUnit, name: str) -> ValueEnds:
        if unit.sample is not None:
            return self._told[unit.place][unit.sample][name]
        return self._problem_ends(unit.place, name)

    def _problem_ends(self, place: int, name: str) -> ValueEnds:
        figure, told = self._following.figures[name], [ends[name] for ends in self._told[place].values()]
        unasked = self._following.n - len(told)
        if figure.by_count is None:
            low, high = fsum(low for low, _ in told), fsum(high for _, high in told) + unasked
            return low / self._following.n, high / self._following.n
        right = sum(low >= 1.0 for low, _ in told)
        # Every value that counts right samples rises with their number.
        most = right + unasked + sum(low < high for low, high in told)
        return figure.by_count[right], figure.by_count[most]


def _decider(following: Following, lines: StopLines, units: int) -> MeanDecider:
    by_count = following.figures[lines.gate.metric].by_count
    binary = by_count is not None and (following.by_samples or {*by_count} <= {0.0, 1.0})
    return MeanDecider(units, (lines.lower, lines.upper), lines.errors, binary=binary)


# What a baseline says beforehand about the problems of a run that may stop early.


_OF_SIZES = {"pass", "cons"}
"""Figures whose names say of how many samples they are."""


def baseline_figure(base: DatasetResult, metric: str, *, is_drawn_alike: bool) -> BaselineFigure | None:
    """None if the baseline lacks the figure, or if it is no mean over problems."""
    row, problems = base.row(metric), base.problem_results
    if row is None or row.value is None or row.estimated or row.interval is None:
        return None
    low = row.value if row.bounds is None or row.bounds.low is None else row.bounds.low
    high = row.value if row.bounds is None or row.bounds.high is None else row.bounds.high
    values = [value for problem in problems if (value := value_of(metric, problem)) is not None]
    key = metric if metric.partition("@")[0] in _OF_SIZES else ""
    noises = [
        intervals.noise("runs", key, each.values if each.c is None else [1.0] * each.c + [0.0] * (each.n - each.c))
        for each in problems
    ]
    case = intervals.case(values, noises, problems[0].n) if len(values) == len(noises) else None
    return BaselineFigure(
        low=low / 100,
        high=high / 100,
        variance=case.rerun_variance if case else None,
        freedom=case.freedom if case else 0.0,
        is_drawn_alike=is_drawn_alike,
    )
