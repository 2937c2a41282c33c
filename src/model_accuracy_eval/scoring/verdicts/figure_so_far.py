"""A figure while its samples come in: of the problems from the first one on, as far as nearly all of them are there.

What has arrived first is better than the rest, because wrong answers are often long and late. So the figure is that of
a beginning of the dataset, and a few problems of it that are still missing may be worth anything.
"""

from collections.abc import Mapping, Sequence

from model_accuracy_eval.records import FigureSoFar, MetricUse, Pipeline, Record, TaskSpec
from model_accuracy_eval.scoring.figures.columns import Column, reduced
from model_accuracy_eval.scoring.figures.intervals import interval_of_sums
from model_accuracy_eval.scoring.figures.reductions import counts_only
from model_accuracy_eval.scoring.figures.scorecard import EMPTY_PROBLEM
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import SampleValue, metric
from model_accuracy_eval.scoring.metrics.scorers import pipelines_of_runs

_MISSING = 0.05
"""The share of the beginning that may be missing."""


class BeginningMean:
    """The mean of the values of a beginning, each 0..1."""

    def __init__(self, metric: str, places: int, samples: int = 1, *, of_samples: bool = False) -> None:
        """`samples`: of every problem. `of_samples`: the places are those of single samples."""
        self._metric = metric
        self._of_samples = of_samples
        self._samples = samples
        self._places = places
        self._end = 0
        """Where the beginning ends."""
        self._missing: set[int] = set()
        """Places in the beginning without a value yet."""
        self._waiting: dict[int, tuple[float, float] | None] = {}
        """Values of places behind the beginning."""
        self._count = 0
        self._total = 0.0
        self._squares = 0.0
        self._unknown = 0.0
        """By how much the total could be greater."""

    def tell(self, place: int, low: float, high: float) -> None:
        """The value of a place; the ends differ where nobody knows it."""
        self._note(place, (low, high))

    def leave_out(self, place: int) -> None:
        """The figure does without this one."""
        self._note(place, None)

    def is_told(self, place: int) -> bool:
        return place in self._waiting or (place < self._end and place not in self._missing)

    def _note(self, place: int, value: tuple[float, float] | None) -> None:
        if self.is_told(place):
            return
        if place in self._missing:
            self._missing.discard(place)
            self._add(value)
        else:
            self._waiting[place] = value
        while self._waiting and self._end < self._places:
            if self._end in self._waiting:
                self._add(self._waiting.pop(self._end))
            elif len(self._missing) + 1 <= _MISSING * (self._end + 1):
                self._missing.add(self._end)
            else:
                return
            self._end += 1

    def _add(self, value: tuple[float, float] | None) -> None:
        if value is not None:
            low, high = value
            self._count += 1
            self._total += low
            self._squares += low * low
            self._unknown += high - low

    def figure(self) -> FigureSoFar | None:
        """None: two values are the least that say anything."""
        count, missing = self._count, len(self._missing)
        low = interval_of_sums(count + missing, self._total, self._squares, self._samples)
        more = self._unknown + missing
        high = interval_of_sums(count + missing, self._total + more, self._squares + more, self._samples)
        if low is None or high is None or not count:
            return None
        return FigureSoFar(
            metric=self._metric,
            value=100 * self._total / count,
            low=low.low,
            high=high.high,
            judged=count,
            of_samples=self._of_samples,
        )


# Figures that can be followed while samples come in: those that are plain means over problems, each in 0..1.


class FollowedFigure(Record, frozen=True, kw_only=True):
    """How a figure follows from the samples of a problem."""

    is_mean_of_samples: bool
    yes_or_no: bool
    """Whether a sample is right or wrong."""
    by_count: tuple[float, ...] | None
    """A problem's value with 0, 1, … n right samples; None: more than their number matters."""
    drawn: bool
    """Whether the same service would give other values if it were asked again."""

    @property
    def zero_or_one(self) -> bool:
        """Whether a problem's value is 0 or 1."""
        return self.by_count is not None and {*self.by_count} <= {0.0, 1.0}

    def ends(self, right: int, unknown: int) -> tuple[float, float]:
        """The least and the greatest value of a problem with so many right samples, and so many of which nothing is
        known. Every value that counts right samples rises with their number."""
        assert self.by_count is not None
        return self.by_count[right], self.by_count[right + unknown]


def followed_figures(task: TaskSpec, n: int, k: Sequence[int]) -> Mapping[str, FollowedFigure]:
    """By the names in the summary; of a task with parts those that are the same in all of them."""
    if not task.parts:
        return dict(_of_pipelines(task, n, k))
    first, *others = (followed_figures(part, n, k) for part in task.parts)
    return {name: figure for name, figure in first.items() if all(other.get(name) == figure for other in others)}


def _of_pipelines(task: TaskSpec, n: int, k: Sequence[int]) -> Mapping[str, FollowedFigure]:
    figures: dict[str, FollowedFigure] = {}
    for place, pipeline in enumerate(pipelines_of_runs(task, n)):
        for number, use in enumerate(pipeline.metrics):
            row = metric(use.name)
            followed = row.share and not user_functions.is_path(use.name)
            if followed and Column(row, use, n).is_mean:
                figures |= _of_metric(pipeline, use, n, k, headline=place == number == 0)
    return figures


def _of_metric(
    pipeline: Pipeline, use: MetricUse, n: int, k: Sequence[int], *, headline: bool
) -> Mapping[str, FollowedFigure]:
    row = metric(use.name)
    by_samples = not filters.choose(pipeline.filters)
    answers = n if by_samples else len(filters.run(pipeline.filters, [None] * n, EMPTY_PROBLEM))

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
            yes_or_no=row.yes_or_no,
            by_count=tuple(each[name] for each in by_count) if counted else None,
            drawn=row.reads != "likelihoods",
        )
        for name in by_count[0]
    }
