"""Views of a file's rows: some of them, in another order, or new rows made from them.

A problem's number is its place in the view, so that slices and limits never renumber it.
"""

import random
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.benchmarks.dataset_table import View
from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import DataRow, Problem, Shard, Step, TaskSpec
from model_accuracy_eval.tasks.importers.own_questions import own_questions
from model_accuracy_eval.tasks.row_formats import last_replies

T = TypeVar("T")


def only(rows: list[DataRow], *, field: str, values: Sequence[Any]) -> list[DataRow]:
    """The rows whose field has one of the values."""
    return [row for row in rows if row[field] in values]


def without(rows: list[DataRow], *, field: str, values: Sequence[Any]) -> list[DataRow]:
    """The rows whose field has none of the values."""
    return [row for row in rows if row[field] not in values]


_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")


def dated(rows: list[DataRow], *, field: str, first: str = "", last: str = "") -> list[DataRow]:
    """The rows of a time, its first and its last day included. A row without a day is in no time."""
    without = [row[field] for row in rows if not _DAY.match(str(row[field]))]
    if without:
        raise BadData(
            f"{len(without):,} of {len(rows):,} rows have no date like 2024-08-31 in '{field}' (the first: "
            f"{str(without[0])[:40]!r}), so none can be chosen by {first}..{last}; leave the time out."
        )
    return [row for row in rows if first <= str(row[field])[:10] and (not last or str(row[field])[:10] <= last)]


def shuffled(rows: Sequence[T], *, seed: int) -> list[T]:
    """In the order in which Python's `random` shuffles them."""
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order, no secret
    return mixed


def permuted(rows: list[DataRow], *, seed: int = 42) -> list[DataRow]:
    """In the order in which the `datasets` library shuffles them, with NumPy's default generator."""
    return [rows[at] for at in numpy.random.default_rng(seed).permutation(len(rows))]


def programs(rows: list[DataRow]) -> list[DataRow]:
    """The rows of HumanEval or MBPP with `program_head` and `program_tests`, for running UltraEval's programs."""
    found = []
    for row in rows:
        head, tests = "", row.get("test_list")
        if tests is None:
            head, tests = row["prompt"], [row["test"], f"check({row['entry_point']})"]
        found.append({**row, "program_head": head, "program_tests": "\n".join(tests)})
    return found


VIEWS: dict[str, View] = {
    "only": only,
    "without": without,
    "dated": dated,
    "shuffled": shuffled,
    "permuted": permuted,
    "last_replies": last_replies,
    "own_questions": own_questions,
    "programs": programs,
    **dataset_table.VIEWS,
}


def apply_views(steps: Sequence[Step], rows: list[DataRow], name: str) -> list[DataRow]:
    """The rows after all steps; `name` is their file's."""
    for step in steps:
        if step.name not in VIEWS:
            raise UnknownName("view of rows", step.name, VIEWS)
        rows = VIEWS[step.name](rows, **step.args)
        if not rows:
            raise BadData(f"{name}: no row is left after the step '{step.name}' {step.args}.")
    return rows


def sliced(task: TaskSpec, count: int) -> range:
    """The places of the task's slice. A stop after the end means the end; negative places are refused."""
    start, stop, step = task.slice.start, task.slice.stop, task.slice.step
    text = f"{start}:{'' if stop is None else stop}:{step}"
    if start < 0 or step < 1 or (stop is not None and stop < start):
        raise BadValue(
            f"{task.name}: the slice {text} cannot be taken: start must be 0 or more, stop not below it, "
            "and step 1 or more."
        )
    places = range(count)[start:stop:step]
    if not places:
        raise BadValue(f"{task.name}: the slice {text} of {count} rows is empty.")
    if len(places) < (wanted := task.slice.sample or 0):
        raise BadValue(f"{task.name} is a sample of {wanted} problems, but there are only {len(places)}: ask them all.")
    return places


def sharded(problems: tuple[Problem, ...], shard: Shard | None) -> tuple[Problem, ...]:
    """The problems of the shard, none if there are fewer of them than shards; all of them without a shard."""
    return problems if shard is None else problems[shard.index :: shard.count]
