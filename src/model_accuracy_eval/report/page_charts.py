"""The figures behind the page's charts: by part, and over k."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from statistics import fmean

import msgspec

from model_accuracy_eval.records import DatasetResult, Interval
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

_MOST_K = 100
_PARTS_SHOWN = 12


class PartFigure(msgspec.Struct, frozen=True):
    """The problems of one part: a subject, a language, a level."""

    name: str
    problems: int
    value: float
    """Mean share of right samples, per cent."""
    interval: Interval | None


class PartsChart(msgspec.Struct, frozen=True):
    """One dataset by its parts, the worst first."""

    dataset: str
    shown: Sequence[PartFigure]
    folded: Sequence[PartFigure]


class Curve(msgspec.Struct, frozen=True):
    """One line of a chart: per cent, from left to right."""

    name: str
    values: Sequence[float]

    def points(self, width: float, height: float) -> str:
        """As SVG writes them."""
        step = width / max(len(self.values) - 1, 1)
        return " ".join(f"{step * at:.1f},{height - height * value / 100:.1f}" for at, value in enumerate(self.values))


class CurveChart(msgspec.Struct, frozen=True):
    """Lines over the same places."""

    title: str
    places: Sequence[str]
    curves: Sequence[Curve]


def parts(results: Iterable[DatasetResult]) -> list[PartsChart]:
    """Datasets of which several parts are known, and whose problems can be right."""
    charts = []
    for result in results:
        if not result.rows or not result.rows[0].share:
            continue
        shares: dict[str, list[float]] = defaultdict(list)
        samples: dict[str, int] = defaultdict(int)
        for problem in result.problem_results:
            if problem.category is not None:
                shares[problem.category].append(fmean(problem.values))
                samples[problem.category] = max(samples[problem.category], problem.n)
        if len(shares) > 1:
            figures = sorted(
                (_part(name, shares[name], samples[name]) for name in shares), key=lambda part: (part.value, part.name)
            )
            charts.append(PartsChart(result.dataset, figures[:_PARTS_SHOWN], figures[_PARTS_SHOWN:]))
    return charts


def _part(name: str, shares: Sequence[float], samples: int) -> PartFigure:
    return PartFigure(name, len(shares), 100 * fmean(shares), intervals.interval(shares, samples))


def over_k(results: Iterable[DatasetResult]) -> list[CurveChart]:
    """pass@k and cons@k for every k that the samples allow."""
    charts = []
    for result in results:
        pairs = Counter((problem.n, problem.c) for problem in result.problem_results)
        n = min((n for n, _ in pairs), default=0)
        known = [(n, c, count) for (n, c), count in pairs.items() if c is not None]
        if n < 2 or not result.rows[:1] or not result.rows[0].share or len(known) < len(pairs):
            continue
        sizes = range(1, min(n, _MOST_K) + 1)
        curves = [
            Curve(name, [100 * fmean(_repeated(known, estimate, k)) for k in sizes])
            for name, estimate in (("pass@k", pass_at_k), ("cons@k", cons_at_k))
        ]
        charts.append(CurveChart(result.dataset, [str(k) for k in sizes], curves))
    return charts


def _repeated(
    known: Iterable[tuple[int, int, int]], estimate: Callable[[int, int, int], float], k: int
) -> Iterator[float]:
    """The estimates of all problems, of which so many have n samples and c right ones."""
    return chain.from_iterable(repeat(estimate(n, c, k), count) for n, c, count in known)
