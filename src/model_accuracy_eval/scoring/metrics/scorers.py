"""Which filters and metrics a task has: its own, else its scorer's, else the defaults of its kind.

A scorer is filters and metrics under one name. A pipeline with its own filters or metrics replaces them, never merges.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import MetricUse, Pipeline, Reading, RequestKind, Step, SummaryRow, TaskSpec, Verdict
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.filters.lm_eval_filters import HASHES
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.judge_metrics import ask_for_comparison, ask_for_grade, ask_judge
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.scoring.metrics.user_functions import HUGGING_FACE

DEFAULT_METRICS: dict[RequestKind, tuple[MetricUse, ...]] = {
    "generate": (MetricUse(name="exact_match"),),
    "choice": (MetricUse(name="acc"), MetricUse(name="acc_norm")),
    "schema": (MetricUse(name="acc"),),
    "target": (MetricUse(name="perplexity"), MetricUse(name="acc")),
    "rolling": (
        MetricUse(name="word_perplexity"),
        MetricUse(name="byte_perplexity"),
        MetricUse(name="bits_per_byte"),
        MetricUse(name="perplexity"),
    ),
}

LOGLIKELIHOOD_NAMES = {"exact_match": "exact_match_mc"}
"""Metrics of texts whose name means another metric where options are compared by log-likelihood."""

_PLAIN_MATCH = (MetricUse(name="exact_match", args={"ignore_case": True, "ignore_punctuation": True}),)


def _plain_match(*filters: Step) -> Pipeline:
    return Pipeline(filters=filters, metrics=_PLAIN_MATCH)


def _regex(*, regex_pattern: str = HASHES, group_select: int = 0) -> Pipeline:
    return _plain_match(Step(name="regex", args={"regex_pattern": regex_pattern, "group_select": group_select}))


def _whole_reply(metric: str) -> Callable[..., Pipeline]:
    """A scorer that asks about the whole reply, unless the task's pipeline has its own filters."""

    def scorer(**args: Any) -> Pipeline:
        return Pipeline(filters=(Step(name="strip_thoughts"),), metrics=(MetricUse(name=metric, args=args),))

    return scorer


SCORERS: dict[str, Callable[..., Pipeline]] = {
    "generation": Pipeline,
    "loglikelihood": Pipeline,
    "choice_match": lambda: _plain_match(Step(name="choice_letter")),
    "first_token": lambda: _plain_match(Step(name="first_token")),
    "regex_extraction": _regex,
    "judge": _whole_reply("judge"),
    "judge_score": _whole_reply("judge_score"),
    "code": _whole_reply("code"),
}
CLASSES = {
    "GenScorer": "generation",
    "LLScorer": "loglikelihood",
    "ChoiceMatchScorer": "choice_match",
    "FirstTokenScorer": "first_token",
    "RegexExtractionScorer": "regex_extraction",
}
"""lm-eval's classes of scorers → their names here."""
SCORERS |= {"gen": SCORERS["generation"], "ll": SCORERS["loglikelihood"], "regex": SCORERS["regex_extraction"]}


def pipelines(task: TaskSpec) -> tuple[Pipeline, ...]:
    """All pipelines of the task, and of its parts, with their filters and metrics filled in; each once."""
    if task.parts:
        several = [pipeline for part in task.parts for pipeline in pipelines(part)]
        return tuple(pipeline for place, pipeline in enumerate(several) if pipeline not in several[:place])
    default = _pipeline_of_scorer(task.scorer)
    return tuple(
        Pipeline(
            name=own.name,
            turn=own.turn,
            filters=own.filters or default.filters,
            metrics=tuple(_for_kind(use, task.kind) for use in own.metrics or default.metrics)
            or DEFAULT_METRICS[task.kind],
        )
        for own in task.pipelines or (default,)
    )


def pipelines_of_runs(task: TaskSpec, n: int) -> tuple[Pipeline, ...]:
    """The pipelines for n samples a problem: of one sample, without the metrics that choose among several."""
    found = pipelines(task)
    if n > 1:
        return found
    kept = [tuple(use for use in one.metrics if not metric(use.name).of_several) for one in found]
    return tuple(
        msgspec.structs.replace(one, metrics=uses or one.metrics) for one, uses in zip(found, kept, strict=True)
    )


