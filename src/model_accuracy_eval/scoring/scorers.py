"""Which filters and metrics a task has: its own, else its scorer's, else those that suit what it asks.

A scorer is filters and metrics under one name. A pipeline that names metrics of its own replaces, never merges.
"""

from collections.abc import Callable, Sequence

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Kind, Measure, Pipeline, Step, TaskSpec

BY_KIND: dict[Kind, tuple[Measure, ...]] = {
    "generate": (Measure(name="exact_match"),),
    "choice": (Measure(name="acc"), Measure(name="acc_norm")),
    "schema": (Measure(name="acc"),),
    "target": (Measure(name="perplexity"), Measure(name="acc")),
    "rolling": (Measure(name="word_perplexity"), Measure(name="byte_perplexity"), Measure(name="bits_per_byte")),
}

_PLAIN = (Measure(name="exact_match", args={"ignore_case": True, "ignore_punctuation": True}),)


def _plain(*filters: Step) -> Pipeline:
    return Pipeline(filters=filters, metrics=_PLAIN)


def _regex(*, regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0) -> Pipeline:
    return _plain(Step(name="regex", args={"regex_pattern": regex_pattern, "group_select": group_select}))


SCORERS: dict[str, Callable[..., Pipeline]] = {
    "generation": Pipeline,
    "loglikelihood": Pipeline,
    "choice_match": lambda: _plain(Step(name="choice_letter")),
    "first_token": lambda: _plain(Step(name="first_token")),
    "regex_extraction": _regex,
}
SCORERS |= {"gen": SCORERS["generation"], "ll": SCORERS["loglikelihood"], "regex": SCORERS["regex_extraction"]}


def pipelines(task: TaskSpec) -> tuple[Pipeline, ...]:
    """Every pipeline of the task with its filters and metrics filled in."""
    default = _of_scorer(task.scorer)
    return tuple(
        Pipeline(
            name=own.name,
            filters=own.filters or default.filters,
            metrics=own.metrics or default.metrics or BY_KIND[task.kind],
        )
        for own in task.pipelines or (default,)
    )


def _of_scorer(scorer: Step | None) -> Pipeline:
    if scorer is None:
        return Pipeline()
    if scorer.name not in SCORERS:
        raise UnknownName("scorer", scorer.name, SCORERS)
    return SCORERS[scorer.name](**scorer.args)


def measures(task: TaskSpec) -> Sequence[Measure]:
    """Every metric of every pipeline."""
    return [measure for pipeline in pipelines(task) for measure in pipeline.metrics]
