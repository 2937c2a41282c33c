"""How fast a service was, from the requests of the evaluation itself: of a dataset, times and tokens of its samples; of
the run, the figures that gates are about, and what changed since another run.

The run's figures are those of the time while as many requests were under way as it allows. The beginning, when requests
come one after the other, and the end, when the last long answers run alone, are left out. What remains is cut into
parts of equal length, none shorter than a request takes: their figures differ as much as the service's pace does, which
gives each figure its interval (batch means).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import fsum, sqrt
from typing import NamedTuple

import numpy
from msgspec import UNSET
from numpy.typing import NDArray

from model_accuracy_eval.records import (
    Attempt,
    ClientLoad,
    DatasetResult,
    Difference,
    Gate,
    GateResult,
    Interval,
    RunSpeed,
    Speed,
    SpeedFigure,
    Spread,
    SummaryRow,
    TimedSample,
    Timings,
    Usage,
)
from model_accuracy_eval.records.plan import SPEED, speed_unit
from model_accuracy_eval.scoring.answers import cleaning
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.intervals import Z95
from model_accuracy_eval.scoring.figures.quantiles import t_quantile

# Of one dataset.


Lengths = tuple[int, int]
"""Characters of thought and of answer."""


def tokens_by_length(usage: Usage, lengths: Sequence[Lengths]) -> list[tuple[float, float]]:
    """Tokens of thought and of answer of each choice of a request; none if they were not counted.

    Services count a request's choices together, so each gets its share by its characters.
    """
    total, thoughts, answers = usage.completion_tokens, *(sum(parts) for parts in zip(*lengths, strict=True))
    if total is None:
        return []
    counted = usage.reasoning_tokens or (total * thoughts / (thoughts + answers) if thoughts else 0.0)

    def shares(tokens: float, parts: Sequence[int], whole: int) -> list[float]:
        # Some services count thoughts that they do not show.
        return [tokens * part / whole if whole else tokens / len(parts) for part in parts]

    of_thoughts = shares(counted, [each for each, _ in lengths], thoughts)
    of_answers = shares(max(0.0, total - counted), [each for _, each in lengths], answers)
    return list(zip(of_thoughts, of_answers, strict=True))


class Stopwatch:
    """Collects the timings of samples. Tokens of a request count once, however many samples share it."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {"ttft": [], "e2e": [], "gap_mean": []}
        self._usages: dict[str, Usage] = {}
        """Of the first sample of each request."""
        self._uncounted: set[str] = set()
        self._lengths: dict[str, list[Lengths]] = defaultdict(list)
        """Of the samples of each request."""
        self._came: dict[str, list[tuple[Timings, float]]] = defaultdict(list)
        """Timings of the samples of each request, and when they came."""

    def add(self, attempt: Attempt) -> Lengths:
        if attempt.timings is not None:
            for name, seconds in self._seconds.items():
                if (measured := getattr(attempt.timings, name)) is not None:
                    seconds.append(measured)
            if attempt.usage is None or attempt.usage.completion_tokens is None:
                self._uncounted.add(attempt.request)
            if attempt.at is not None:
                self._came[attempt.request].append((attempt.timings, attempt.at))
        if attempt.usage is not None:
            self._usages.setdefault(attempt.request, attempt.usage)
        lengths = cleaning.lengths(attempt.text, attempt.reasoning)
        self._lengths[attempt.request].append(lengths)
        return lengths

    @property
    def tokens(self) -> list[tuple[float, float]]:
        """Tokens of thought and of answer of every sample whose tokens were counted."""
        known = ((usage, self._lengths[request]) for request, usage in self._usages.items())
        return [each for usage, lengths in known for each in tokens_by_length(usage, lengths)]

    def timed(self) -> Iterator[TimedSample]:
        """The samples with their times on the clock, as far as these are known."""
        for request, came in self._came.items():
            # The choices of a request are kept together, when the last one is there.
            sent = min(at for _, at in came) - max(timings.e2e for timings, _ in came)
            usage, lengths = self._usages.get(request), self._lengths[request]
            tokens = tokens_by_length(usage, lengths) if usage and len(lengths) == len(came) else []
            for place, (timings, _) in enumerate(came):
                writing = None if timings.gap_mean is None else timings.gap_mean * (timings.chunks - 1)
                counted = sum(tokens[place]) if tokens else None
                yield TimedSample(request, sent, timings.ttft, timings.e2e, writing, counted)

    def speed(self) -> Speed:
        ttft, e2e, gap = map(_spread, self._seconds.values())
        completion_tokens = _total(usage.completion_tokens for usage in self._usages.values())
        tokens = self.tokens
        thinks = any(thought for thought, _ in tokens)
        return Speed(
            ttft=ttft,
            e2e=e2e,
            gap=gap,
            thought=_spread([thought for thought, _ in tokens if thought]),
            answer=_spread([answer for _, answer in tokens]) if thinks else None,
            prompt_tokens=_total(usage.prompt_tokens for usage in self._usages.values()),
            completion_tokens=completion_tokens,
            uncounted=len(self._uncounted) if self._uncounted and completion_tokens is not None else UNSET,
        )


