"""How fast a service was, from time stamps that a clock of its own has made."""

import random
from collections.abc import Callable
from math import sqrt

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy import stats

from model_accuracy_eval.records import ClientLoad, Counts, DatasetResult, RunSpeed, SpeedFigure, TimedSample
from model_accuracy_eval.scoring.figures.run_speed import interval, of_shards, run_speed, speed_differences

IDLE = ClientLoad(since=0.0, busy=0.1, late=0.001)


def asked(count: int, at_once: int, seconds: float, *, begin: float = 1000.0, seed: int = 0) -> list[TimedSample]:
    """Requests by so many workers; each takes about so long, of which a tenth goes by before the first token."""
    draw = random.Random(seed)
    free = [begin + draw.random() * seconds / at_once for _ in range(at_once)]
    samples = []
    for number in range(count):
        worker = min(range(at_once), key=free.__getitem__)
        sent, e2e = free[worker], seconds * draw.uniform(0.8, 1.2)
        free[worker] = sent + e2e
        ttft = e2e / 10
        samples.append(TimedSample(f"r{number}", sent, ttft, e2e, e2e - ttft, 101.0))
    return samples


def measured(samples: list[TimedSample], client: ClientLoad = IDLE) -> RunSpeed:
    result = DatasetResult(dataset="a", version="1", rows=(), problem_results=(), counts=Counts(), timed=tuple(samples))
    speed = run_speed([result], client)
    assert speed is not None
    return speed


def loaded(samples: list[TimedSample]) -> tuple[float, float]:
    """From when until when nearly as many requests were under way as ever, counted in another way."""

    def busy(moment: float) -> int:
        return sum(each.sent <= moment < each.sent + each.e2e for each in samples)

    moments = [moment for each in samples for moment in (each.sent, each.sent + each.e2e)]
    most = max(map(busy, moments))
    full = [moment for moment in moments if busy(moment) >= 0.8 * most]
    return min(full), min(moment for moment in moments if moment > max(full))


TIMES: dict[str, Callable[[TimedSample], float]] = {
    "ttft": lambda each: 1000 * (each.ttft or 0.0),
    "tpot": lambda each: 10 * (each.writing or 0.0),
    "e2e": lambda each: 1000 * each.e2e,
}


