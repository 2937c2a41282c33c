"""How often the intervals in reports hold the truth, and how often gates over problems are wrong on the line, by the
program's own functions.

    python bench/intervals.py [DRAWS]

Prints two Markdown tables. The first has for each number of problems and of samples the share of DRAWS (2,000)
simulated evaluations of which the 95 % interval over problems holds the true figure, over seven kinds of problems (the
lowest, the mean and the highest), and how often it lies above or below it at worst. A kind is a beta distribution of
the problems' chances: its mean, and how alike the samples of one problem are.

The second is of questions that share passages: the share of DRAWS in which a gate on the true figure passes, and fails,
falsely (95 %, `gate-on: problems`), by how alike the questions of a passage are; samples of one question correlate by
half of what is left to 1. Behind it, the same with the questions as the unit, which share nothing.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice, product
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_accuracy_eval.records import Certainty
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.intervals import ClusterSums, interval

SIZES = (5, 10, 20, 50, 200, 1319)
SAMPLES = (1, 5)
KINDS = ((0.5, 0.1), (0.5, 0.5), (0.8, 0.1), (0.8, 0.5), (0.95, 0.1), (0.95, 0.5), (0.95, 0.9))
"""Mean chance, correlation of a problem's samples."""


PASSAGES = (20, 50, 200)
QUESTIONS = {"2": (2,), "4": (4,), "10": (10,), "1 to 12": (1, 1, 2, 4, 12)}
"""How many a passage has, in turn."""
ALIKE = (0.0, 0.3, 0.8)
MEANS = (0.7, 0.9)


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


def shared_table(draws: int) -> Iterator[str]:
    yield "| passages × questions | correlation | figure | passes / fails falsely, mean 70 | mean 90 |"
    yield "|---|---|---|---|---|"
    for passages, (name, pattern), alike, samples in product(PASSAGES, QUESTIONS.items(), ALIKE, SAMPLES):
        sizes = [*islice(cycle(pattern), passages)]
        cells = [on_the_line(sizes, alike, samples, mean, draws) for mean in MEANS]
        yield f"| {passages} × {name} | {alike} | avg@{samples} | {' | '.join(cells)} |"


def on_the_line(sizes: Sequence[int], alike: float, samples: int, mean: float, draws: int) -> str:
    random = np.random.default_rng(20261123)
    passages = np.full((draws, len(sizes)), mean)
    if alike:
        spread = (1 - alike) / alike
        passages = random.beta(mean * spread, (1 - mean) * spread, passages.shape).clip(1e-6, 1 - 1e-6)
    of_questions = np.repeat(passages, sizes, axis=1)
    shares = random.binomial(samples, random.beta(of_questions, 1 - of_questions)) / samples
    clusters = [str(place) for place, size in enumerate(sizes) for _ in range(size)]
    return f"{_wrong(shares, samples, mean, clusters)} ({_wrong(shares, samples, mean, [])})"


def _wrong(shares: NDArray[np.float64], samples: int, mean: float, clusters: list[str]) -> str:
    noises = [intervals.Noise(None, 0, 1)] * shares.shape[1]
    passes = fails = 0
    for values in shares.tolist():
        case = intervals.case(values, noises, samples, clusters)
        sharing = ClusterSums(values, clusters).sharing()
        known = Certainty(
            problems=len(values), samples=samples, draws=len(values), worst=case, best=case, sharing=sharing
        )
        limits = intervals.limits(known, "problems", 0.95)
        passes += limits.low > 100 * mean + 1e-9
        fails += limits.high < 100 * mean - 1e-9
    return f"{100 * passes / len(shares):.1f} / {100 * fails / len(shares):.1f}"


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for line in chain(table(number), [""], shared_table(number)):
        print(line, flush=True)
