"""What is made of a file's rows before they are asked: which, in what order, or new ones out of them.

A problem's number is its place among these rows, so that slices and limits never rename it.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import Problem, Shard, Step, TaskSpec
from model_accuracy_eval.tasks.conversations import last_replies
from model_accuracy_eval.tasks.instructions import instructions
from model_accuracy_eval.tasks.passages import gold_passages
from model_accuracy_eval.tasks.rows import Row
from model_accuracy_eval.tasks.ultraeval.programs import programs
from model_accuracy_eval.tasks.words import spelling_bees, words_to_spell

T = TypeVar("T")
View = Callable[..., list[Row]]


def only(rows: list[Row], *, field: str, values: Sequence[Any]) -> list[Row]:
    """Those whose field has one of the values."""
    return [row for row in rows if row[field] in values]


def without(rows: list[Row], *, field: str, values: Sequence[Any]) -> list[Row]:
    """Those whose field has none of the values."""
    return [row for row in rows if row[field] not in values]


def shuffled(rows: Sequence[T], *, seed: int) -> list[T]:
    """As Python's own generator shuffles them."""
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order, no secret
    return mixed


def mixed(problems: Sequence[T]) -> list[T]:
    """The order of a mixture."""
    return shuffled(problems, seed=42)


def permuted(rows: list[Row], *, seed: int = 42) -> list[Row]:
    """As the `datasets` library shuffles them: by NumPy's default generator."""
    import numpy  # noqa: PLC0415 - a tenth of a second that only these datasets pay

    return [rows[at] for at in numpy.random.default_rng(seed).permutation(len(rows))]


VIEWS: dict[str, View] = {
    "only": only,
    "without": without,
    "shuffled": shuffled,
    "permuted": permuted,
    "gold_passages": gold_passages,
    "instructions": instructions,
    "last_replies": last_replies,
    "spelling_bees": spelling_bees,
    "words_to_spell": words_to_spell,
    "programs": programs,
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


def sharded(task: TaskSpec, problems: tuple[Problem, ...], shard: Shard | None) -> tuple[Problem, ...]:
    """The shard's own problems; without a shard all."""
    if shard is None:
        return problems
    own = problems[shard.index :: shard.count]
    if not own:
        raise BadValue(f"{task.name}: the shard {shard} of {len(problems)} problems is empty.")
    return own


def check_parts(task: TaskSpec) -> None:
    """Parts are asked in one run of requests, so all must want the same kind of answer."""
    manners = {part.name: (part.kind, part.mode, part.boundary, part.repeats) for part in task.parts}
    if len(set(manners.values())) > 1:
        told = ", ".join(f"{name} by {' and '.join(map(str, manner[:2]))}" for name, manner in manners.items())
        raise BadValue(f"The parts of {task.name} must all be asked in one way, but are asked differently: {told}.")