def _total(counts: Iterable[int | None]) -> int | None:
    """None: none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    in_order = sorted(values)
    quantiles = {f"p{percent}": intervals.quantile(in_order, percent / 100) for percent in (50, 90, 95, 99)}
    return Spread(mean=fsum(values) / len(values), maximum=in_order[-1], **quantiles)


# Of the run.


_FULL = 0.8
"""Of the most requests that were under way: from here on the service counts as loaded."""
_PARTS, _FEWEST_PARTS, _OF_A_PART = 20, 5, 20
"""At most so many parts; with fewer than the second number there is no interval; requests of a part, at least."""
_BUSY, _LATE = 0.8, 0.1
"""Share of its time for which the client may have been busy, and of the median time to the first token by which it may
have been late, before it may be what was measured."""
_MS = 1000.0
Numbers = NDArray[numpy.float64]


class _Latency(NamedTuple):
    """Milliseconds of each sample that has them, and when it was sent."""

    sent: Numbers
    values: Numbers


def run_speed(dataset_results: Iterable[DatasetResult], client: ClientLoad | None) -> RunSpeed | None:
    """None: nothing was asked, or nobody knows whether the client was the limit."""
    if client is None:
        return None
    samples = [each for result in dataset_results for each in result.timed if each.sent >= client.since]
    requests: dict[str, list[TimedSample]] = defaultdict(list)
    for sample in samples:
        requests[sample.request].append(sample)
    if not requests:
        return None
    begins = numpy.array([min(each.sent for each in group) for group in requests.values()])
    ends = numpy.array([max(each.sent + each.e2e for each in group) for group in requests.values()])
    start, stop = _loaded(begins, ends)
    seconds = stop - start
    if seconds <= 0:
        return None
    inside = [each for each in samples if start <= each.sent <= stop]
    of_them = int(numpy.sum((begins >= start) & (begins <= stop)))
    parts = int(min(_PARTS, of_them // _OF_A_PART, seconds / float(numpy.median(ends - begins))))
    edges = numpy.linspace(start, stop, parts + 1 if parts >= _FEWEST_PARTS else 2)
    figures = {
        **_latencies("ttft", [(each.sent, each.ttft) for each in inside], edges),
        **_latencies("tpot", [(each.sent, _between(each)) for each in inside], edges),
        **_latencies("e2e", [(each.sent, each.e2e) for each in inside], edges),
    }
    counted = [each for each in samples if each.tokens is not None]
    if counted and len(counted) == len(samples):
        first = numpy.array([each.sent + (each.ttft or 0.0) for each in counted])
        last = numpy.array([each.sent + each.e2e for each in counted])
        figures["tokens_per_s"] = _rate(first, last, numpy.array([each.tokens for each in counted]), edges)
    figures["requests_per_s"] = _rate(begins, ends, numpy.ones(len(begins)), edges)
    return RunSpeed(
        figures=figures,
        under_way=float(_progress(numpy.array([start, stop]), begins, ends, ends - begins)[0] / seconds),
        seconds=seconds,
        requests=of_them,
        client=client,
        limited=_limited(client, figures.get("ttft_p50")),
    )


def _loaded(begins: Numbers, ends: Numbers) -> tuple[float, float]:
    """From when on, and until when, nearly as many requests were under way as ever."""
    times = numpy.concatenate([begins, ends])
    steps = numpy.concatenate([numpy.ones(len(begins)), -numpy.ones(len(ends))])
    order = numpy.lexsort((steps, times))
    under_way = numpy.cumsum(steps[order])
    full = numpy.flatnonzero(under_way >= _FULL * under_way.max())
    return float(times[order][full[0]]), float(times[order][min(full[-1] + 1, len(order) - 1)])


def _between(sample: TimedSample) -> float | None:
    """Seconds between tokens."""
    if sample.writing is None or sample.tokens is None or sample.tokens <= 1:
        return None
    return sample.writing / (sample.tokens - 1)


def _latencies(name: str, pairs: Iterable[tuple[float, float | None]], edges: Numbers) -> dict[str, SpeedFigure]:
    known = [(sent, value * _MS) for sent, value in pairs if value is not None]
    if not known:
        return {}
    latency = _Latency(*map(numpy.array, zip(*known, strict=True)))
    place = numpy.clip(numpy.searchsorted(edges, latency.sent, side="right") - 1, 0, len(edges) - 2)
    of_parts = [latency.values[place == part] for part in range(len(edges) - 1)]
    return {
        f"{name}_p{percent}": _figure(
            float(numpy.percentile(latency.values, percent)),
            [float(numpy.percentile(each, percent)) for each in of_parts if len(each)],
            len(edges) - 1,
        )
        for percent in (50, 95)
    }


def _rate(begins: Numbers, ends: Numbers, amounts: Numbers, edges: Numbers) -> SpeedFigure:
    """A second. What a request brings, it brings evenly over its time."""
    of_parts = _progress(edges, begins, ends, amounts) / numpy.diff(edges)
    return _figure(float(numpy.mean(of_parts)), of_parts.tolist(), len(of_parts))


def _progress(edges: Numbers, begins: Numbers, ends: Numbers, amounts: Numbers) -> Numbers:
    """How much came between each two edges."""
    lengths = numpy.maximum(ends - begins, 1e-9)
    until = [float(numpy.sum(amounts * numpy.clip((edge - begins) / lengths, 0.0, 1.0))) for edge in edges]
    return numpy.diff(numpy.array(until))


def _figure(value: float, of_parts: Sequence[float], parts: int) -> SpeedFigure:
    """`of_parts`: the same figure of each part; a part without one leaves the interval unknown, as too few do."""
    if parts < _FEWEST_PARTS or len(of_parts) < parts:
        return SpeedFigure(value=value)
    # Few parts know their spread badly: Student's t says how much wider the interval has to be.
    wider = t_quantile(0.975, parts - 1) / Z95
    stderr = wider * float(numpy.std(of_parts, ddof=1)) / sqrt(parts)
    return SpeedFigure(value=value, stderr=stderr)


def _limited(client: ClientLoad, first: SpeedFigure | None) -> str:
    """Why the figures may be those of the client; empty if they are the service's."""
    if client.busy > _BUSY:
        return f"the client itself was busy for {100 * client.busy:.0f} % of the time"
    if first is not None and client.late * _MS > _LATE * first.value:
        return (
            f"this machine let the client wait for up to {client.late * _MS:,.1f} ms (p95), and the first token came "
            f"after {first.value:,.1f} ms"
        )
    return ""


