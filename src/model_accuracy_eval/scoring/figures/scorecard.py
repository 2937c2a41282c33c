"""Judged problems → results and summary rows: score, reduce over samples, aggregate over problems.

One set of replies serves every pipeline. Texts are dropped as soon as their problem is judged; only values stay.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from model_accuracy_eval.records import (
    NO_PROBLEM,
    Draw,
    FigureBounds,
    MetricUse,
    Pipeline,
    Problem,
    ProblemResult,
    Reading,
    SummaryRow,
    TaskSpec,
)
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.scoring.figures import groups, judging
from model_accuracy_eval.scoring.figures.aggregations import Statistics
from model_accuracy_eval.scoring.figures.columns import Column, reduced
from model_accuracy_eval.scoring.figures.groups import chance_of_right
from model_accuracy_eval.scoring.figures.judging import JudgedSamples, Samples, asks, judge
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics.metric_table import (
    UNAVAILABLE,
    ReadingCounter,
    SampleValue,
    metric,
    pipelines,
    reads_otherwise,
)
from model_accuracy_eval.scoring.metrics.metric_type import Ask, AskResults, no_result
from model_accuracy_eval.scoring.verdicts.gate_lines import ANY_PART, Unit


class Scorecard:
    """The figures of one dataset, collected problem by problem."""

    def __init__(
        self,
        task: TaskSpec,
        n: int,
        k: Sequence[int],
        *,
        ask_results: AskResults = no_result,
        draw: Draw | None = None,
    ) -> None:
        self._task = task
        self._n = n
        self._k = k
        self._ask_results = ask_results
        self._draw = draw
        self._pipelines: dict[tuple[int, ...], tuple[Pipeline, ...]] = {}
        self._columns: dict[str, Column] = {}
        self._readings: dict[str, ReadingCounter] = {}

    def asks(self, problem: Problem, samples: Samples) -> Iterator[Ask]:
        """Everything that has to be asked before these samples can be judged."""
        for pipeline in self._pipelines_of(problem):
            yield from asks(problem, samples, pipeline)

    def judge(self, problem: Problem, samples: Samples) -> ProblemResult:
        """Judges one problem; its samples are not needed afterwards."""
        figures: dict[str, float | None] = {}
        bounds: dict[str, FigureBounds] = {}
        statistics: dict[str, Statistics] = {}
        own = self._pipelines_of(problem)
        # Everything is judged before anything is collected: an exception leaves no problem in half of the columns.
        judged_by_pipeline = [judge(problem, samples, pipeline, ask_results=self._ask_results) for pipeline in own]
        first = judged_by_pipeline[0]
        for place, (pipeline, judged) in enumerate(zip(own, judged_by_pipeline, strict=True)):
            names: list[str] = []
            for use, values in zip(pipeline.metrics, judged.values, strict=True):
                columns = self._collect(problem, pipeline, use, values)
                names += columns
                for name, column in columns.items():
                    figures[name], limits, added = column.of_problem(column.cells[-1])
                    bounds |= {name: limits} if limits else {}
                    statistics |= {name: added} if added else {}
            if place and reads_otherwise(own[0], pipeline):
                counter = self._readings.setdefault(pipeline.name, ReadingCounter(pipeline.name, names[0]))
                counter.add(first.verdicts, judged.verdicts, problem)
        result = _problem_result(problem, first, own[0], figures, bounds)
        return replace(result, statistics=statistics) if statistics else result

    def leave_out(self, problem: Problem) -> None:
        """A problem that cannot be judged: the figures do without it, and could be anything that it would have made
        of them."""
        for pipeline in self._pipelines_of(problem):
            judged = judge(problem, [None] * self._n, pipeline)
            for use, values in zip(pipeline.metrics, judged.values, strict=True):
                for column in self._collect(problem, pipeline, use, values).values():
                    column.cells[-1] = column.cells[-1]._replace(value=None)

    def _pipelines_of(self, problem: Problem) -> tuple[Pipeline, ...]:
        """The pipelines of the part of the task that the problem comes from, but for turns that it does not have."""
        if problem.part not in self._pipelines:
            self._pipelines[problem.part] = pipelines(self._task.of(problem))
        return tuple(one for one in self._pipelines[problem.part] if judging.has_turn(problem, one))

    def _together(self, problem: Problem) -> Sequence[Hashable]:
        if self._draw is None or not self._draw.whole_groups:
            return ()
        uses = (use for pipeline in self._pipelines_of(problem) for use in pipeline.metrics)
        return groups.named(groups.groups_of(uses), problem.extras, problem.part)

    def _collect(
        self, problem: Problem, pipeline: Pipeline, use: MetricUse, values: Sequence[SampleValue | None]
    ) -> dict[str, Column]:
        """Adds the values to the columns that they belong to, and returns these."""
        headline = pipeline is self._pipelines_of(problem)[0] and use is pipeline.metrics[0]
        chance = chance_of_right(problem, pipeline, self._n)
        cells = reduced(pipeline, use, values, self._k, headline=headline, chance=chance)
        columns: dict[str, Column] = {}
        for name, cell in cells.items():
            column = self._columns.setdefault(name, Column(self._task, name, use, len(values), self._draw))
            part, together = groups.part(self._task, problem), self._together(problem)
            column.cells.append(cell._replace(part=part, cluster=problem.cluster, together=together))
            column.unavailable |= UNAVAILABLE in values
            columns[name] = column
        return columns

    def rows(self, version: str, mode: str = "gen", *, all_equal: bool = False) -> tuple[SummaryRow, ...]:
        """The dataset's rows of the summary, each with its interval and its standard error. `all_equal`: all samples of
        every problem have the same text, so that they count as one."""
        if not self._columns:  # nothing was judged: the figures are unknown, not absent
            return tuple(
                SummaryRow(dataset=self._task.name, version=version, metric=name, mode=mode, value=None)
                for name in metric_names(self._task, self._n, self._k)
            )
        columns = self._columns.values()
        repeated = self._n if all_equal else 0
        rows = [column.row(version, mode, repeated=repeated) for column in columns]
        # Parts have rows of the first figure, and of those that the task names.
        named = self._task.grouping.figures if self._task.grouping else ()
        of_parts = (
            part
            for row, column in zip(rows, columns, strict=True)
            if row is rows[0] or column.use.label in named
            for part in groups.rows_of_parts(
                self._task,
                row,
                [cell.part for cell in column.cells],
                partial(column.row, version, mode, repeated=repeated),
                drawn_from=self._draw.parts if self._draw else (),
            )
        )
        return (*rows, *groups.centred(self._task, rows[0]), *of_parts)

    def readings(self) -> tuple[Reading, ...]:
        """What the task's other pipelines read in the same replies."""
        return tuple(counter.reading() for counter in self._readings.values())


