"""How often gates are wrong: services of known accuracy, asked many times, decided by the program's own functions.

    python bench/verdict.py [RUNS]

Prints a Markdown table: problems, samples, figure, distance of the true figure from the line → share of runs that
passed, failed, stayed undecided, and what the figure alone would have said. "True" is the mean chance of these
problems for a gate on reruns. The services' problems are easy or hard (beta, correlation of a problem's samples .5)
or alike (.1).
"""

import sys
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from model_accuracy_eval.records import Certainty, Decision, Gate, SummaryRow
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule

SIZES = ((50, 5), (200, 1), (200, 5), (1319, 1), (1319, 5))
DISTANCES = (-5, -2, 0, 2, 5)
SHAPES = {0.5: (0.7, 0.3), 0.1: (6.3, 2.7)}
"""Correlation → the beta distribution of the problems' chances; its mean is .7."""
RULES = (GateRule("reruns"), GateRule("problems"), GateRule("point"))


def figure(kind: str, counts: NDArray[np.int64], n: int) -> SummaryRow:
    """The figure of problems with so many right samples each."""
    key = f"{kind}@{n}" if kind in {"pass", "cons"} else ""
    estimates = [_estimate(kind, n, c) for c in range(n + 1)]
    noises = [intervals.noise("runs", key, [1.0] * c + [0.0] * (n - c)) for c in range(n + 1)]
    values = [estimates[c] for c in counts]
    case = intervals.case(values, [noises[c] for c in counts], n)
    known = Certainty(
        problems=len(counts), samples=n, draws=sum(noises[c].draws for c in counts), worst=case, best=case
    )
    return SummaryRow(dataset="bench", version="", metric=kind, value=100 * case.mean, certainty=known)


def _estimate(kind: str, n: int, c: int) -> float:
    estimators = {"pass": pass_at_k, "cons": cons_at_k}
    return estimators[kind](n, c, n) if kind in estimators else c / n


def truth(kind: str, chances: NDArray[np.float64], n: int) -> float:
    """The expected figure of these problems."""
    counts = np.arange(n + 1)
    binomials = np.array([_choose(n, c) for c in range(n + 1)])
    weights = binomials * chances[:, None] ** counts * (1 - chances[:, None]) ** (n - counts)
    return float(100 * (weights @ np.array([_estimate(kind, n, int(c)) for c in counts])).mean())


def _choose(n: int, c: int) -> float:
    result = 1.0
    for step in range(c):
        result *= (n - step) / (step + 1)
    return result


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("| problems × n | correlation | figure | distance | passed / failed / undecided | problems | point |")
    print("|---|---|---|---|---|---|---|")
    random = np.random.default_rng(1)
    for correlation, shape in SHAPES.items():
        for problems, n in SIZES:
            for kind in ("avg", "pass", "cons") if n > 1 else ("avg",):
                for distance in DISTANCES:
                    decisions: dict[GateRule, Counter[Decision]] = {rule: Counter() for rule in RULES}
                    chances = random.beta(*shape, problems)
                    line = truth(kind, chances, n) - distance
                    if not 1 < line < 100:
                        continue
                    gate = Gate(dataset="bench", metric=kind, comparison=">=", threshold=line)
                    for counts in random.binomial(n, chances, (runs, problems)):
                        row = figure(kind, counts, n)
                        for rule in RULES:
                            decisions[rule][gates.result(gate, row, None, rule).decision] += 1
                    cells = [_shares(decisions[rule], runs) for rule in RULES]
                    name = kind if n == 1 else f"{kind}@{n}"
                    print(
                        f"| {problems:,} × {n} | {correlation} | {name} | {distance:+} | {' | '.join(cells)} |",
                        flush=True,
                    )


def _shares(decisions: "Counter[Decision]", runs: int) -> str:
    kinds: tuple[Decision, ...] = ("passed", "failed", "undecided")
    return " / ".join(f"{100 * decisions[kind] / runs:.1f}" for kind in kinds)


if __name__ == "__main__":
    main()
