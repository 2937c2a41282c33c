"""Tests over the table of tasks: one task of each structure in `make test`, the others in `make test-long`."""

from collections.abc import Hashable, Iterable

import pytest
from _pytest.mark import ParameterSet

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import TaskSpec

LARGE = {
    "mmlu",
    "mmlu_choice",
    "mmlu_choice_5shot",
    "mmlu_nanochat",
    "mmlu_pro",
    "bbh",
    "spelling_bee",
    "simple_spelling",
}
"""Tasks whose real files take a second to read."""


def without_large(names: Iterable[str]) -> list[ParameterSet]:
    """The names as parameters; tasks with large files are `slow`."""
    return [pytest.param(name, id=name, marks=[pytest.mark.slow] if name in LARGE else []) for name in names]


def one_of_each(names: Iterable[str]) -> list[ParameterSet]:
    """The names as parameters; of tasks that differ by their words and files alone, all but the first are `slow`, and
    so are those with large files."""
    seen: set[Hashable] = set()
    parameters = []
    for name in names:
        is_first = name not in LARGE and structure(find(name)) not in seen
        if is_first:
            seen.add(structure(find(name)))
        parameters.append(pytest.param(name, id=name, marks=[] if is_first else [pytest.mark.slow]))
    return parameters


def structure(task: TaskSpec) -> Hashable:
    """What decides how a task's rows are asked and judged."""
    scoring = tuple(
        (tuple(step.name for step in pipeline.filters), tuple(use.name for use in pipeline.metrics))
        for pipeline in task.pipelines
    )
    views = tuple(view.name for view in task.views)
    return task.kind, task.mode, views, scoring, bool(task.prompt.fewshot), bool(task.choices), bool(task.key)
