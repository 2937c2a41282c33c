"""Judged problems → tallies and rows: score, reduce over samples, aggregate over problems.

One set of replies feeds every pipeline. Texts are dropped as soon as their problem is judged; only values stay.
"""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import Measure, Pipeline, Problem, Row, Tally, TaskSpec
from model_accuracy_eval.scoring import filters, groups
from model_accuracy_eval.scoring.asks import Ask, Findings, nothing_found
from model_accuracy_eval.scoring.columns import Column, reduced
from model_accuracy_eval.scoring.judging import Marks, Samples, asks, judge
from model_accuracy_eval.scoring.metrics import Payload, metric
from model_accuracy_eval.scoring.rungs import UNTOLD
from model_accuracy_eval.scoring.scorers import pipelines

NOBODY = Problem(id=-1, messages=(), references=())
"""For finding out how many answers a pipeline leaves."""


class Scorecard:
    """The figures of one dataset, problem by problem."""

    def __init__(
        self,
        task: TaskSpec,
        n: int,
        k: Sequence[int],
        *,
        score_reasoning: bool = False,
        findings: Findings = nothing_found,
    ) -> None:
        self._task = task
        self._n = n
        self._k = k
        self._score_reasoning = score_reasoning
        self._findings = findings
        self._pipelines: dict[tuple[int, ...], tuple[Pipeline, ...]] = {}
        self._columns: dict[str, Column] = {}

    def asks(self, problem: Problem, samples: Samples) -> Iterator[Ask]:
        """What has to be found out before these samples can be judged."""
        for pipeline in self._of(problem):
            yield from asks(problem, samples, pipeline, score_reasoning=self._score_reasoning)

    def take(self, problem: Problem, samples: Samples) -> Tally:
        """Judges one problem; its samples may be forgotten afterwards."""
        figures: dict[str, float | None] = {}
        own = self._of(problem)
        for place, pipeline in enumerate(own):
            marks = judge(problem, samples, pipeline, score_reasoning=self._score_reasoning, findings=self._findings)
            if place == 0:
                first = marks
            for measure, payloads in zip(pipeline.metrics, marks.payloads, strict=True):
                figures |= self._note(problem, pipeline, measure, payloads)
        return _tally(problem, first, own[0], figures)

    def _of(self, problem: Problem) -> tuple[Pipeline, ...]:
        """A problem is judged as the part of the task that it comes from judges it."""
        if problem.part not in self._pipelines:
            self._pipelines[problem.part] = pipelines(self._task.of(problem))
        return self._pipelines[problem.part]

    def _note(
        self, problem: Problem, pipeline: Pipeline, measure: Measure, payloads: Sequence[Payload | None]
    ) -> dict[str, float | None]:
        headline = pipeline is self._of(problem)[0] and measure is pipeline.metrics[0]
        figures: dict[str, float | None] = {}
        for name, value in reduced(pipeline, measure, payloads, self._k, headline=headline).items():
            column = self._columns.setdefault(name, Column(metric(measure.name), measure, len(payloads)))
            column.values.append(value)
            column.untold |= UNTOLD in payloads
            column.parts.append(groups.part(self._task, problem))
            figures[name] = column.scale * value if column.is_mean and isinstance(value, float) else None
        return figures

    def rows(self, version: str, mode: str = "gen") -> tuple[Row, ...]:
        """The dataset's lines of the summary, each with its interval and its standard error."""
        if not self._columns:  # of a dataset of which nothing was judged, the figures are unknown, not absent
            return tuple(
                Row(dataset=self._task.name, version=version, metric=name, mode=mode, value=None)
                for name in names(self._task, self._n, self._k)
            )
        rows = [self._row(name, column, version, mode) for name, column in self._columns.items()]
        first = next(iter(self._columns.values()))
        rows += groups.centred(self._task, rows[0])
        areas, parts = (
            {name: self._row(rows[0].metric, first.of_parts(own), version, mode) for name, own in several.items()}
            for several in (groups.areas(self._task, first.parts), {part: {part} for part in sorted(set(first.parts))})
        )
        return (*rows, *groups.rows_of_parts(self._task, rows[0], parts, areas))

    def _row(self, name: str, column: Column, version: str, mode: str) -> Row:
        return Row(
            dataset=self._task.name,
            version=version,
            metric=name,
            mode=mode,
            value=column.figure(),
            interval=column.interval(),
            stderr=column.stderr(),
            higher_is_better=column.higher_is_better,
            share=column.metric.share,
        )


def names(task: TaskSpec, n: int, k: Sequence[int]) -> list[str]:
    """What the figures of a task will be called, known before anything is asked; those of its parts are not."""
    told = list(dict.fromkeys(name for one in task.parts or (task,) for name in _own_names(one, n, k)))
    return [*told, *groups.names(task, told[0])]


def _own_names(task: TaskSpec, n: int, k: Sequence[int]) -> list[str]:
    if task.parts:
        return [name for part in task.parts for name in _own_names(part, n, k)]
    told: list[str] = []
    for place, pipeline in enumerate(pipelines(task)):
        answers = len(filters.run(pipeline.filters, [None] * n, NOBODY))
        for number, measure in enumerate(pipeline.metrics):
            parts = metric(measure.name).parts
            nothing: Payload = dict.fromkeys(parts, 0.0) if parts else 0.0
            told += reduced(pipeline, measure, [nothing] * answers, k, headline=place == number == 0)
    return told


def _tally(problem: Problem, marks: Marks, pipeline: Pipeline, figures: dict[str, float | None]) -> Tally:
    """One problem after its n samples. Strict: a sample without a value counts as 0, and stays in n."""
    values = tuple(verdict.value or 0.0 for verdict in marks.verdicts)
    return Tally(
        problem=problem.id,
        n=len(values),
        c=sum(value >= 1.0 for value in values) if metric(pipeline.metrics[0].name).yes_or_no else None,
        values=values,
        answers=tuple(verdict.answer for verdict in marks.verdicts),
        why=tuple(verdict.why for verdict in marks.verdicts),
        cut=sum(verdict.cut for verdict in marks.verdicts),
        references=problem.right,
        category=problem.category,
        figures=figures,
    )
