"""One figure of the summary while its values are collected, and the names that figures have."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from math import isnan
from numbers import Real

from model_accuracy_eval.records import Interval, MetricUse, Pipeline
from model_accuracy_eval.scoring.aggregations import Aggregation, aggregation
from model_accuracy_eval.scoring.loglikelihood_methods import UNAVAILABLE
from model_accuracy_eval.scoring.metrics import Metric, SampleValue, metric
from model_accuracy_eval.scoring.reductions import reduction
from model_accuracy_eval.scoring.stats import interval


@dataclass(slots=True)
class Column:
    """For every problem a value, or the values of all runs; None where nothing is known."""

    metric: Metric
    use: MetricUse
    samples: int
    values: list[SampleValue | None] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    """The part of the dataset that each problem belongs to."""
    unavailable: bool = False
    """Whether the service cannot provide this metric: then lost samples give no figure either."""

    @property
    def is_mean(self) -> bool:
        return _aggregation_name(self.metric, self.use) == "mean"

    @property
    def scale(self) -> float:
        return 100.0 if self.metric.share else 1.0

    @property
    def higher_is_better(self) -> bool:
        configured = self.use.higher_is_better
        return self.metric.higher_is_better if configured is None else configured

    def of_parts(self, names: Container[str]) -> "Column":
        """The same column for these parts alone."""
        values = [value for value, part in zip(self.values, self.parts, strict=True) if part in names]
        return Column(self.metric, self.use, self.samples, values, unavailable=self.unavailable)

    def figure(self) -> float | None:
        """The mean over the runs, each of them aggregated by itself."""
        return self._scaled(self._aggregation().over_runs(self._runs()))

    def stderr(self) -> float | None:
        return self._scaled(self._aggregation().stderr(self._runs()))

    def interval(self) -> Interval | None:
        """Wilson's interval; only means of shares have one."""
        return interval(self._known(), self.samples) if self.metric.share and self.is_mean else None

    def _aggregation(self) -> Aggregation:
        return aggregation(_aggregation_name(self.metric, self.use))

    def _known(self) -> list[SampleValue]:
        return [] if self.unavailable else [value for value in self.values if value is not None]

    def _runs(self) -> list[tuple[SampleValue | None, ...]]:
        return [value if isinstance(value, tuple) else (value,) for value in self._known()]

    def _scaled(self, value: float | None) -> float | None:
        return None if value is None else self.scale * value


def _aggregation_name(metric: Metric, use: MetricUse) -> str:
    return use.aggregation or metric.aggregation


def reduced(
    pipeline: Pipeline, use: MetricUse, samples: Sequence[SampleValue | None], k: Sequence[int], *, headline: bool
) -> dict[str, SampleValue | None]:
    """The values of one metric for one problem, under the names that the summary gives them."""
    row = metric(use.name)
    if any(isinstance(value, dict) for value in samples):
        parts = dict.fromkeys(part for value in samples if value for part in value)
        series = {part: [None if value is None else value.get(part) for value in samples] for part in parts}
    elif row.parts:  # nothing is known of this problem, so nothing of any part
        series = {part: list(samples) for part in row.parts}
    else:
        series = {use.label or use.name: list(samples)}
    figures: dict[str, SampleValue | None] = {}
    for part, values in series.items():
        title = part if pipeline.name == "none" else f"{part},{pipeline.name}"
        for name, value in _reduce(row, use, values, k).items():
            figures[_figure_name(name, title, len(values), use, headline=headline)] = value
    return figures


def _reduce(
    row: Metric, use: MetricUse, values: Sequence[SampleValue | None], k: Sequence[int]
) -> dict[str, SampleValue | None]:
    if UNAVAILABLE in values:  # the names are the same as for any value
        return dict.fromkeys(_reduce(row, use, [0.0] * len(values), k))
    values = [None if isinstance(value, Real) and isnan(value) else value for value in values]
    if row.share and _aggregation_name(row, use) == "mean":
        values = [0.0 if value is None else value for value in values]
    known = [value for value in values if value is not None]
    if not known:
        return {"": None}
    if not all(isinstance(value, Real) for value in known):
        return {"": tuple(values[:1] if use.reduction == "take_first" else values)}
    name = use.reduction or ("runs" if row.yes_or_no else "mean")
    sizes = use.k or [size for size in k if size <= len(known)] or [len(known)]
    return dict(reduction(name)([float(value) for value in known], sizes))


def _figure_name(name: str, title: str, samples: int, use: MetricUse, *, headline: bool) -> str:
    """`accuracy (5 runs average)`, `avg@5`, and `avg@5(exact_match)` for all metrics but the first."""
    if name:
        return name if headline and not use.reduction else f"{name}({title})"
    averaged = samples > 1 and use.reduction in {None, "runs"}
    return f"{title} ({samples} runs average)" if averaged else title
