"""One figure of the summary while its values are collected, and the names that figures have."""

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import NamedTuple

from model_accuracy_eval.records import Certainty, Draw, FigureBounds, Interval, MetricUse, Pipeline
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.aggregations import Aggregation, Bootstrapped, Statistics, aggregation
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
    """One cell for every problem."""

    metric: Metric
    use: MetricUse
    samples: int
    cells: list[Cell] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    """The part of the dataset that each problem belongs to."""
    unavailable: bool = False
    """Whether the service cannot provide this metric: then lost samples give no figure either."""
    repeated: int = 0
    """As many samples of every problem are the same, in all problems; 0: they differ somewhere, or there is one."""
    draw: Draw | None = None
    """Of which problems these are a sample, or the first ones."""

    @property
    def of(self) -> int | None:
        """Of how many problems these are a sample."""
        return self.draw.population if self.draw else None

    @property
    def is_mean(self) -> bool:
        return self.aggregation_name == "mean"

    @property
    def is_drawn(self) -> bool:
        """Whether the same service would give other values if it were asked again."""
        return self.metric.reads != "likelihoods"

    @property
    def scale(self) -> float:
        return 100.0 if self.metric.share else 1.0

    def of_parts(self, names: Container[str]) -> "Column":
        """The same column for these parts alone."""
        members = [(cell, part) for cell, part in zip(self.cells, self.parts, strict=True) if part in names]
        return replace(
            self,
            cells=[cell for cell, _ in members],
            parts=[part for _, part in members],
            draw=self.draw and self.draw.of_parts(names),
        )

    def of_last_problem(self) -> tuple[float | None, FigureBounds | None]:
        """The value of the last problem alone and its limits, where a problem has one by itself."""
        value, lost = self.cells[-1].value, self.cells[-1].lost
        if not self.is_mean or not isinstance(value, float):
            return None, None
        if lost is None:
            return self._scaled(value), None
        low, high = self._scaled(finite(lost.low)), self._scaled(finite(lost.high))
        return self._scaled(value), FigureBounds(low=low, high=high, samples=lost.samples)

    def statistics_of_last_problem(self) -> Statistics | None:
        """What it adds to a figure that is no mean; None where a run lacks it, or nothing adds up."""
        value, aggregation = self.cells[-1].value, self._aggregation()
        if value is None or not isinstance(aggregation, Bootstrapped):
            return None
        return aggregation.statistics(_runs([value])[0])

    def figure(self) -> float | None:
        """The mean over the runs, each of them aggregated by itself.

        F1, for example, may be lower without a lost sample than with any value of it; then the nearest possible
        figure counts.
        """
        figure = self._scaled(self._aggregation().over_runs(_runs(self._known())))
        bounds = self.bounds()
        if figure is None or bounds is None:
            return figure
        least = figure if bounds.low is None else max(figure, bounds.low)
        return least if bounds.high is None else min(least, bounds.high)

    @property
    def _is_of_others(self) -> bool:
        """Whether these problems say something of others: the first ones of a dataset do not."""
        return self.draw is None or self.draw.is_sample

    def stderr(self) -> float | None:
        if not self._is_of_others:
            return None
        clusters = [cell.cluster for cell in self.cells if cell.value is not None]
        return self._scaled(self._aggregation().stderr(_runs(self._known()), clusters))

    def interval(self) -> Interval | None:
        """Wilson's interval; only means of shares have one. With lost samples, from that of the worst case to that of
        the best. That of a sample is about all problems that it was drawn from."""
        if not self._is_mean_of_shares() or not self._is_of_others:
            return None
        sample = self._sample()
        worst, best = (
            sample_interval(values, sample) if sample else interval(values, self._draws, self._clusters())
            for values in self._worst_and_best()
        )
        return Interval(low=worst.low, high=best.high) if worst and best else None

    def _is_mean_of_shares(self) -> bool:
        return self.metric.is_mean_share(self.use) and bool(self._known())

    def _worst_and_best(self) -> tuple[list[float], list[float]]:
        known = [ends for cell in self.cells if (ends := cell.ends) is not None]
        return [low for low, _ in known], [high for _, high in known]

    def _clusters(self) -> list[str]:
        """Of the problems with ends; none if they share nothing."""
        found = [cell.cluster for cell in self.cells if cell.ends is not None]
        return found if any(found) else []

    def _sample(self) -> SampleOf | None:
        """None: these are all problems there are, or the first ones."""
        if self.draw is None or self.of is None or len(self.cells) >= self.of:
            return None
        known = [(part, cell.together) for part, cell in zip(self.parts, self.cells, strict=True) if cell.ends]
        units = groups.connected([names for _, names in known]) if self.draw.whole_groups else []
        unit_of = {place: str(number) for number, unit in enumerate(units) for place in unit}
        return SampleOf(len(self.cells) / self.of, [part for part, _ in known], [unit_of[at] for at in sorted(unit_of)])

    @property
    def _draws(self) -> int:
        """Samples of a problem that count: those that are all the same are one."""
        return 1 if self.repeated else self.samples

    def certainty(self, what: str = "clusters") -> Certainty | None:
        """What limits of the figure follow from; only means of shares have it. `what`: problems share."""
        if not self._is_mean_of_shares():
            return None
        noises = [_UNKNOWN if self.repeated else cell.noise or _UNKNOWN for cell in self.cells if cell.ends is not None]
        worst, best = (
            case(
                values,
                [both[end] for both in noises],
                self._draws,
                self._clusters(),
                sample=self._sample(),
                is_drawn=self.is_drawn,
            )
            for end, values in enumerate(self._worst_and_best())
        )
        return Certainty(
            problems=len(noises),
            samples=self._draws,
            draws=sum(both[0].draws for both in noises) if self.is_drawn else 0,
            worst=worst,
            best=best,
            sharing=ClusterSums([0.0] * len(noises), self._clusters()).sharing(what),
            repeated=self.repeated if self.is_drawn else 0,
        )

    def bounds(self) -> FigureBounds | None:
        """The limits of the figure, if samples are lost and not all of them."""
        samples = sum(value.samples for cell in self.cells for value in cell.runs if isinstance(value, LostValue))
        if not samples or not self._known():
            return None
        possible = [cell.value if cell.lost is None else cell.lost for cell in self.cells]
        low, high = self._aggregation().ends(_runs([value for value in possible if value is not None]))
        return FigureBounds(low=self._scaled(low), high=self._scaled(high), samples=samples)

    def chance(self) -> float | None:
        """The expected figure of guessing."""
        chances = [cell.chance for cell in self.cells]
        return self._scaled(groups.weighted(chances, [1] * len(chances))) if self.is_mean else None

    @property
    def aggregation_name(self) -> str:
        return self.metric.aggregation_of(self.use)

    def _aggregation(self) -> Aggregation:
        return aggregation(self.aggregation_name)

    def _known(self) -> list[SampleValue]:
        """Nothing is known if no problem has a single sample with a verdict."""
        silent = (
            cell.runs and all(isinstance(run, LostValue) and run.alone for run in cell.runs) for cell in self.cells
        )
        if self.unavailable or all(silent):
            return []
        return [cell.value for cell in self.cells if cell.value is not None]

    def _scaled(self, value: float | None) -> float | None:
        return None if value is None else self.scale * value


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
