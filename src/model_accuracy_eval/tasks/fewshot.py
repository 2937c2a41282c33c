"""Which solved examples a question is shown: functions of the pool and of the question's place.

Each is made once for a dataset and then asked question by question, in the order of the file.
"""

import random
from collections.abc import Callable, Sequence

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Step
from model_accuracy_eval.tasks.rows import Row

Choose = Callable[[int, Row], Sequence[int]]
"""(place of the question, its row) → places in the pool."""
Sampler = Callable[..., Choose]


def first(pool: Sequence[Row], count: int, own: bool) -> Choose:
    """The first of the pool; a question is not its own example."""
    return lambda place, row: [at for at in range(count + own) if not (own and at == place)][:count]


def random_draws(pool: Sequence[Row], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """One generator for the whole dataset, so that draws depend on the questions before, as lm-eval has it."""
    generator = random.Random(seed)  # noqa: S311 - a draw of examples, no secret

    def draw(place: int, row: Row) -> Sequence[int]:
        drawn = generator.sample(range(len(pool)), count + own)
        return [at for at in drawn if not (own and pool[at] == row)][:count]

    return draw


def per_item(pool: Sequence[Row], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """A generator of its own for every question, so that a slice is shown what the whole is shown."""

    def draw(place: int, row: Row) -> Sequence[int]:
        others = [at for at in range(len(pool)) if not (own and at == place)]
        return random.Random(seed + place).sample(others, count)  # noqa: S311 - as above

    return draw


SAMPLERS: dict[str, Sampler] = {"first": first, "random": random_draws, "per_item": per_item}


def chooser(step: Step, pool: Sequence[Row], count: int, *, own: bool) -> Choose:
    """`own`: whether the pool holds the questions themselves."""
    if step.name not in SAMPLERS:
        raise UnknownName("sampler of examples", step.name, SAMPLERS)
    return SAMPLERS[step.name](pool, count, own, **step.args)
