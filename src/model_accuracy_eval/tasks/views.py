"""What is made of a file's rows before they are asked: which, in what order, or new ones out of them.

A problem's number is its place among these rows, so that slices and limits never rename it.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import Step, TaskSpec
from model_accuracy_eval.tasks.passages import gold_passages
from model_accuracy_eval.tasks.rows import Row
from model_accuracy_eval.tasks.words import spelling_bees, words_to_spell

View = Callable[..., list[Row]]


def only(rows: list[Row], *, field: str, values: Sequence[Any]) -> list[Row]:
    """Those whose field has one of the values."""
    return [row for row in rows if row[field] in values]


def shuffled(rows: list[Row], *, seed: int) -> list[Row]:
    """As Python's own generator shuffles them."""
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order, no secret
    return mixed


def permuted(rows: list[Row], *, seed: int = 42) -> list[Row]:
    """As the `datasets` library shuffles them: by NumPy's default generator."""
    import numpy  # noqa: PLC0415 - a tenth of a second that only these datasets pay

    return [rows[at] for at in numpy.random.default_rng(seed).permutation(len(rows))]


VIEWS: dict[str, View] = {
    "only": only,
    "shuffled": shuffled,
    "permuted": permuted,
    "gold_passages": gold_passages,
    "spelling_bees": spelling_bees,
    "words_to_spell": words_to_spell,
}


def seen(steps: Sequence[Step], rows: list[Row], name: str) -> list[Row]:
    """The rows after every step; `name` is their file's."""
    for step in steps:
        if step.name not in VIEWS:
            raise UnknownName("view of rows", step.name, VIEWS)
        rows = VIEWS[step.name](rows, **step.args)
        if not rows:
            raise BadData(f"{name}: no row is left after the step '{step.name}' {step.args}.")
    return rows


def sliced(task: TaskSpec, count: int) -> range:
    """Places of the task's slice. A stop behind the end is the end; what would reach around the start is refused."""
    view = task.slice
    written = f"{view.start}:{'' if view.stop is None else view.stop}:{view.step}"
    if view.start < 0 or view.step < 1 or (view.stop is not None and view.stop < view.start):
        raise BadValue(
            f"{task.name}: the slice {written} cannot be taken: start must be 0 or more, stop not below it, "
            "and step 1 or more."
        )
    chosen = range(count)[view.start : view.stop : view.step]
    if not chosen:
        raise BadValue(f"{task.name}: the slice {written} of {count} rows is empty.")
    return chosen