def metric_names(task: TaskSpec, n: int, k: Sequence[int]) -> list[str]:
    """The names of a task's figures as far as they are known before the data is: those of its parts are not."""
    return [name for name in figure_units(task, n, k) if not name.endswith(ANY_PART)]


def figure_units(task: TaskSpec, n: int, k: Sequence[int]) -> dict[str, Unit]:
    """The same names with their units; the headline is the first."""
    units = _pipeline_units(task, n, k)
    first = next(iter(units))
    return units | {
        name: "number" if name.startswith("centred ") else units[first] for name in groups.names(task, first)
    }


def _pipeline_units(task: TaskSpec, n: int, k: Sequence[int]) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for part in task.parts:
        units |= {name: unit for name, unit in _pipeline_units(part, n, k).items() if name not in units}
    if task.parts:
        return units
    for place, pipeline in enumerate(pipelines(task)):
        answers = len(filters.run(pipeline.filters, [None] * n, NO_PROBLEM))
        for number, use in enumerate(pipeline.metrics):
            row = metric(use.name)
            value: SampleValue = dict.fromkeys(row.parts, 0.0) if row.parts else 0.0
            names = reduced(pipeline, use, [value] * answers, k, headline=place == number == 0)
            unit: Unit = "number" if not row.share else "verdict share" if row.yes_or_no else "share"
            if not row.rises(use):
                unit = "falling share" if row.share else "falling number"
            units |= dict.fromkeys(names, unit)
            if task.grouping is not None and (place == number == 0 or use.label in task.grouping.figures):
                of_parts = names if use.label in task.grouping.figures else list(names)[:1]
                units |= {f"{name}{ANY_PART}": unit for name in of_parts}
    return units


def _problem_result(
    problem: Problem,
    judged: JudgedSamples,
    pipeline: Pipeline,
    figures: dict[str, float | None],
    bounds: dict[str, FigureBounds],
) -> ProblemResult:
    """One problem after its n samples. A sample without a value counts as 0 and stays in n."""
    values = tuple(verdict.value or 0.0 for verdict in judged.verdicts)
    return filled(
        ProblemResult,
        problem,
        problem=problem.id,
        n=len(values),
        c=sum(value >= 1.0 for value in values) if metric(pipeline.metrics[0].name).yes_or_no else None,
        values=values,
        answers=tuple(verdict.answer for verdict in judged.verdicts),
        why=tuple(verdict.why for verdict in judged.verdicts),
        cut=sum(verdict.cut for verdict in judged.verdicts),
        doubtful=tuple(place for place, verdict in enumerate(judged.verdicts) if verdict.doubtful),
        references=problem.right,
        figures=figures,
        bounds=bounds,
    )
