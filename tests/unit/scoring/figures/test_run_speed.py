"""How fast a service was, from time stamps that a clock of its own has made."""

import random

import numpy
import pytest

from model_accuracy_eval.records import ClientLoad, Counts, DatasetResult, RunSpeed, TimedSample
from model_accuracy_eval.scoring.figures.run_speed import interval, run_speed

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


def test_latencies_are_numpys_percentiles_of_the_loaded_time() -> None:
    """In milliseconds; between tokens is the time of writing by one token less than there are."""
    samples = asked(600, 8, 2.0)
    speed, (start, stop) = measured(samples), loaded(samples)
    inside = [each for each in samples if start <= each.sent <= stop]
    assert (speed.seconds, speed.requests) == (stop - start, len(inside))
    for percent in (50, 95):
        for name, values in (
            ("ttft", [1000 * (each.ttft or 0) for each in inside]),
            ("tpot", [10 * (each.writing or 0) for each in inside]),
            ("e2e", [1000 * each.e2e for each in inside]),
        ):
            assert speed.figures[f"{name}_p{percent}"].value == pytest.approx(numpy.percentile(values, percent))


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
        (ClientLoad(since=0.0, busy=0.1, late=0.5), "this machine let the client wait for up to 500.0 ms (p95)"),
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
