"""One figure of the summary while its values are collected, and the names that figures have."""

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import NamedTuple

from model_accuracy_eval.records import (
    Certainty,
    Draw,
    FigureBounds,
    Interval,
    MetricUse,
    Pipeline,
    SummaryRow,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.aggregations import Bootstrapped, Statistics, aggregation
from model_accuracy_eval.scoring.figures.intervals import (
    ClusterSums,
    Noise,
    SampleOf,
    case,
    interval,
    noise,
    sample_interval,
)
from model_accuracy_eval.scoring.figures.reductions import reduction, reduction_ends
from model_accuracy_eval.scoring.metrics.metric_table import UNAVAILABLE, Metric, SampleValue, metric
from model_accuracy_eval.scoring.metrics.metric_type import LostValue, counted, fill, finite, is_number


class Cell(NamedTuple):
    """What one problem gives to a figure: a value, or the values of all runs."""

    value: SampleValue | None
    """None where nothing is known."""
    lost: SampleValue | None = None
    """The same with a `LostValue` for each value that depends on lost samples; None if none does."""
    chance: float | None = None
    """The expected value of guessing."""
    noise: tuple[Noise, Noise] | None = None
    """How the value varies from draw to draw: lost samples at their worst, and at their best; None: it is not known."""
    part: str = ""
    """The part of the dataset that the problem belongs to."""
    cluster: str = ""
    """Equal in problems that are not independent."""
    together: Sequence[Hashable] = ()
    """Names of groups that are drawn as a whole."""

    @property
    def runs(self) -> tuple[SampleValue, ...]:
        """`lost` of every run; empty if none is lost."""
        return () if self.lost is None else self.lost if isinstance(self.lost, tuple) else (self.lost,)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the greatest value of a problem that has a value by itself."""
        if self.lost is not None:
            return self.lost.low, self.lost.high
        return None if self.value is None else (self.value, self.value)


@dataclass
class Column:
    """One figure: a cell for every problem."""

    task: TaskSpec
    name: str
    use: MetricUse
    samples: int
    draw: Draw | None = None
    """Of which problems these are a sample, or the first ones."""
    cells: list[Cell] = field(default_factory=list)
    unavailable: bool = False
    """Whether the service cannot provide this metric: then lost samples give no figure either."""

    @property
    def metric(self) -> Metric:
        return metric(self.use.name)

    @property
    def aggregation_name(self) -> str:
        return self.metric.aggregation_of(self.use)

    def of_problem(self, cell: Cell) -> tuple[float | None, FigureBounds | None, Statistics | None]:
        """The value of one problem alone and its limits, where a problem has one by itself; else what it adds to the
        figure, if that adds up."""
        if self.aggregation_name == "mean":
            limits = None
            if not isinstance(cell.value, float):
                return None, None, None
            if cell.lost is not None:
                low, high = self._scaled(finite(cell.lost.low)), self._scaled(finite(cell.lost.high))
                limits = FigureBounds(low=low, high=high, samples=cell.lost.samples)
            return self._scaled(cell.value), limits, None
        found = aggregation(self.aggregation_name)
        if cell.value is None or not isinstance(found, Bootstrapped):
            return None, None, None
        return None, None, found.statistics(_runs([cell.value])[0])

    def row(self, version: str, mode: str, parts: Container[str] | None = None, *, repeated: int = 0) -> SummaryRow:
        """What the summary says of the figure. `parts`: of these alone. `repeated`: as many samples of every problem
        are the same, in all problems, so that they count as one; 0: they differ somewhere, or there is one."""
        if parts is not None:
            cells = [cell for cell in self.cells if cell.part in parts]
            column = replace(self, cells=cells, draw=self.draw and self.draw.of_parts(parts))
            return column.row(version, mode, repeated=repeated)
        is_drawn = self.metric.reads != "likelihoods"
        # Nothing is known if no problem has a single sample with a verdict.
        silent = (
            cell.runs and all(isinstance(run, LostValue) and run.alone for run in cell.runs) for cell in self.cells
        )
        is_known = not self.unavailable and not all(silent)
        cells = [cell for cell in self.cells if cell.value is not None] if is_known else []
        known = _runs([cell.value for cell in cells])
        of_mean = self.metric.is_mean_share(self.use) and bool(known)
        interval, certainty = self._uncertainty(repeated, is_drawn=is_drawn) if of_mean else (None, None)
        # The first problems of a dataset say nothing of others.
        of_others = self.draw is None or self.draw.is_sample
        bounds = self._bounds() if known else None
        found, chances = aggregation(self.aggregation_name), [cell.chance for cell in self.cells]
        chance = groups.weighted(chances, [1] * len(chances)) if self.aggregation_name == "mean" else None
        return SummaryRow(
            dataset=self.task.name,
            version=version,
            metric=self.name,
            mode=mode,
            value=_within(self._scaled(found.over_runs(known)), bounds),
            interval=interval if of_others else None,
            stderr=self._scaled(found.stderr(known, [cell.cluster for cell in cells])) if of_others else None,
            higher_is_better=self.metric.rises(self.use),
            share=self.metric.share,
            bounds=bounds,
            chance=self._scaled(chance),
            drawn=is_drawn,
            of=self.draw.population if self.draw else None,
            certainty=certainty,
            aggregation=self.aggregation_name,
        )

    def _uncertainty(self, repeated: int, *, is_drawn: bool) -> tuple[Interval | None, Certainty]:
        """Of a mean of shares. With lost samples, the interval is from that of the worst case to that of the best; that
        of a sample is about all problems that it was drawn from."""
        known = [(cell, ends) for cell in self.cells if (ends := cell.ends) is not None]
        clusters = [cell.cluster for cell, _ in known]
        clusters = clusters if any(clusters) else []
        noises = [_UNKNOWN if repeated else cell.noise or _UNKNOWN for cell, _ in known]
        samples, sample = 1 if repeated else self.samples, self._sample([cell for cell, _ in known])
        cases, intervals = [], []
        for end in (0, 1):
            values, own = [ends[end] for _, ends in known], [both[end] for both in noises]
            intervals.append(sample_interval(values, sample) if sample else interval(values, samples, clusters))
            cases.append(case(values, own, samples, clusters, sample=sample, is_drawn=is_drawn))
        (low, high), (worst, best) = intervals, cases
        return Interval(low=low.low, high=high.high) if low and high else None, Certainty(
            problems=len(known),
            samples=samples,
            draws=sum(worst.draws for worst, _ in noises) if is_drawn else 0,
            worst=worst,
            best=best,
            sharing=ClusterSums([0.0] * len(known), clusters).sharing(groups.clusters_named(self.task)),
            repeated=repeated if is_drawn else 0,
        )

    def _sample(self, known: Sequence[Cell]) -> SampleOf | None:
        """None: these are all problems there are, or the first ones."""
        of = self.draw.population if self.draw else None
        if self.draw is None or of is None or len(self.cells) >= of:
            return None
        units = groups.connected([cell.together for cell in known]) if self.draw.whole_groups else []
        unit_of = {place: str(number) for number, unit in enumerate(units) for place in unit}
        parts = [cell.part for cell in known]
        return SampleOf(len(self.cells) / of, parts, [unit_of[at] for at in sorted(unit_of)])

    def _bounds(self) -> FigureBounds | None:
        """The limits of the figure, if samples are lost."""
        samples = sum(value.samples for cell in self.cells for value in cell.runs if isinstance(value, LostValue))
        if not samples:
            return None
        possible = [cell.value if cell.lost is None else cell.lost for cell in self.cells]
        low, high = aggregation(self.aggregation_name).ends(_runs([value for value in possible if value is not None]))
        return FigureBounds(low=self._scaled(low), high=self._scaled(high), samples=samples)

    def _scaled(self, value: float | None) -> float | None:
        return None if value is None else (100.0 if self.metric.share else 1.0) * value


def _within(figure: float | None, bounds: FigureBounds | None) -> float | None:
    """F1, for example, may be lower without a lost sample than with any value of it; then the nearest possible figure
    counts."""
    if figure is None or bounds is None:
        return figure
    least = figure if bounds.low is None else max(figure, bounds.low)
    return least if bounds.high is None else min(least, bounds.high)


_UNKNOWN = (Noise(None, 0, 1),) * 2


def _runs(values: Sequence[SampleValue]) -> list[tuple[SampleValue | None, ...]]:
    return [value if isinstance(value, tuple) else (value,) for value in values]


def reduced(
    pipeline: Pipeline,
    use: MetricUse,
    samples: Sequence[SampleValue | None],
    k: Sequence[int],
    *,
    headline: bool,
    chance: float | None = None,
) -> dict[str, Cell]:
    """The cells of one metric for one problem, under the names that the summary gives them.

    `chance`: that a guess is right.
    """
    row = metric(use.name)
    cells: dict[str, Cell] = {}
    for part, values in _series(row, use, samples).items():
        title = part if pipeline.name == "none" else f"{part},{pipeline.name}"
        for name, cell in _reduce(row, use, values, k, chance).items():
            cells[_figure_name(name, title, len(values), use, headline=headline)] = cell
    return cells


def _series(
    row: Metric, use: MetricUse, samples: Sequence[SampleValue | None]
) -> dict[str, Sequence[SampleValue | None]]:
    """The values of the samples under each name that the metric gives them."""
    known = counted(samples)
    if any(isinstance(value, dict) for value in known):
        parts = dict.fromkeys(part for value in known if isinstance(value, dict) for part in value)
        return {part: [_part(value, part) for value in samples] for part in parts}
    # With parts, nothing is known of this problem, so nothing of any part.
    return dict.fromkeys(row.parts or (use.label or use.name,), samples)


def _part(value: SampleValue | None, part: str) -> SampleValue | None:
    if isinstance(value, LostValue):
        return LostValue(value.low, value.high, counted=_part(value.counted, part))
    return value.get(part) if isinstance(value, dict) else None


def _reduce(
    row: Metric, use: MetricUse, values: Sequence[SampleValue | None], k: Sequence[int], chance: float | None
) -> dict[str, Cell]:
    if UNAVAILABLE in values:  # the names are the same as for any value
        return dict.fromkeys(_reduce(row, use, [0.0] * len(values), k, chance), Cell(None))
    values = [None if is_number(value) and isnan(value) else value for value in values]
    known = counted(values)
    if row.is_mean_share(use):
        known = [0.0 if value is None else value for value in known]
        values = [0.0 if value is None else value for value in values]
    if _is_of_runs(row, use, known, values):
        several = slice(1 if use.reduction == "take_first" else None)
        has_lost = any(isinstance(value, LostValue) for value in values[several])
        value = tuple(known[several])
        return {
            "": Cell(
                None if all(single is None for single in value) else value, tuple(values[several]) if has_lost else None
            )
        }
    name = use.reduction or ("runs" if row.yes_or_no else "mean")
    numbers = [float(value) for value in known if value is not None]
    sizes = use.k or [size for size in k if size <= len(numbers)] or [len(numbers)]
    results = dict(reduction(name)(numbers, sizes)) if numbers else {"": None}
    lost = _lost_cells(name, values, sizes)
    chances = groups.expected(name, chance, len(values), tuple(sizes)) if chance is not None and row.yes_or_no else {}
    noises = _noises(row, use, name, values, results)
    return {
        key: Cell(value, lost.get(key), (chances or {}).get(key), noises.get(key)) for key, value in results.items()
    }


def _noises(
    row: Metric, use: MetricUse, name: str, values: Sequence[SampleValue | None], keys: Iterable[str]
) -> dict[str, tuple[Noise, Noise]]:
    """How each reduced value varies from draw to draw, lost samples at their worst and at their best."""
    if not row.is_mean_share(use) or None in values:
        return {}
    worst = fill(values, "low")
    best = fill(values, "high") if any(isinstance(value, LostValue) for value in values) else worst
    return {key: (noise(name, key, worst), noise(name, key, best)) for key in keys}


def _is_of_runs(
    row: Metric, use: MetricUse, known: Sequence[SampleValue | None], values: Sequence[SampleValue | None]
) -> bool:
    """Whether every run has a figure of its own, because its values are no numbers."""
    if any(value is not None for value in known):
        return not all(is_number(value) for value in known if value is not None)
    lost = any(isinstance(value, LostValue) and isinstance(value.low, tuple) for value in values)
    return lost or aggregation(row.aggregation_of(use)).limits is not None


def _lost_cells(name: str, values: Sequence[SampleValue | None], sizes: Sequence[int]) -> dict[str, LostValue]:
    """The reduced values that depend on lost samples."""
    lost = sum(isinstance(value, LostValue) for value in values)
    if not lost:
        return {}
    ends = reduction_ends(name, [value for value in values if value is not None], sizes)
    return {
        key: LostValue(low, high, samples=lost, alone=lost == len(values))
        for key, (low, high) in ends.items()
        if low != high
    }


def _figure_name(name: str, title: str, samples: int, use: MetricUse, *, headline: bool) -> str:
    """`accuracy (5 runs average)`, `avg@5`, and `avg@5(exact_match)` for all metrics but the first."""
    if name:
        return name if headline and not use.reduction else f"{name}({title})"
    averaged = samples > 1 and use.reduction in {None, "runs"}
    return f"{title} ({samples} runs average)" if averaged else title
