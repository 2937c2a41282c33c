"""Lines of a history with known problems."""

import random
from collections.abc import Callable, Sequence

from model_accuracy_eval.records import FigureBounds
from model_accuracy_eval.run_folder.history_file import HistoryLine, PastFigure
from model_accuracy_eval.scoring.figures.reductions import pass_at_k


def past(
    day: int, counts: Sequence[int], *, n: int = 1, month: int = 3, lost: tuple[int, ...] = (), **fields: object
) -> HistoryLine:
    """One run of one dataset; `counts` has the number of right samples of each problem."""
    share = 100 * sum(counts) / (n * len(counts))
    solved = 100 * sum(pass_at_k(n, c, n) for c in counts) / len(counts)
    bounds = FigureBounds(low=share, high=share + 100 * len(lost) / len(counts), samples=len(lost)) if lost else None
    values = {
        "run_id": f"{month:x}{day:031x}",
        "finished": f"2026-{month:02d}-{day:02d}T10:00:00+0000",
        "status": "passed",
        "label": "main",
        "model": "/weights",
        "dataset": "gsm8k",
        "version": "0ba9da",
        "sampling": {"sampling": "server"},
        "figures": (
            PastFigure(metric=f"avg@{n}", value=share, bounds=bounds, paired=True),
            PastFigure(metric=f"pass@{n}", value=solved, paired=True),
        ),
        "n": n,
        "problems": len(counts),
        "right": tuple(counts),
        "lost": lost,
    }
    return HistoryLine(**{**values, **fields})  # type: ignore[arg-type]


def steady(problem: int) -> bool:
    """Two thirds of the problems are solved each time, and one third never."""
    return problem % 3 != 0


def runs(
    days: int, problems: int = 120, solves: Callable[[int, int], bool] = lambda _, problem: steady(problem)
) -> list[HistoryLine]:
    return [past(day, [int(solves(day, problem)) for problem in range(problems)]) for day in range(1, days + 1)]


FALLEN = tuple(problem for problem in range(20, 41) if steady(problem))
"""Fourteen problems."""
FLAKY = (50, 52, 53)


def fallen_after(day: int, days: int) -> list[HistoryLine]:
    """A history in which fourteen problems are solved no more after that day, and three others flip all the time."""
    chance = random.Random(3)
    coins = {(a_day, problem): chance.random() < 0.5 for a_day in range(days + 1) for problem in FLAKY}

    def solves(a_day: int, problem: int) -> bool:
        if problem in FLAKY:
            return coins[a_day, problem]
        return steady(problem) and not (a_day > day and problem in FALLEN)

    return runs(days, solves=solves)
