"""One dataset of one run, as far as comparisons, gates and histories need it: figures, and each problem's values."""

from collections.abc import Iterable, Sequence
from math import fsum

import msgspec

from model_accuracy_eval.records import AskedPart, Counts, DatasetResult, FigureBounds, Speed, SummaryRow
from model_accuracy_eval.scoring.figures.aggregations import Statistics
from model_accuracy_eval.scoring.figures.intervals import mean
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k
from model_accuracy_eval.scoring.verdicts.gate_lines import of_part

_ESTIMATORS = {"pass": pass_at_k, "cons": cons_at_k}


class ProblemOutcome(msgspec.Struct, frozen=True, gc=False):
    """The fields of a problem's result that a comparison needs; decoding skips all others."""

    id: int
    n: int
    c: int | None = None
    values: tuple[float, ...] = ()
    """Empty if `c` says it all."""
    figures: dict[str, float | None] = {}
    """Metrics that do not follow from `c`, 0..100."""
    bounds: dict[str, FigureBounds] = {}
    """Metrics of which samples have no verdict."""
    category: str | None = None
    statistics: dict[str, Statistics] = {}
    """Metrics of the whole dataset that are no means over problems."""

    @property
    def share(self) -> float:
        """Mean of the samples' values, 0..1."""
        return fsum(self.values) / self.n if self.c is None else self.c / self.n


class DatasetOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset of one run."""

    dataset: str
    version: str
    figures: dict[str, float | None]
    shares: frozenset[str]
    """Figures that are means over problems of values in 0..100: those that have an interval."""
    problems: Sequence[ProblemOutcome]
    counts: Counts
    speed: Speed
    bounds: dict[str, FigureBounds] = {}
    """Limits of the figures of which samples have no verdict."""
    aggregations: dict[str, tuple[str, float]] = {}
    """How figures that are drawn and no means come about, and by what they are scaled."""
    part: AskedPart | None = None
    """None: everything was asked."""


def dataset_outcome(dataset_result: DatasetResult) -> DatasetOutcome:
    """The outcome of a run that is still in memory."""
    return DatasetOutcome(
        dataset=dataset_result.dataset,
        version=dataset_result.version,
        figures=whole_figures(dataset_result.rows),
        shares=frozenset(row.metric for row in dataset_result.rows if row.interval is not None),
        bounds={row.metric: row.bounds for row in dataset_result.rows if row.bounds is not None},
        aggregations=drawn_aggregations(dataset_result.rows),
        problems=[
            ProblemOutcome(
                result.problem,
                result.n,
                result.c,
                result.values if result.c is None else (),
                result.figures,
                result.bounds,
                result.category,
                result.statistics,
            )
            for result in dataset_result.problem_results
        ],
        counts=dataset_result.counts,
        speed=dataset_result.speed,
        part=dataset_result.part,
    )


def whole_figures(rows: Iterable[SummaryRow]) -> dict[str, float | None]:
    """The figures by name; an estimate from a part is none."""
    return {row.metric: None if row.estimated else row.value for row in rows}


def drawn_aggregations(rows: Iterable[SummaryRow]) -> dict[str, tuple[str, float]]:
    """What is computed and not drawn is the same when it is asked again, so its change needs no error."""
    return {
        row.metric: (row.aggregation, 100.0 if row.share else 1.0)
        for row in rows
        if row.aggregation != "mean" and row.drawn and not row.metric.endswith("]")
    }


def is_mean_of_problems(metric: str, outcome: DatasetOutcome) -> bool:
    """Whether the figure really is the mean of the problems' values, which not every metric is."""
    if metric not in outcome.shares:
        return False
    values = [value_of(metric, problem) for problem in outcome.problems if is_in(metric, problem)]
    average = mean([value for value in values if value is not None])
    figure = outcome.figures[metric]
    return None not in values and average is not None and figure is not None and abs(100 * average - figure) < 1e-6


def whole_figure(metric: str) -> str:
    """The figure of the whole dataset that a part's is one of."""
    part = of_part(metric)
    return part[0] if part else metric


def is_in(metric: str, problem: ProblemOutcome) -> bool:
    """Whether the problem counts for the figure: that of a part is about the problems of one category."""
    part = of_part(metric)
    return part is None or problem.category == part[1]


def value_of(metric: str, problem: ProblemOutcome) -> float | None:
    """A problem's value of a metric, 0..1."""
    metric = whole_figure(metric)
    if (figure := problem.figures.get(metric)) is not None:
        return figure / 100
    kind, _, size = metric.partition("@")
    if kind not in _ESTIMATORS:
        return problem.share
    usable = problem.c is not None and size.isdecimal() and 1 <= int(size) <= problem.n
    return _ESTIMATORS[kind](problem.n, problem.c, int(size)) if usable and problem.c is not None else None
