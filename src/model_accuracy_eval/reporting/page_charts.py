"""The figures behind the page's charts: by part, over k, and over the time that the run took."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from statistics import fmean

import msgspec

from model_accuracy_eval.records import DatasetResult, Interval, ProblemResult
from model_accuracy_eval.reporting.timeline import Timeline
from model_accuracy_eval.scoring import stats
from model_accuracy_eval.scoring.estimators import cons_at_k, pass_at_k

_SPANS = 40
"""Places of a chart over time at most; runs of few samples have fewer, so that most places have some."""
_SAMPLES_A_SPAN = 20
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
    """One line of a chart: values from left to right, None where there is none."""

    name: str
    values: Sequence[float | None]


class CurveChart(msgspec.Struct, frozen=True):
    """Lines over the same places."""

    title: str
    unit: str
    places: Sequence[str]
    curves: Sequence[Curve]

    @property
    def top(self) -> float:
        """Where the axis ends."""
        if self.unit == "%":
            return 100.0
        highest = max((value for curve in self.curves for value in curve.values if value is not None), default=0.0)
        return highest or 1.0

    def lines(self, curve: Curve, width: float, height: float) -> Iterator[str]:
        """The points of its unbroken pieces, as SVG writes them."""
        step = width / max(len(self.places) - 1, 1)
        piece: list[str] = []
        for place, value in enumerate([*curve.values, None]):
            if value is not None:
                piece.append(f"{step * place:.1f},{height - height * min(value / self.top, 1.0):.1f}")
            elif piece:
                yield " ".join(piece)
                piece = []


def parts(results: Iterable[DatasetResult]) -> list[PartsChart]:
    """Datasets of which several parts are known, and whose problems can be right."""
    charts = []
    for result in results:
        if not result.rows or not result.rows[0].share:
            continue
        by_name: dict[str, list[ProblemResult]] = defaultdict(list)
        for problem in result.problem_results:
            if problem.category is not None:
                by_name[problem.category].append(problem)
        if len(by_name) > 1:
            figures = sorted((_part(*item) for item in by_name.items()), key=lambda part: (part.value, part.name))
            charts.append(PartsChart(result.dataset, figures[:_PARTS_SHOWN], figures[_PARTS_SHOWN:]))
    return charts


def _part(name: str, problems: Sequence[ProblemResult]) -> PartFigure:
    shares = [fmean(problem.values) for problem in problems]
    samples = max(problem.n for problem in problems)
    return PartFigure(name, len(problems), 100 * fmean(shares), stats.interval(shares, samples))


def over_k(results: Iterable[DatasetResult]) -> list[CurveChart]:
    """pass@k and cons@k for every k that the samples allow."""
    charts = []
    for result in results:
        pairs = [(problem.n, problem.c) for problem in result.problem_results if problem.c is not None]
        n = min((n for n, _ in pairs), default=0)
        if n < 2 or not result.rows[:1] or not result.rows[0].share or len(pairs) < len(result.problem_results):
            continue
        sizes = range(1, min(n, _MOST_K) + 1)
        curves = [
            Curve(name, [100 * fmean(estimate(n, c, k) for n, c in pairs) for k in sizes])
            for name, estimate in (("pass@k", pass_at_k), ("cons@k", cons_at_k))
        ]
        charts.append(CurveChart(result.dataset, "%", [str(k) for k in sizes], curves))
    return charts


def over_time(timelines: Sequence[Timeline]) -> list[CurveChart]:
    """Latency, throughput and failures, from the first sample to the last; nothing if the journals have no times."""
    moments = [at for each in timelines for at in (*each.at, *each.failed_at) if not isnan(at)]
    if len(moments) < 2 or max(moments) - min(moments) < 1e-3:
        return []
    return _TimeSpans(moments).charts(timelines)


class _TimeSpans:
    """The time of a run in equal spans."""

    def __init__(self, moments: Sequence[float]) -> None:
        self._first = min(moments)
        self._count = max(4, min(_SPANS, len(moments) // _SAMPLES_A_SPAN))
        self._seconds = (max(moments) - self._first) / self._count

    def charts(self, timelines: Sequence[Timeline]) -> list[CurveChart]:
        places = [_clock(self._seconds * (place + 1)) for place in range(self._count)]
        spans = [
            self._sorted(each.at, each.ttft, each.e2e, each.per_token, each.gap, each.tokens) for each in timelines
        ]
        ttft, e2e, per_token, gap, tokens = (
            [[value for one in spans for value in one[column][place]] for place in range(self._count)]
            for column in range(5)
        )
        failed = [self._sorted(each.failed_at, each.failed_at)[0] for each in timelines]
        answered = [len(values) for values in e2e]
        lost = [sum(len(one[place]) for one in failed) for place in range(self._count)]
        charts = [
            CurveChart(title, "s", places, [_quantile(name, values, share) for name, share in _SHARES])
            for title, values in (
                ("Time to first text", ttft),
                ("Whole reply", e2e),
                ("Time per token", per_token),
                ("Gap between chunks", [] if any(per_token) else gap),
            )
            if any(values)
        ]
        if any(map(sum, tokens)):
            rates = [sum(values) / self._seconds for values in tokens]
            charts.append(CurveChart("Throughput", "tokens/s", places, [Curve("completion", rates)]))
            lengths = [[count for count in values if count] for values in tokens]
            quantiles = [_quantile(name, lengths, share) for name, share in _SHARES]
            charts.append(CurveChart("Completion tokens", "a request", places, quantiles))
        counted = [Curve("answered", [count / self._seconds for count in answered])]
        if any(lost):
            counted.append(Curve("failed", [count / self._seconds for count in lost]))
        return [*charts, CurveChart("Samples", "per second", places, counted)]

    def _sorted(self, at: Sequence[float], *columns: Sequence[float]) -> list[list[list[float]]]:
        """Each column's known values by the span in which they were there."""
        sorted_columns: list[list[list[float]]] = [[[] for _ in range(self._count)] for _ in columns]
        for row, moment in enumerate(at):
            if isnan(moment):
                continue
            place = min(int((moment - self._first) / self._seconds), self._count - 1)
            for target, column in zip(sorted_columns, columns, strict=True):
                if not isnan(column[row]):
                    target[place].append(column[row])
        return sorted_columns


_SHARES = (("median", 0.5), ("p90", 0.9))


def _quantile(name: str, spans: Sequence[Sequence[float]], share: float) -> Curve:
    return Curve(name, [stats.quantile(sorted(values), share) if values else None for values in spans])


def _clock(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