def of_shards(speeds: Sequence[RunSpeed]) -> RunSpeed:
    """How fast the services of these shards were in the mean: each was asked by a machine of its own, maybe at another
    time, so their requests are not put together."""
    names = [name for name in speeds[0].figures if all(name in each.figures for each in speeds)]
    return RunSpeed(
        figures={name: _mean([each.figures[name] for each in speeds]) for name in names},
        under_way=float(numpy.mean([each.under_way for each in speeds])),
        seconds=sum(each.seconds for each in speeds),
        requests=sum(each.requests for each in speeds),
        client=max((each.client for each in speeds), key=lambda client: (client.busy, client.late)),
        limited=next(filter(None, (each.limited for each in speeds)), ""),
        shards=len(speeds),
    )


def _mean(figures: Sequence[SpeedFigure]) -> SpeedFigure:
    value = sum(each.value for each in figures) / len(figures)
    errors = [each.stderr for each in figures if each.stderr is not None]
    known = len(errors) == len(figures)
    return SpeedFigure(value=value, stderr=sqrt(sum(each**2 for each in errors)) / len(figures) if known else None)


# For gates.


def rows(speed: RunSpeed | None) -> list[SummaryRow]:
    """Each figure as a line of its own dataset."""
    return [
        SummaryRow(
            dataset=SPEED,
            version="",
            metric=name,
            value=figure.value,
            interval=interval(figure),
            stderr=figure.stderr,
            higher_is_better=not speed_unit(name),
            share=False,
        )
        for name, figure in (speed.figures.items() if speed else ())
    ]


