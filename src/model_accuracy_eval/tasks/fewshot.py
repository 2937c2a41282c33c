"""Samplers of solved examples: they choose from a pool which examples precede a question.

A sampler is made once for a dataset and then called for each question, in the order of the file.
"""

import random
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.records import (
    DataRow,
    Step,
)

Choose = Callable[[int, DataRow], Sequence[int]]
"""(place of the question, its row) → places in the pool."""
Sampler = Callable[..., Choose]


def first(pool: Sequence[DataRow], count: int, own: bool, *, field: str = "", pool_field: str | None = None) -> Choose:
    """The first rows of the pool, or of those whose `pool_field` equals the question's `field`, such as its subject or
    language; a question is not its own example."""
    places: dict[Any, list[int]] = {}
    for at, row in enumerate(pool):
        places.setdefault(row[pool_field or field] if field else "", []).append(at)

    def draw(place: int, row: DataRow) -> Sequence[int]:
        alike = places.get(row[field] if field else "", [])
        examples = list(islice((at for at in alike if not (own and pool[at] == row)), count))
        if field and len(examples) < count:
            raise BadData(
                f"There are {len(examples)} examples with the {field} '{row[field]}', but {count} are to be shown."
            )
        return examples

    return draw


def random_draws(pool: Sequence[DataRow], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """One generator for the dataset, as in lm-eval: a draw depends on the questions before it."""
    generator = random.Random(seed)  # noqa: S311 - a draw of examples, no secret

    def draw(place: int, row: DataRow) -> Sequence[int]:
        drawn = generator.sample(range(len(pool)), count + own)
        others = [at for at in drawn if not (own and pool[at] == row)][:count]
        if len(others) < count:  # several rows that equal the question were drawn
            others = generator.sample([at for at in range(len(pool)) if pool[at] != row], count)
        return others

    return draw


def per_item(pool: Sequence[DataRow], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """One generator for each question, so that a question in a slice has the same examples as in the whole dataset."""

    def draw(place: int, row: DataRow) -> Sequence[int]:
        drawn = random.Random(seed + place).sample(range(len(pool) - own), count)  # noqa: S311 - as above
        return [at + (own and at >= place) for at in drawn]

    return draw


def others(pool: Sequence[DataRow], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """As `per_item`, but without rows that equal the question, as in UltraEval: if several equal ones are drawn, an
    example is missing."""

    def draw(place: int, row: DataRow) -> Sequence[int]:
        drawn = random.Random(seed + place).sample(range(len(pool)), count + own)  # noqa: S311 - as above
        return [at for at in drawn if not (own and pool[at] == row)][:count]

    return draw


SAMPLERS: dict[str, Sampler] = {
    "first": first,
    "random": random_draws,
    "per_item": per_item,
    "others": others,
    "same": first,
}


def chooser(step: Step, pool: Sequence[DataRow], count: int, *, own: bool) -> Choose:
    """`own`: whether the pool holds the questions themselves."""
    if step.name not in SAMPLERS:
        raise UnknownName("sampler of examples", step.name, SAMPLERS)
    return SAMPLERS[step.name](pool, count, own, **step.args)
