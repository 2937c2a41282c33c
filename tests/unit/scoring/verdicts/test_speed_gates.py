"""Gates on how fast a service was: decided with its interval, and left open where that is not known."""

from typing import Any

import pytest

from model_accuracy_eval.records import ClientLoad, Comparison, GateResult, RunPlan, RunSpeed, SpeedFigure
from model_accuracy_eval.scoring.figures.run_speed import speed_differences
from model_accuracy_eval.scoring.verdicts import gate_lines, gates

CLIENT = ClientLoad(since=0.0, busy=0.1, late=0.001)


def speed(value: float, stderr: float | None, *, limited: str = "", under_way: float = 32.0) -> RunSpeed:
    figures = dict.fromkeys(("ttft_p95", "tokens_per_s"), SpeedFigure(value=value, stderr=stderr))
    return RunSpeed(figures=figures, under_way=under_way, seconds=60.0, requests=900, client=CLIENT, limited=limited)


def decided(line: str, now: RunSpeed | None, before: RunSpeed | None = None, **settings: Any) -> GateResult:
    resolved = gate_lines.resolve(gate_lines.parse(line), {}, {})
    plan = RunPlan(run_id="0" * 32, stamp="s", tasks=(), gates=resolved).with_settings(**settings)
    compared = Comparison(base="b", new="n", changes=(), speed=speed_differences(before, now)) if before else None
    (result,) = gates.results(plan, [], compared, speed=now)
    return result


@pytest.mark.parametrize(
    ("line", "value", "stderr", "decision"),
    [
        ("speed: ttft_p95 <= 800ms", 700.0, 20.0, "passed"),
        ("speed: ttft_p95 <= 800ms", 790.0, 20.0, "undecided"),
        ("speed: ttft_p95 <= 0.8s", 900.0, 20.0, "failed"),
        ("speed: tokens_per_s >= 800", 900.0, 20.0, "passed"),
        ("speed: tokens_per_s >= 800", 700.0, 20.0, "failed"),
        ("speed: tokens_per_s >= 800", 900.0, None, "undecided"),
    ],
)
def test_it_is_decided_with_its_interval(line: str, value: float, stderr: float | None, decision: str) -> None:
    """Times by their highest, rates by their lowest end; without an interval nothing is known."""
    result = decided(line, speed(value, stderr))
    assert result.decision == decision, result.sentence
    if stderr is None:
        assert "60.0 s with 900 requests are too few to see how much it varies" in result.sentence


@pytest.mark.parametrize(("now", "decision"), [(990.0, "passed"), (955.0, "undecided"), (900.0, "failed")])
def test_a_change_is_one_in_per_cent(now: float, decision: str) -> None:
    """Both runs have their share in how sure it is."""
    result = decided("speed: tokens_per_s >= baseline - 5%", speed(now, 8.0), speed(1000.0, 8.0))
    assert result.decision == decision, result.sentence
    assert f"tokens_per_s is {now:.2f} and was 1000.00: {(now - 1000) / 10:.2f}" in result.sentence
    assert "points" not in result.sentence


@pytest.mark.parametrize(
    ("line", "now", "before", "words"),
    [
        ("speed: ttft_p95 <= 800ms", None, None, "it was not measured"),
        (
            "speed: ttft_p95 <= 800ms",
            speed(1.0, 0.1, limited="the client was busy"),
            None,
            "the client was busy: ask with",
        ),
        (
            "speed: ttft_p95 <= baseline + 5%",
            speed(1.0, 0.1),
            speed(1.0, 0.1, under_way=64.0),
            "another number of requests",
        ),
        ("speed: ttft_p95 <= baseline + 5%", speed(1.0, 0.1), speed(1.0, 0.1, limited="it was"), "another number of"),
    ],
)
def test_no_verdict_where_the_service_was_not_what_was_measured(
    line: str, now: RunSpeed | None, before: RunSpeed | None, words: str
) -> None:
    """However far the figure is from the line, and whatever it is that gates allow for."""
    for gate_on in ("reruns", "point"):
        result = decided(line, now, before, gate_on=gate_on)
        assert result.decision == "undecided"
        assert words in result.sentence
