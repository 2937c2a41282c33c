"""The figures behind the page's charts: by part, over k, and over the time that the run took."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from math import inf, isnan
from operator import attrgetter
from statistics import fmean

import msgspec

from model_accuracy_eval.records import DatasetResult, Interval, Timings, Usage
from model_accuracy_eval.run_folder.journal import AnswerLine
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

# When samples ended and how long they took: the figures behind the charts over time.


class Timeline(msgspec.Struct):
    """The times of one dataset's samples; unknown ones are NaN here, which no file ever sees."""

    at: list[float] = []
    """When each answered sample was there, in seconds since the epoch."""
    ttft: list[float] = []
    e2e: list[float] = []
    gap: list[float] = []
    per_token: list[float] = []
    """Time from the first text to the end for each further token; known of requests for one sample."""
    tokens: list[float] = []
    """Completion tokens; those of a request for several samples stand with the first of them."""
    failed_at: list[float] = []
    _last_request: str = ""

    def add(self, answer: AnswerLine) -> None:
        timings, usage = answer.timings, answer.usage
        self.at.append(_known(answer.at))
        self.ttft.append(_known(timings.ttft if timings else None))
        self.e2e.append(_known(timings.e2e if timings else None))
        self.gap.append(_known(timings.gap_mean if timings else None))
        # The samples of one request are written in one step, so they follow each other.
        again = bool(answer.request) and answer.request == self._last_request
        self._last_request = answer.request
        self.tokens.append(0.0 if again else _known(usage.completion_tokens if usage else None))
        if again:
            self.per_token[-1] = math.nan
        self.per_token.append(math.nan if again else _known(_per_token(timings, usage)))

    def lose(self, at: float | None) -> None:
        self.failed_at.append(_known(at))


def _per_token(timings: Timings | None, usage: Usage | None) -> float | None:
    tokens = usage.completion_tokens if usage else None
    if timings is None or timings.ttft is None or tokens is None or tokens < 2:
        return None
    return (timings.e2e - timings.ttft) / (tokens - 1)


def _known(value: float | None) -> float:
    return math.nan if value is None else value


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
        charts.append(CurveChart(result.dataset, "%", [str(k) for k in sizes], curves))
    return charts


def _repeated(
    known: Iterable[tuple[int, int, int]], estimate: Callable[[int, int, int], float], k: int
) -> Iterator[float]:
    """The estimates of all problems, of which so many have n samples and c right ones."""
    return chain.from_iterable(repeat(estimate(n, c, k), count) for n, c, count in known)


def over_time(timelines: Sequence[Timeline]) -> list[CurveChart]:
    """Latency, throughput and failures, from the first sample to the last; nothing if the journals have no times."""
    count, first, last = 0, inf, -inf
    for moment in (at for each in timelines for times in (each.at, each.failed_at) for at in times if not isnan(at)):
        count, first, last = count + 1, min(first, moment), max(last, moment)
    if count < 2 or last - first < 1e-3:
        return []
    return _TimeSpans(count, first, last).charts(timelines)


class _TimeSpans:
    """The time of a run in equal spans."""

    def __init__(self, count: int, first: float, last: float) -> None:
        self._first = first
        self._count = max(4, min(_SPANS, count // _SAMPLES_A_SPAN))
        self._seconds = (last - first) / self._count

    def charts(self, timelines: Sequence[Timeline]) -> list[CurveChart]:
        places = [_clock(self._seconds * (place + 1)) for place in range(self._count)]
        answered = list(map(len, self._by_span((each.at, each.e2e) for each in timelines)))
        lost = list(map(len, self._by_span((each.failed_at, each.failed_at) for each in timelines)))
        curves = {
            title: _quantiles(self._by_span((each.at, column(each)) for each in timelines))
            for title, column in _DURATIONS.items()
        }
        if _is_known(curves[_PER_TOKEN]):
            del curves[_BETWEEN_CHUNKS]
        charts = [CurveChart(title, "s", places, known) for title, known in curves.items() if _is_known(known)]
        tokens = self._by_span((each.at, each.tokens) for each in timelines)
        rates = [sum(values) / self._seconds for values in tokens]
        if any(rates):
            charts.append(CurveChart("Throughput", "tokens/s", places, [Curve("completion", rates)]))
            charts.append(
                CurveChart(
                    "Completion tokens",
                    "a request",
                    places,
                    _quantiles([value for value in values if value] for values in tokens),
                )
            )
        counted = [Curve("answered", [count / self._seconds for count in answered])]
        if any(lost):
            counted.append(Curve("failed", [count / self._seconds for count in lost]))
        return [*charts, CurveChart("Samples", "per second", places, counted)]

    def _by_span(self, columns: Iterable[tuple[list[float], list[float]]]) -> list[list[float]]:
        """Known values, each with its moment, by the span in which they were there."""
        spans: list[list[float]] = [[] for _ in range(self._count)]
        for moment, value in (pair for at, values in columns for pair in zip(at, values, strict=True)):
            if not (isnan(moment) or isnan(value)):
                spans[min(int((moment - self._first) / self._seconds), self._count - 1)].append(value)
        return spans


_PER_TOKEN, _BETWEEN_CHUNKS = "Time per token", "Gap between chunks"
_DURATIONS: dict[str, Callable[[Timeline], list[float]]] = {
    "Time to first text": attrgetter("ttft"),
    "Whole reply": attrgetter("e2e"),
    _PER_TOKEN: attrgetter("per_token"),
    _BETWEEN_CHUNKS: attrgetter("gap"),
}
"""The second is shown where there is none of the first."""


_SHARES = (("median", 0.5), ("p90", 0.9))


def _quantiles(spans: Iterable[Sequence[float]]) -> list[Curve]:
    places = [_quantiles_of(sorted(values)) for values in spans]
    return [Curve(name, [place[at] for place in places]) for at, (name, _) in enumerate(_SHARES)]


def _quantiles_of(sorted_values: Sequence[float]) -> list[float | None]:
    return [intervals.quantile(sorted_values, share) if sorted_values else None for _, share in _SHARES]


def _is_known(curves: Sequence[Curve]) -> bool:
    return any(value is not None for curve in curves for value in curve.values)


def _clock(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
