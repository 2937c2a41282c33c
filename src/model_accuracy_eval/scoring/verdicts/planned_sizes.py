"""What a run of a size can show about its gates, and which size a number of requests is best spent on."""

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

from model_accuracy_eval.records import Gate
from model_accuracy_eval.scoring.figures.intervals import normal_quantile
from model_accuracy_eval.scoring.verdicts.following import whole_lines
from model_accuracy_eval.scoring.verdicts.gates import GateRule

_CORRELATION = 0.5
"""Of the samples of one problem, where nothing is known of the service: maths and code benchmarks have about that."""
_TWO_SIDED_95 = 0.975
_COMPARED = (1, 2, 5, 10)


class PlannedSize(NamedTuple):
    """How much is asked of a dataset."""

    problems: int
    n: int

    @property
    def requests(self) -> int:
        return self.problems * self.n

    def __str__(self) -> str:
        samples = "1 sample" if self.n == 1 else f"{self.n:,} samples"
        return f"{self.problems:,} problems × {samples}"


def can_show(gate: Gate, size: PlannedSize, rule: GateRule, *, of_samples: bool, drawn: bool) -> str:
    """What the gate will say of which figures. `of_samples`: its figure is a mean of samples; else of problems."""
    draws = size.requests if of_samples else size.problems
    noisy = drawn and rule.over != "point"
    if not noisy or gate.comparison == "==":
        return "is decided by the figure itself, whatever the size."
    if rule.over == "problems":
        return "is about other problems of the kind: what it can show depends on how unlike these are."
    sure = f"({100 * rule.confidence:g} %)"
    if gate.from_baseline:
        points = 100 * normal_quantile(rule.confidence) * sqrt(2 * 0.25 / draws)
        return f"shows changes of {points:.2f} points and more where answers change by chance alone {sure}."
    lower, upper = whole_lines(gate, draws, rule)
    above, below = ("passes", "fails") if gate.comparison in {">=", ">"} else ("fails", "passes")
    highest = f"from {100 * upper:.2f}" if upper <= 1 else "for no figure, because the size is too small"
    lowest = f"up to {100 * lower:.2f}" if lower >= 0 else "for none"
    at_most = " at the latest" if of_samples else ""
    return f"{above} {highest}, {below} {lowest}{at_most} {sure}; between them it stays undecided."


def margin(size: PlannedSize, problems: int, share: float) -> float:
    """Points by which the figure will miss that of the whole dataset, at most, in 95 of 100 runs."""
    of_problems = _CORRELATION / size.problems * (1 - size.problems / problems)
    of_samples = (1 - _CORRELATION) / size.requests
    return 100 * normal_quantile(_TWO_SIDED_95) * sqrt(share * (1 - share) * (of_problems + of_samples))


def alternatives(requests: int, problems: int, least: int) -> Iterator[PlannedSize]:
    """Sizes that cost no more, the one that misses least first; none if not one problem can be asked.

    That is one of two: all problems, or as many as can be, with as few samples as their figures need; or a sample more
    of fewer problems, where the first would leave many requests unused.
    """
    whole = max(least, requests // problems)
    sizes = [PlannedSize(min(problems, requests // n), n) for n in {least, whole, whole + 1} if n <= requests]
    first = sorted(sizes, key=lambda size: margin(size, problems, 0.5))[:1]
    others = [PlannedSize(min(problems, requests // n), n) for n in _COMPARED if least <= n <= requests]
    yield from dict.fromkeys(first + others)
