"""Which sums the model may learn from, and which it never saw."""

from __future__ import annotations

import random
from typing import Final

LIMIT: Final = 100
"""Both summands run from 0 to LIMIT - 1."""

HELD_OUT_COUNT: Final = 500
HELD_OUT_SEED: Final = 2024

Sum = tuple[int, int]


def prompt_of(pair: Sum) -> str:
    """The text the model continues: `27+58=`."""
    return f"{pair[0]}+{pair[1]}="


def answer_of(pair: Sum) -> str:
    """What a correct continuation says: `85`."""
    return str(sum(pair))


def every_sum() -> list[Sum]:
    """All pairs, in order."""
    return [(a, b) for a in range(LIMIT) for b in range(LIMIT)]


def held_out_sums(count: int = HELD_OUT_COUNT, seed: int = HELD_OUT_SEED) -> list[Sum]:
    """Draw the sums kept from training.

    A sum leaves together with its mirror image: had the model seen 58+27, then 27+58 would only ask
    whether it knows that the order does not matter.
    """
    unordered = [(a, b) for a, b in every_sum() if a <= b]
    random.Random(seed).shuffle(unordered)
    chosen: list[Sum] = []
    for a, b in unordered:
        both = [(a, b)] if a == b else [(a, b), (b, a)]
        if len(chosen) + len(both) <= count:
            chosen += both
    random.Random(seed + 1).shuffle(chosen)
    return chosen


def training_sums() -> list[Sum]:
    """Everything that is not held out."""
    hidden = set(held_out_sums())
    return [pair for pair in every_sum() if pair not in hidden]
