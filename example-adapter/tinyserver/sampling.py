"""From scores to tokens."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tinyserver.weights import Floats

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

COLDEST: Final = 1e-5
"""Below this temperature the best token is taken outright."""


@dataclass(frozen=True)
class Sampling:
    """How tokens are to be drawn."""

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None

    def dice(self, choice: int) -> random.Random:
        """Each choice rolls its own dice: choice i of seed s is choice 0 of seed s + i."""
        # Random() ignores the sign of a number, hence the remainder.
        return random.Random() if self.seed is None else random.Random((self.seed + choice) % 2**64)


def log_softmax(scores: npt.NDArray[np.floating]) -> Doubles:
    """Logarithms of the probabilities, row by row."""
    shifted = scores.astype(np.float64) - scores.max(-1, keepdims=True)
    logs: Doubles = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return logs


def draw(scores: Floats, samplings: Sequence[Sampling], dice: Sequence[random.Random]) -> Ints:
    """Draw one token a row, each row by its own rules and its own dice."""
    temperatures = np.array([sampling.temperature for sampling in samplings])
    greedy = temperatures < COLDEST
    chances = np.exp(log_softmax(scores / np.where(greedy, 1.0, temperatures)[:, None]))
    limits = np.array([sampling.top_p for sampling in samplings])
    if (limits < 1).any():
        chances = keep_likeliest(chances, limits)
    rolls = np.array([die.random() for die in dice])
    sums = chances.cumsum(-1)
    drawn = (sums <= rolls[:, None] * sums[:, -1:]).sum(-1)
    tokens: Ints = np.where(greedy, scores.argmax(-1), np.minimum(drawn, scores.shape[-1] - 1))
    return tokens


def keep_likeliest(chances: Doubles, limits: Doubles) -> Doubles:
    """Top-p: keep the fewest tokens that together reach the limit, the likeliest first."""
    order = np.argsort(-chances, axis=-1, kind="stable")
    ranked = np.take_along_axis(chances, order, axis=-1)
    before = ranked.cumsum(-1) - ranked
    kept = np.where(before < limits[:, None], ranked, 0.0)
    # The very first always stays, whatever rounding says.
    kept[:, 0] = ranked[:, 0]
    out = np.zeros_like(chances)
    np.put_along_axis(out, order, kept, axis=-1)
    return out
