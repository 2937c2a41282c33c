"""Which filters and metrics a task has: its own, else its scorer's, else those that suit what it asks.

A scorer is filters and metrics under one name. A pipeline that names metrics of its own replaces, never merges.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Kind, Measure, Pipeline, Step, TaskSpec
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.metrics.asked import ask_for_grade, ask_judge
from model_accuracy_eval.scoring.metrics.own import HUGGING_FACE

BY_KIND: dict[Kind, tuple[Measure, ...]] = {
    "generate": (Measure(name="exact_match"),),
    "choice": (Measure(name="acc"), Measure(name="acc_norm")),
    "schema": (Measure(name="acc"),),
    "target": (Measure(name="perplexity"), Measure(name="acc")),
    "rolling": (Measure(name="word_perplexity"), Measure(name="byte_perplexity"), Measure(name="bits_per_byte")),
}

WEIGHED = {"exact_match": "exact_match_mc"}
"""Metrics of texts whose name means another one where options are weighed."""

_PLAIN = (Measure(name="exact_match", args={"ignore_case": True, "ignore_punctuation": True}),)


def _plain(*filters: Step) -> Pipeline:
    return Pipeline(filters=filters, metrics=_PLAIN)


def _regex(*, regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0) -> Pipeline:
    return _plain(Step(name="regex", args={"regex_pattern": regex_pattern, "group_select": group_select}))


def _asking(metric: str) -> Callable[..., Pipeline]:
    """What is asked about is the whole reply, unless the task's pipeline has filters of its own."""

    def scorer(**args: Any) -> Pipeline:
        return Pipeline(filters=(Step(name="strip_thoughts"),), metrics=(Measure(name=metric, args=args),))

    return scorer


SCORERS: dict[str, Callable[..., Pipeline]] = {
    "generation": Pipeline,
    "loglikelihood": Pipeline,
    "choice_match": lambda: _plain(Step(name="choice_letter")),
    "first_token": lambda: _plain(Step(name="first_token")),
    "regex_extraction": _regex,
    "judge": _asking("judge"),
    "judge_score": _asking("judge_score"),
    "code": _asking("code"),
}
SCORERS |= {"gen": SCORERS["generation"], "ll": SCORERS["loglikelihood"], "regex": SCORERS["regex_extraction"]}


def pipelines(task: TaskSpec) -> tuple[Pipeline, ...]:
    """Every pipeline of the task with its filters and metrics filled in; of one in parts, those of all its parts."""
    if task.parts:
        told = [pipeline for part in task.parts for pipeline in pipelines(part)]
        return tuple(one for place, one in enumerate(told) if one not in told[:place])
    default = _of_scorer(task.scorer)
    return tuple(
        Pipeline(
            name=own.name,
            filters=own.filters or default.filters,
            metrics=tuple(_meant(measure, task.kind) for measure in own.metrics or default.metrics)
            or BY_KIND[task.kind],
        )
        for own in task.pipelines or (default,)
    )


def _meant(measure: Measure, kind: Kind) -> Measure:
    name = WEIGHED.get(measure.name)
    if kind == "generate" or name is None:
        return measure
    return msgspec.structs.replace(measure, name=name, label=measure.label or measure.name)


def _of_scorer(scorer: Step | None) -> Pipeline:
    if scorer is None:
        return Pipeline()
    if scorer.name not in SCORERS:
        raise UnknownName("scorer", scorer.name, SCORERS)
    make = SCORERS[scorer.name]
    if make is not Pipeline:
        paths.check_arguments("scorer", scorer.name, make, scorer.args)
    return make(**scorer.args)


def measures(task: TaskSpec) -> Sequence[Measure]:
    """Every metric of every pipeline."""
    return [measure for pipeline in pipelines(task) for measure in pipeline.metrics]


def own_python(task: TaskSpec) -> list[str]:
    """Functions of the task's author that judging would run in this process, by where they stand."""
    named = [
        name
        for pipeline in pipelines(task)
        for name in (
            *(str(step.args.get("filter_fn", step.name)) for step in pipeline.filters),
            *(name for measure in pipeline.metrics for name in (measure.name, measure.reduction, measure.aggregation)),
        )
        if name
    ]
    return [name for name in named if paths.is_path(name) and not name.startswith(HUGGING_FACE)]


def asks_judge(task: TaskSpec) -> bool:
    """Whether another model has to be asked about the answers."""
    return any(metric(measure.name).asks in {ask_judge, ask_for_grade} for measure in measures(task))
