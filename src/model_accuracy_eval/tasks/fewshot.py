"""Which solved examples a question is shown: functions of the pool and of the question's place.

Each is made once for a dataset and then asked question by question, in the order of the file.
"""

import random
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.records import Step
from model_accuracy_eval.tasks.rows import Row

Choose = Callable[[int, Row], Sequence[int]]
"""(place of the question, its row) → places in the pool."""
Sampler = Callable[..., Choose]


def first(pool: Sequence[Row], count: int, own: bool) -> Choose:
    """The first of the pool; a question is not its own example."""

    def draw(place: int, row: Row) -> Sequence[int]:
        return list(islice((at for at in range(len(pool)) if not (own and pool[at] == row)), count))

    return draw


def random_draws(pool: Sequence[Row], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """One generator for the whole dataset, so that draws depend on the questions before, as lm-eval has it."""
    generator = random.Random(seed)  # noqa: S311 - a draw of examples, no secret

    def draw(place: int, row: Row) -> Sequence[int]:
        drawn = generator.sample(range(len(pool)), count + own)
        others = [at for at in drawn if not (own and pool[at] == row)][:count]
        if len(others) < count:  # rows that are equal to the question were drawn more than once
            others = generator.sample([at for at in range(len(pool)) if pool[at] != row], count)
        return others

    return draw


def per_item(pool: Sequence[Row], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """A generator of its own for every question, so that a slice is shown what the whole is shown."""

    def draw(place: int, row: Row) -> Sequence[int]:
        drawn = random.Random(seed + place).sample(range(len(pool) - own), count)  # noqa: S311 - as above
        return [at + (own and at >= place) for at in drawn]

    return draw


def others(pool: Sequence[Row], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """As `per_item`, but no row that equals the question is shown, as UltraEval has it: where there are several of
    them, and one too many was drawn, an example is missing."""

    def draw(place: int, row: Row) -> Sequence[int]:
        drawn = random.Random(seed + place).sample(range(len(pool)), count + own)  # noqa: S311 - as above
        return [at for at in drawn if not (own and pool[at] == row)][:count]

    return draw


def same(pool: Sequence[Row], count: int, own: bool, *, field: str, pool_field: str | None = None) -> Choose:
    """The first of the pool whose `pool_field` says what the question's `field` says: its subject, its language."""
    places: dict[Any, list[int]] = {}
    for at, row in enumerate(pool):
        places.setdefault(row[pool_field or field], []).append(at)

    def draw(place: int, row: Row) -> Sequence[int]:
        found = [at for at in places.get(row[field], []) if not (own and pool[at] == row)][:count]
        if len(found) < count:
            raise BadData(
                f"There are {len(found)} examples with the {field} '{row[field]}', but {count} are to be shown."
            )
        return found

    return draw


SAMPLERS: dict[str, Sampler] = {
    "first": first,
    "random": random_draws,
    "per_item": per_item,
    "others": others,
    "same": same,
}


def chooser(step: Step, pool: Sequence[Row], count: int, *, own: bool) -> Choose:
    """`own`: whether the pool holds the questions themselves."""
    if step.name not in SAMPLERS:
        raise UnknownName("sampler of examples", step.name, SAMPLERS)
    return SAMPLERS[step.name](pool, count, own, **step.args)
