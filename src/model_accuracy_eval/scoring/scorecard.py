"""Judged problems → tallies and rows: score, reduce over samples, aggregate over problems.

One set of replies feeds every pipeline. Texts are dropped as soon as their problem is judged; only values stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Measure, Pipeline, Problem, Row, Tally, TaskSpec
from model_accuracy_eval.scoring import filters
from model_accuracy_eval.scoring.aggregations import aggregation
from model_accuracy_eval.scoring.judging import Marks, Samples, judge
from model_accuracy_eval.scoring.metrics import METRICS, Metric, Payload
from model_accuracy_eval.scoring.reductions import REDUCTIONS
from model_accuracy_eval.scoring.scorers import pipelines
from model_accuracy_eval.scoring.stats import interval

NOBODY = Problem(id=-1, messages=(), references=())
"""For finding out how many answers a pipeline leaves."""


@dataclass(slots=True)
class _Column:
    """One figure of the summary in the making: a value, or the values of all runs, for every problem."""

    metric: Metric
    measure: Measure
    samples: int
    values: list[Payload] = field(default_factory=list)

    def figure(self) -> float | None:
        """Of corpus metrics the mean over the runs, each aggregated by itself."""
        aggregate = aggregation(self.measure.aggregation or self.metric.aggregation)
        if self.values and isinstance(self.values[0], tuple):
            runs = [aggregate(run) for run in zip(*self.values, strict=True)]
            known = [run for run in runs if run is not None]
            return sum(known) / len(known) if known else None
        return aggregate(self.values)


class Scorecard:
    """The figures of one dataset, problem by problem."""

    def __init__(self, task: TaskSpec, n: int, k: Sequence[int], *, score_reasoning: bool = False) -> None:
        self._task = task
        self._n = n
        self._k = k
        self._score_reasoning = score_reasoning
        self._pipelines = pipelines(task)
        self._columns: dict[str, _Column] = {}

    def take(self, problem: Problem, samples: Samples) -> Tally:
        """Judges one problem; its samples may be forgotten afterwards."""
        figures: dict[str, float | None] = {}
        for place, pipeline in enumerate(self._pipelines):
            marks = judge(problem, samples, pipeline, score_reasoning=self._score_reasoning)
            if place == 0:
                first = marks
            for measure, payloads in zip(pipeline.metrics, marks.payloads, strict=True):
                figures |= self._note(pipeline, measure, payloads)
        return _tally(problem, first, self._pipelines[0], figures)

    def _note(
        self, pipeline: Pipeline, measure: Measure, payloads: Sequence[Payload | None]
    ) -> dict[str, float | None]:
        metric = METRICS[measure.name]
        headline = pipeline is self._pipelines[0] and measure is pipeline.metrics[0]
        figures: dict[str, float | None] = {}
        for name, value in _reduced(pipeline, measure, payloads, self._k, headline=headline).items():
            column = self._columns.setdefault(name, _Column(metric, measure, len(payloads)))
            if value is not None:
                column.values.append(value)
            mean = (measure.aggregation or metric.aggregation) == "mean"
            figures[name] = value * (100 if metric.share else 1) if mean and isinstance(value, float) else None
        return figures

    def rows(self, version: str, mode: str = "gen") -> tuple[Row, ...]:
        """The dataset's lines of the summary, each with its interval."""
        if not self._columns:  # of a dataset of which nothing was judged, the figures are unknown, not absent
            return tuple(
                Row(dataset=self._task.name, version=version, metric=name, mode=mode, value=None)
                for name in names(self._task, self._n, self._k)
            )
        return tuple(self._row(name, column, version, mode) for name, column in self._columns.items())

    def _row(self, name: str, column: _Column, version: str, mode: str) -> Row:
        metric, measure = column.metric, column.measure
        share = metric.share and (measure.aggregation or metric.aggregation) == "mean"
        figure, better = column.figure(), measure.higher_is_better
        return Row(
            dataset=self._task.name,
            version=version,
            metric=name,
            mode=mode,
            value=figure if figure is None or not metric.share else 100 * figure,
            interval=interval(column.values, column.samples) if share else None,
            higher_is_better=metric.higher_is_better if better is None else better,
        )


def names(task: TaskSpec, n: int, k: Sequence[int]) -> list[str]:
    """What the figures of a task will be called, known before anything is asked."""
    told: list[str] = []
    for place, pipeline in enumerate(pipelines(task)):
        answers = len(filters.run(pipeline.filters, [None] * n, NOBODY))
        for number, measure in enumerate(pipeline.metrics):
            parts = METRICS[measure.name].parts
            nothing: Payload = dict.fromkeys(parts, 0.0) if parts else 0.0
            told += _reduced(pipeline, measure, [nothing] * answers, k, headline=place == number == 0)
    return told


def _tally(problem: Problem, marks: Marks, pipeline: Pipeline, figures: dict[str, float | None]) -> Tally:
    """One problem after its n samples. Strict: a sample without a value counts as 0, and stays in n."""
    values = tuple(verdict.value or 0.0 for verdict in marks.verdicts)
    return Tally(
        problem=problem.id,
        n=len(values),
        c=sum(value >= 1.0 for value in values) if METRICS[pipeline.metrics[0].name].yes_or_no else None,
        values=values,
        answers=tuple(verdict.answer for verdict in marks.verdicts),
        why=tuple(verdict.why for verdict in marks.verdicts),
        cut=sum(verdict.cut for verdict in marks.verdicts),
        references=problem.references,
        category=problem.category,
        figures=figures,
    )


def _reduced(
    pipeline: Pipeline, measure: Measure, payloads: Sequence[Payload | None], k: Sequence[int], *, headline: bool
) -> dict[str, Payload | None]:
    """The values of one metric for one problem, under the names that the summary has for them."""
    metric = METRICS[measure.name]
    title = measure.label or measure.name
    if any(isinstance(payload, dict) for payload in payloads):
        parts = dict.fromkeys(part for payload in payloads if payload for part in payload)
        series = {part: [None if payload is None else payload.get(part) for payload in payloads] for part in parts}
    else:
        series = {title: list(payloads)}
    told: dict[str, Payload | None] = {}
    for part, values in series.items():
        whole = part if pipeline.name == "none" else f"{part},{pipeline.name}"
        for name, value in _one_value(metric, measure, values, k).items():
            told[_called(name, whole, len(values), measure, headline=headline)] = value
    return told


def _one_value(
    metric: Metric, measure: Measure, values: Sequence[Payload | None], k: Sequence[int]
) -> dict[str, Payload | None]:
    if metric.share:
        values = [0.0 if value is None else value for value in values]
    known = [value for value in values if value is not None]
    if not known:
        return {"": None}
    if not all(isinstance(value, int | float) for value in known):
        return {"": tuple(known[:1] if measure.reduction == "take_first" else known)}
    name = measure.reduction or ("runs" if metric.yes_or_no else "mean")
    if name not in REDUCTIONS:
        raise BadValue(f"There is no reduction '{name}'; there are: {', '.join(REDUCTIONS)}.")
    sizes = measure.k or [size for size in k if size <= len(known)] or [len(known)]
    return dict(REDUCTIONS[name]([float(value) for value in known], sizes))


def _called(name: str, whole: str, samples: int, measure: Measure, *, headline: bool) -> str:
    """`accuracy (5 runs average)`, `avg@5`, and for all metrics but the first `avg@5(exact_match)`."""
    if name:
        return name if headline and not measure.reduction else f"{name}({whole})"
    averaged = samples > 1 and measure.reduction in {None, "runs"}
    return f"{whole} ({samples} runs average)" if averaged else whole