def _for_kind(use: MetricUse, kind: RequestKind) -> MetricUse:
    name = LOGLIKELIHOOD_NAMES.get(use.name)
    if kind == "generate" or name is None:
        return use
    return msgspec.structs.replace(use, name=name, label=use.label or use.name)


def _pipeline_of_scorer(scorer: Step | None) -> Pipeline:
    if scorer is None:
        return Pipeline()
    if scorer.name in CLASSES:
        raise BadValue(f"The scorer {scorer.name} is called '{CLASSES[scorer.name]}' here.")
    if scorer.name not in SCORERS:
        raise UnknownName("scorer", scorer.name, SCORERS)
    make = SCORERS[scorer.name]
    if make is not Pipeline:
        user_functions.check_arguments("scorer", scorer.name, make, scorer.args)
    return make(**scorer.args)


def metric_uses(task: TaskSpec) -> Sequence[MetricUse]:
    """All metrics of all pipelines."""
    return [use for pipeline in pipelines(task) for use in pipeline.metrics]


def user_function_paths(task: TaskSpec) -> list[str]:
    """Paths of the task author's functions that judging would run."""
    names = [
        name
        for pipeline in pipelines(task)
        for name in (
            *(str(step.args.get("filter_fn", step.name)) for step in pipeline.filters),
            *(name for use in pipeline.metrics for name in (use.name, use.reduction, use.aggregation)),
        )
        if name
    ]
    return [name for name in names if user_functions.is_path(name) and not name.startswith(HUGGING_FACE)]


def needs_judge(task: TaskSpec) -> bool:
    """Whether a judge model has to be asked about the answers."""
    return any(metric(use.name).asks in {ask_judge, ask_for_grade, ask_for_comparison} for use in metric_uses(task))


# What a task's other pipelines read in the same replies, compared with the first one.
#
# A score depends on how answers are read. Where a stricter or a looser reading is as defensible, a task has a pipeline
# for each, as lm-eval's tasks do (`strict-match`, `flexible-extract`), and a report says how often they differ.


_Relation = Literal["equal", "more", "fewer", "different"]


class ReadingCounter(msgspec.Struct):
    """Counts the replies of one dataset that one of its other pipelines reads otherwise."""

    pipeline: str
    metric: str
    answers: int = 0
    relations: Counter[_Relation] = msgspec.field(default_factory=Counter)

    def add(self, first: Sequence[Verdict], other: Sequence[Verdict]) -> None:
        for verdict, second in zip(first, other, strict=True):
            self.answers += verdict.answer is not None
            self.relations[_relation(verdict.answer, second.answer)] += 1

    def reading(self) -> Reading:
        return Reading(
            pipeline=self.pipeline,
            answers=self.answers,
            more=self.relations["more"],
            fewer=self.relations["fewer"],
            different=self.relations["different"],
            metric=self.metric,
        )


def _relation(first: str | None, other: str | None) -> _Relation:
    if first == other:
        return "equal"
    if first is None:
        return "more"
    return "fewer" if other is None else "different"


def reads_otherwise(first: Pipeline, other: Pipeline) -> bool:
    """Whether the filters that read single replies differ; filters that choose among samples read nothing, and other
    turns are other replies."""
    return first.turn == other.turn and _reading_filters(first) != _reading_filters(other)


def _reading_filters(pipeline: Pipeline) -> list[object]:
    return [step for step in pipeline.filters if not filters.choose([step])]


def reading_notes(readings: Sequence[Reading], rows: Sequence[SummaryRow]) -> Iterator[str]:
    """One sentence for each reading that differs, with the figure that it gives."""
    values = {row.metric: row.value for row in rows}
    for reading in readings:
        if reading.more or reading.fewer or reading.different:
            yield (
                f"The first reading finds an answer in {reading.answers:,} replies; '{reading.pipeline}' finds one in "
                f"{reading.more:,} more and {reading.fewer:,} fewer, and a different one in {reading.different:,}: "
                f"{_figure(rows[0].metric, values)}, {_figure(reading.metric, values)}."
            )


def _figure(metric: str, values: Mapping[str, float | None]) -> str:
    value = values.get(metric)
    return f"{metric} is unknown" if value is None else f"{metric} is {value:.2f}"
