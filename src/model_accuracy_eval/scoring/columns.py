"""One figure of the summary in the making, and what it will be called."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from math import isnan
from numbers import Real

from model_accuracy_eval.records import Interval, Measure, Pipeline
from model_accuracy_eval.scoring.aggregations import aggregation
from model_accuracy_eval.scoring.metrics import Metric, Payload, metric
from model_accuracy_eval.scoring.reductions import reduction
from model_accuracy_eval.scoring.rungs import UNTOLD
from model_accuracy_eval.scoring.stats import interval


@dataclass(slots=True)
class Column:
    """A value, or the values of all runs, for every problem; None where nothing is known."""

    metric: Metric
    measure: Measure
    samples: int
    values: list[Payload | None] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    """Which part of the dataset each problem belongs to."""
    untold: bool = False
    """Whether the service cannot tell what this is about: then lost samples are no figure either."""

    @property
    def is_mean(self) -> bool:
        return _aggregation(self.metric, self.measure) == "mean"

    @property
    def scale(self) -> float:
        return 100.0 if self.metric.share else 1.0

    @property
    def higher_is_better(self) -> bool:
        told = self.measure.higher_is_better
        return self.metric.higher_is_better if told is None else told

    def of_parts(self, names: Container[str]) -> "Column":
        """The same of those parts alone."""
        chosen = [value for value, part in zip(self.values, self.parts, strict=True) if part in names]
        return Column(self.metric, self.measure, self.samples, chosen, untold=self.untold)

    def figure(self) -> float | None:
        """Of metrics of the whole dataset the mean over the runs, each aggregated by itself."""
        return self._scaled(aggregation(_aggregation(self.metric, self.measure)).over_runs(self._runs()))

    def stderr(self) -> float | None:
        return self._scaled(aggregation(_aggregation(self.metric, self.measure)).stderr(self._runs()))

    def interval(self) -> Interval | None:
        """Of shares: Wilson's, which other figures do not have."""
        known = [] if self.untold else [value for value in self.values if value is not None]
        return interval(known, self.samples) if self.metric.share and self.is_mean else None

    def _runs(self) -> list[tuple[Payload | None, ...]]:
        known = [] if self.untold else [value for value in self.values if value is not None]
        return [value if isinstance(value, tuple) else (value,) for value in known]

    def _scaled(self, value: float | None) -> float | None:
        return None if value is None else self.scale * value


def _aggregation(metric: Metric, measure: Measure) -> str:
    return measure.aggregation or metric.aggregation


def reduced(
    pipeline: Pipeline, measure: Measure, payloads: Sequence[Payload | None], k: Sequence[int], *, headline: bool
) -> dict[str, Payload | None]:
    """The values of one metric for one problem, under the names that the summary has for them."""
    row = metric(measure.name)
    title = measure.label or measure.name
    if any(isinstance(payload, dict) for payload in payloads):
        parts = dict.fromkeys(part for payload in payloads if payload for part in payload)
        series = {part: [None if payload is None else payload.get(part) for payload in payloads] for part in parts}
    elif row.parts:  # nothing is known of this problem, and that is so of every part
        series = {part: list(payloads) for part in row.parts}
    else:
        series = {title: list(payloads)}
    told: dict[str, Payload | None] = {}
    for part, values in series.items():
        whole = part if pipeline.name == "none" else f"{part},{pipeline.name}"
        for name, value in _one_value(row, measure, values, k).items():
            told[_called(name, whole, len(values), measure, headline=headline)] = value
    return told


def _one_value(
    row: Metric, measure: Measure, values: Sequence[Payload | None], k: Sequence[int]
) -> dict[str, Payload | None]:
    if UNTOLD in values:  # the names are those that any value would have
        return dict.fromkeys(_one_value(row, measure, [0.0] * len(values), k))
    values = [None if isinstance(value, Real) and isnan(value) else value for value in values]
    if row.share and _aggregation(row, measure) == "mean":
        values = [0.0 if value is None else value for value in values]
    known = [value for value in values if value is not None]
    if not known:
        return {"": None}
    if not all(isinstance(value, Real) for value in known):
        return {"": tuple(values[:1] if measure.reduction == "take_first" else values)}
    name = measure.reduction or ("runs" if row.yes_or_no else "mean")
    sizes = measure.k or [size for size in k if size <= len(known)] or [len(known)]
    return dict(reduction(name)([float(value) for value in known], sizes))


def _called(name: str, whole: str, samples: int, measure: Measure, *, headline: bool) -> str:
    """`accuracy (5 runs average)`, `avg@5`, and for all metrics but the first `avg@5(exact_match)`."""
    if name:
        return name if headline and not measure.reduction else f"{name}({whole})"
    averaged = samples > 1 and measure.reduction in {None, "runs"}
    return f"{whole} ({samples} runs average)" if averaged else whole