@pytest.mark.parametrize(("count", "at_once", "seconds"), [(600, 8, 2.0), (300, 3, 0.5), (130, 5, 2.0), (90, 4, 4.0)])
def test_figures_are_those_of_the_parts_of_the_loaded_time(count: int, at_once: int, seconds: float) -> None:
    """Counted one by one. Times are in milliseconds; between tokens is the time of writing by one token less than there
    are; a request's tokens come evenly. As many parts as there can be: of 20 requests, and as long as one of them."""
    samples = asked(count, at_once, seconds)
    speed, (start, stop) = measured(samples), loaded(samples)
    inside = [each for each in samples if start <= each.sent <= stop]
    assert (speed.seconds, speed.requests) == (stop - start, len(inside))
    parts = min(20, len(inside) // 20, int((stop - start) / numpy.median([each.e2e for each in samples])))
    edges = numpy.linspace(start, stop, (parts if parts >= 5 else 1) + 1)

    def in_part(of: list[TimedSample], number: int) -> list[TimedSample]:
        return [each for each in of if edges[number] <= each.sent < edges[number + 1]]

    def share(each: TimedSample, begin: float, number: int) -> float:
        overlap = min(each.sent + each.e2e, edges[number + 1]) - max(begin, edges[number])
        return float(max(overlap, 0.0) / (each.sent + each.e2e - begin))

    def check(name: str, value: float, of_parts: list[float]) -> None:
        figure = speed.figures[name]
        assert figure.value == pytest.approx(value)
        if parts < 5:
            assert figure.stderr is None
        else:
            error = numpy.std(of_parts, ddof=1) / sqrt(parts) * stats.t.ppf(0.975, parts - 1) / stats.norm.ppf(0.975)
            assert figure.stderr == pytest.approx(error)

    for name, value_of in TIMES.items():
        for percent in (50, 95):
            groups = [inside, *(in_part(inside, number) for number in range(len(edges) - 1))]
            value, *of_parts = [
                float(numpy.percentile([value_of(each) for each in group], percent)) for group in groups
            ]
            check(f"{name}_p{percent}", value, of_parts)
    for name, amount, begin in (("tokens_per_s", 101.0, 0.1), ("requests_per_s", 1.0, 0.0)):
        of_parts = [
            amount
            * sum(share(each, each.sent + begin * each.e2e, number) for each in samples)
            / (edges[number + 1] - edges[number])
            for number in range(len(edges) - 1)
        ]
        check(name, float(numpy.mean(of_parts)), of_parts)
    assert speed.under_way == pytest.approx(
        sum(
            min(each.sent + each.e2e, stop) - max(each.sent, start)
            for each in samples
            if each.sent < stop and each.sent + each.e2e > start
        )
        / (stop - start)
    )


def test_rates_are_those_of_the_load() -> None:
    """8 workers with requests of 2 s make 4 requests and 404 tokens a second, whatever beginning and end were like."""
    samples = asked(600, 8, 2.0)
    straggler = TimedSample("late", samples[-1].sent, 1.0, 300.0, 299.0, 101.0)
    for these in (samples, [*samples, straggler]):
        speed = measured(these)
        assert speed.figures["requests_per_s"].value == pytest.approx(4.0, rel=0.03)
        assert speed.figures["tokens_per_s"].value == pytest.approx(404.0, rel=0.03)
        assert speed.under_way == pytest.approx(8.0, rel=0.05)


def test_intervals_hold_what_another_run_shows() -> None:
    """Of 100 runs of the same service, some 95 intervals hold the figure of all together."""
    runs = [measured(asked(400, 8, 2.0, seed=seed)) for seed in range(100)]
    for name in ("ttft_p50", "requests_per_s"):
        true = float(numpy.mean([run.figures[name].value for run in runs]))
        limits = [interval(run.figures[name]) for run in runs]
        held = sum(each.low <= true <= each.high for each in limits if each is not None)
        assert held >= 85, name


def test_a_slow_stretch_widens_them() -> None:
    """A service that stumbled for a third of the run is known less well than one with the same requests in turn."""
    steady = measured(asked(300, 4, 2.0))
    one, two = asked(150, 4, 2.0), asked(75, 4, 4.0, begin=1080.0, seed=1)
    stumbled = measured([*one, *(each._replace(request=f"s{each.request}") for each in two)])
    narrow, wide = steady.figures["tokens_per_s"].stderr, stumbled.figures["tokens_per_s"].stderr
    assert narrow is not None
    assert wide is not None
    assert wide > 3 * narrow


def test_requests_that_took_no_time_have_no_speed() -> None:
    """A coarse clock may give begin and end the same moment."""
    instant = DatasetResult(
        dataset="a",
        version="1",
        rows=(),
        problem_results=(),
        counts=Counts(),
        timed=(TimedSample("r", 1000.0, 0.0, 0.0, 0.0, 2.0),),
    )
    assert run_speed([instant], IDLE) is None


def test_too_few_have_figures_without_an_interval() -> None:
    assert {figure.stderr for figure in measured(asked(40, 8, 2.0)).figures.values()} == {None}


@pytest.mark.parametrize(
    ("client", "words"),
    [
        (IDLE, ""),
        (ClientLoad(since=0.0, busy=0.9, late=0.001), "the client itself was busy for 90 % of the time"),
        (ClientLoad(since=0.0, busy=0.1, late=0.05), "this machine let the client wait for up to 50.0 ms (p95)"),
    ],
)
def test_what_the_client_was_the_limit_of_is_said(client: ClientLoad, words: str) -> None:
    limited = measured(asked(200, 8, 2.0), client).limited
    assert limited.startswith(words)
    assert bool(limited) == bool(words)


def test_what_an_earlier_session_asked_does_not_count() -> None:
    """A run that goes on is measured from there; where nobody looked at the client, nothing is said."""
    before, since = asked(200, 8, 4.0), asked(400, 8, 2.0, begin=9000.0, seed=1)
    both = [*(each._replace(request=f"b{each.request}") for each in before), *since]
    assert measured(both, ClientLoad(since=8999.0, busy=0.1, late=0.0)).figures == measured(since).figures
    assert run_speed([], IDLE) is None
    assert run_speed([], None) is None


def test_choices_of_a_request_are_one_request() -> None:
    """Five choices bring five times the tokens; requests are not more."""
    samples = asked(300, 4, 2.0)
    fivefold = [each for each in samples for _ in range(5)]
    one, five = measured(samples), measured(fivefold)
    assert five.figures["requests_per_s"] == one.figures["requests_per_s"]
    assert five.figures["tokens_per_s"].value == pytest.approx(5 * one.figures["tokens_per_s"].value)


FIGURES = st.tuples(st.floats(1.0, 1e4), st.floats(0.1, 50.0) | st.none())


def of_one(figure: tuple[float, float | None], *more: str, under_way: float = 8.0, limited: str = "") -> RunSpeed:
    value, stderr = figure
    figures = dict.fromkeys(("tokens_per_s", *more), SpeedFigure(value=value, stderr=stderr))
    return RunSpeed(figures=figures, under_way=under_way, seconds=60.0, requests=900, client=IDLE, limited=limited)


@given(st.lists(FIGURES, min_size=1, max_size=4))
def test_shards_have_the_mean_of_their_figures(figures: list[tuple[float, float | None]]) -> None:
    """And its error, where that of each is known; of a figure that one of them lacks nothing is said."""
    shards = [of_one(figure, *["e2e_p50"] * (place > 0), under_way=place) for place, figure in enumerate(figures)]
    found = of_shards(shards)
    assert found.figures.keys() == {"tokens_per_s"}
    values, errors = zip(*figures, strict=True)
    assert found.figures["tokens_per_s"].value == pytest.approx(numpy.mean(values))
    known = None if None in errors else pytest.approx(numpy.linalg.norm(numpy.array(errors, float)) / len(errors))
    assert found.figures["tokens_per_s"].stderr == known
    count = len(shards)
    assert (found.under_way, found.seconds, found.requests) == ((count - 1) / 2, 60.0 * count, 900 * count)
    assert found.shards == count


def test_shards_are_as_limited_as_their_busiest_client() -> None:
    busy = ClientLoad(since=0.0, busy=0.9, late=0.5)
    shards = [
        of_one((1.0, None)),
        replace(of_one((1.0, None), limited="it was busy"), client=busy),
        of_one((1.0, None)),
    ]
    assert (of_shards(shards).client, of_shards(shards).limited) == (busy, "it was busy")


@given(FIGURES, FIGURES)
def test_a_difference_is_as_unsure_as_both_runs(
    old: tuple[float, float | None], new: tuple[float, float | None]
) -> None:
    """In per cent of the older figure: relative errors add up in squares."""
    (difference,) = speed_differences(of_one(old, "e2e_p50"), of_one(new))
    points = 100 * (new[0] / old[0] - 1)
    assert (difference.old, difference.new) == (old[0], new[0])
    assert difference.points == pytest.approx(points)
    if old[1] is None or new[1] is None:
        assert (difference.stderr, difference.interval) == (None, None)
        return
    error = 100 * numpy.hypot(new[1] / old[0], new[0] * old[1] / old[0] ** 2)
    assert difference.stderr == pytest.approx(error)
    assert difference.interval is not None
    low, high = stats.norm.interval(0.95, points, error)
    assert (difference.interval.low, difference.interval.high) == pytest.approx((low, high), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, of_one((1.0, 0.1))),
        (of_one((1.0, 0.1)), None),
        (of_one((1.0, 0.1), limited="busy"), of_one((1.0, 0.1))),
        (of_one((1.0, 0.1)), of_one((1.0, 0.1), limited="busy")),
        (of_one((1.0, 0.1), under_way=8.0), of_one((1.0, 0.1), under_way=8.9)),
        (of_one((1.0, 0.1), under_way=8.9), of_one((1.0, 0.1), under_way=8.0)),
        (of_one((0.0, 0.1)), of_one((1.0, 0.1))),
    ],
)
def test_what_is_not_comparable_has_no_difference(old: RunSpeed | None, new: RunSpeed | None) -> None:
    """Not measured, not the service's, under another load, or nothing to be a share of."""
    assert speed_differences(old, new) == ()
