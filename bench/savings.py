"""How much `--stop-when-decided` saves, and how often it is wrong, by the program's own functions.

    python bench/savings.py [RUNS]

1. Share of the requests, for a gate on the figure of the whole run (`gate-on: point`), and false decisions on the line.
2. The same for a gate on reruns, against the services' true accuracy.
3. What reading answers in the order of their arrival would do, where wrong ones take three times as long.

1,319 problems with five samples each; chances are beta distributed with mean .7 and correlation .5.
"""

import heapq
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_accuracy_eval.records import Gate
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.scoring.verdicts.following import FollowedFigure, Following, PrefixReader
from model_accuracy_eval.scoring.verdicts.gates import GateRule
from model_accuracy_eval.scoring.verdicts.sequential import stop_lines
from verdict import figure

N = 5
PROBLEMS = 1319
SHAPE = (0.7, 0.3)
POINT, RERUNS = GateRule("point"), GateRule("reruns")
WHOLE_AFTER_FOLLOWING = GateRule("reruns", 0.975)
ESTIMATES: dict[str, Callable[[int], float]] = {
    "avg@5": lambda right: right / N,
    "pass@5": lambda right: pass_at_k(N, right, N),
    "cons@5": lambda right: cons_at_k(N, right, N),
}

Samples = NDArray[np.bool_]


class Asked(NamedTuple):
    """How one run ended."""

    decision: str
    share: float


def chances(random: np.random.Generator, problems: int) -> NDArray[np.float64]:
    return random.beta(*SHAPE, problems)


def followed(kind: str) -> FollowedFigure:
    return FollowedFigure(
        is_mean_of_samples=kind == "avg@5",
        by_count=tuple(ESTIMATES[kind](right) for right in range(N + 1)),
        drawn=True,
    )


def per_cent(line: float) -> float:
    """As a user could write it; never above the line by rounding."""
    return floor(100 * line * 1e6) / 1e6


def following(kind: str, line: float, rule: GateRule, *, problems: int, seed: int) -> Following:
    gate = Gate(dataset="bench", metric=kind, comparison=">=", threshold=per_cent(line))
    draws = problems * N if kind == "avg@5" else problems
    lines = stop_lines(gate, draws, rule, drawn=True, base=None)
    if lines is None:
        raise ValueError(f"{kind} cannot be followed.")
    return Following(
        problems=tuple(range(problems)), n=N, figures={kind: followed(kind)}, gates=(lines,), seed=str(seed)
    )


def ask(one: Following, samples: Samples) -> Asked:
    """Asks in the order of the issue until the gate is decided, or everything was asked."""
    reader, asked = PrefixReader(one), 0
    (kind,) = one.figures
    for unit in one.order:
        if reader.is_done:
            break
        for index in range(N) if unit.sample is None else (unit.sample,):
            if index not in reader.lacks(unit.place):
                break
            right = float(samples[unit.place, index])
            reader.tell(unit.place, index, {kind: (right, right)})
            asked += 1
    return Asked(next(iter(reader.decisions.values()), "undecided"), asked / one.planned)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print_savings(runs)
    print_verdicts(runs)
    print_arrivals(4 * runs)


def print_savings(runs: int) -> None:
    print("| gate | on the line, wrong | +1 | −2 | +5 |\n|---|---|---|---|---|", flush=True)
    for kind in ESTIMATES:
        print(f"| {kind} | {' | '.join(savings(kind, runs))} |", flush=True)


def savings(kind: str, runs: int) -> Iterator[str]:
    random = np.random.default_rng(2)
    for distance in (0.0, 1.0, -2.0, 5.0):
        asked, wrong = [], 0
        for run in range(runs):
            chance = chances(random, PROBLEMS)
            samples = random.random((PROBLEMS, N)) < chance[:, None]
            whole = float(np.mean([ESTIMATES[kind](int(right)) for right in samples.sum(axis=1)]))
            # On the line itself every other run lies just below it.
            line = whole - distance / 100 + (1e-7 if not distance and run % 2 else 0.0)
            one = following(kind, line, POINT, problems=PROBLEMS, seed=run)
            end = ask(one, samples)
            asked.append(end.share)
            wrong += end.decision != ("passed" if 100 * whole >= one.gates[0].gate.threshold else "failed")
        share = f"{100 * np.mean(asked):.0f} %"
        yield f"{100 * wrong / runs:.1f} %" if not distance else f"{share} ({100 * wrong / runs:.1f} % wrong)"