def interval(figure: SpeedFigure) -> Interval | None:
    """95 %."""
    if figure.stderr is None:
        return None
    return Interval(low=figure.value - Z95 * figure.stderr, high=figure.value + Z95 * figure.stderr)


_ALIKE = 0.1
"""By which share the numbers of requests under way may differ in two runs that are compared."""


def speed_differences(old: RunSpeed | None, new: RunSpeed | None) -> tuple[Difference, ...]:
    """In per cent of the older figures; none where one of the runs was not measured, or not under the same load."""
    if old is None or new is None or old.limited or new.limited:
        return ()
    if abs(new.under_way - old.under_way) > _ALIKE * old.under_way:
        return ()
    names = [name for name in new.figures if name in old.figures and old.figures[name].value > 0]
    return tuple(_difference(name, old, new) for name in names)


def _difference(name: str, old: RunSpeed, new: RunSpeed) -> Difference:
    was, now = old.figures[name], new.figures[name]
    ratio, stderr, interval = now.value / was.value, None, None
    if was.stderr is not None and now.stderr is not None:
        stderr = 100 * ratio * sqrt((was.stderr / was.value) ** 2 + (now.stderr / max(now.value, 1e-12)) ** 2)
        points = 100 * (ratio - 1)
        interval = Interval(low=points - Z95 * stderr, high=points + Z95 * stderr)
    return Difference(
        metric=name, old=was.value, new=now.value, points=100 * (ratio - 1), interval=interval, stderr=stderr
    )


def open_gate(gate: Gate, speed: RunSpeed | None, difference: Difference | None) -> GateResult | None:
    """The result of a gate that cannot be decided on what was measured, with the reason; None: it can."""
    figure = speed.figures.get(gate.metric) if speed else None
    if speed is None or figure is None:
        value, reason = None, "it was not measured"
    elif speed.limited:
        value, reason = figure.value, f"{speed.limited}: ask with fewer requests at once, or from another machine"
    elif gate.from_baseline and difference is None:
        value, reason = figure.value, "the baseline was measured with another number of requests at once, or not at all"
    elif (difference.stderr if difference else figure.stderr) is None:
        value = figure.value
        reason = f"{speed.seconds:,.1f} s with {speed.requests:,} requests are too few to see how much it varies"
    else:
        return None
    shown = f"{gate.metric} is {f'{value:,.2f} {speed_unit(gate.metric)}'.rstrip()}, and " if value is not None else ""
    return GateResult(gate=gate, value=value, decision="undecided", sentence=f"{gate} undecided: {shown}{reason}.")
