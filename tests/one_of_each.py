"""Tests over the table of tasks: one task of each structure in `make test`, the others in `make test-long`."""

from collections.abc import Hashable, Iterable

import pytest
from _pytest.mark import ParameterSet

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import TaskSpec


def one_of_each(names: Iterable[str]) -> list[ParameterSet]:
    """The names as parameters; of tasks that differ by their words and files alone, all but the first are `slow`."""
    seen: set[Hashable] = set()
    parameters = []
    for name in names:
        found = structure(find(name))
        parameters.append(pytest.param(name, id=name, marks=[pytest.mark.slow] if found in seen else []))
        seen.add(found)
    return parameters


def structure(task: TaskSpec) -> Hashable:
    """What decides how a task's rows are asked and judged."""
    scoring = tuple(
        (tuple(step.name for step in pipeline.filters), tuple(use.name for use in pipeline.metrics))
        for pipeline in task.pipelines
    )
    views = tuple(view.name for view in task.views)
    return task.kind, task.mode, views, scoring, bool(task.prompt.fewshot), bool(task.choices), bool(task.key)