def print_verdicts(runs: int) -> None:
    print("\n| avg@5, truth from the line | passed | failed | undecided | asked |\n|---|---|---|---|---|", flush=True)
    random = np.random.default_rng(3)
    for distance in (-5, -2, 0, 2, 5):
        ends: Counter[str] = Counter()
        asked = []
        for run in range(runs):
            chance = chances(random, PROBLEMS)
            samples = random.random((PROBLEMS, N)) < chance[:, None]
            one = following("avg@5", chance.mean() - distance / 100, RERUNS, problems=PROBLEMS, seed=run)
            end = ask(one, samples)
            asked.append(end.share)
            ends[end.decision if end.decision != "undecided" else _whole(one.gates[0].gate, samples)] += 1
        shares = " | ".join(f"{100 * ends[kind] / runs:.0f} %" for kind in ("passed", "failed", "undecided"))
        print(f"| {distance:+} | {shares} | {100 * np.mean(asked):.0f} % |", flush=True)


def _whole(gate: Gate, samples: Samples) -> str:
    row = figure("avg", samples.sum(axis=1), N)
    return gates.result(gate, row, None, WHOLE_AFTER_FOLLOWING).decision


def print_arrivals(runs: int) -> None:
    print("\n| problems × requests at once | issue order | arrival order |\n|---|---|---|", flush=True)
    random = np.random.default_rng(4)
    for problems, at_once in ((200, 32), (200, 128), (1319, 32)):
        passes: Counter[str] = Counter()
        for run in range(runs):
            right = random.random(problems) < 0.7
            line = float(right.mean()) + 1e-7
            one = _single(line, problems, run)
            order = [unit.place for unit in one.order]
            arrived = arrivals(right[order], random, at_once)
            passes["issue"] += _passes(one, right)
            # Whoever reads by arrival takes what came first for what was asked first.
            by_arrival = np.empty_like(right)
            by_arrival[order] = arrived
            passes["arrival"] += _passes(one, by_arrival)
        cells = [f"{100 * passes[name] / runs:.1f} %" for name in ("issue", "arrival")]
        print(f"| {problems:,} × {at_once} | {' | '.join(cells)} |", flush=True)


def _single(line: float, problems: int, seed: int) -> Following:
    gate = Gate(dataset="bench", metric="accuracy", comparison=">=", threshold=per_cent(line))
    lines = stop_lines(gate, problems, POINT, drawn=True, base=None)
    if lines is None:
        raise ValueError("accuracy cannot be followed.")
    plain = FollowedFigure(is_mean_of_samples=True, by_count=(0.0, 1.0), drawn=True)
    return Following(problems=tuple(range(problems)), n=1, figures={"accuracy": plain}, gates=(lines,), seed=str(seed))


def _passes(one: Following, right: Sequence[bool] | Samples) -> bool:
    reader = PrefixReader(one)
    for unit in one.order:
        value = float(right[unit.place])
        reader.tell(unit.place, 0, {"accuracy": (value, value)})
        if reader.is_done:
            break
    return "passed" in reader.decisions.values()


def arrivals(right: Samples, random: np.random.Generator, at_once: int) -> list[bool]:
    """The same answers in the order in which they come back."""
    seconds = random.exponential(1, len(right)) * np.where(right, 1, 3) + 0.2
    waiting = [(float(seconds[place]), place) for place in range(min(at_once, len(right)))]
    heapq.heapify(waiting)
    upcoming, order = iter(range(at_once, len(right))), []
    while waiting:
        now, place = heapq.heappop(waiting)
        order.append(bool(right[place]))
        if (new := next(upcoming, None)) is not None:
            heapq.heappush(waiting, (now + float(seconds[new]), new))
    return order


if __name__ == "__main__":
    main()
