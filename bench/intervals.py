"""How often the intervals in reports hold the truth, by the program's own functions.

    python bench/intervals.py [DRAWS]

Prints a Markdown table: for each number of problems and of samples the share of DRAWS (2,000) simulated evaluations of
which the 95 % interval over problems holds the true figure, over seven kinds of problems (the lowest, the mean and the
highest), and how often it lies above or below it at worst. A kind is a beta distribution of the problems' chances: its
mean, and how alike the samples of one problem are.
"""

import sys
from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np

from model_accuracy_eval.scoring.figures.intervals import interval

SIZES = (5, 10, 20, 50, 200, 1319)
SAMPLES = (1, 5)
KINDS = ((0.5, 0.1), (0.5, 0.5), (0.8, 0.1), (0.8, 0.5), (0.95, 0.1), (0.95, 0.5), (0.95, 0.9))
"""Mean chance, correlation of a problem's samples."""


class Coverage(NamedTuple):
    """Per cent of the draws."""

    holds: float
    above: float
    below: float


def coverage(problems: int, samples: int, mean: float, correlation: float, draws: int) -> Coverage:
    """Every draw has new problems of the kind: the interval is about the kind, not about these problems."""
    random = np.random.default_rng(20261122)
    spread = (1 - correlation) / correlation
    chances = random.beta(mean * spread, (1 - mean) * spread, (draws, problems))
    ends = [interval(row, samples) for row in (random.binomial(samples, chances) / samples).tolist()]
    above = 100 * fmean(end is not None and end.low > 100 * mean + 1e-9 for end in ends)
    below = 100 * fmean(end is not None and end.high < 100 * mean - 1e-9 for end in ends)
    return Coverage(100 - above - below, above, below)


def table(draws: int) -> Iterator[str]:
    yield "| problems × samples | holds the truth: lowest, mean, highest | too high at worst | too low at worst |"
    yield "|---|---|---|---|"
    for samples in SAMPLES:
        for problems in SIZES:
            found = [coverage(problems, samples, *kind, draws) for kind in KINDS]
            holds = [each.holds for each in found]
            above, below = max(each.above for each in found), max(each.below for each in found)
            cells = f"{min(holds):.1f}, {fmean(holds):.1f}, {max(holds):.1f} | {above:.1f} | {below:.1f}"
            yield f"| {problems:,} × {samples} | {cells} |"


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(line, flush=True)
