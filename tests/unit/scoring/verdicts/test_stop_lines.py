"""Which figure of the whole run decides a gate, and what a run of a size can show: the same as its verdict would be."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.stats import norm

from model_accuracy_eval.records import CaseCertainty, Certainty, Gate, SummaryRow
from model_accuracy_eval.scoring.verdicts import gates, sequential
from model_accuracy_eval.scoring.verdicts.gates import GateRule
from model_accuracy_eval.scoring.verdicts.sequential import BaselineFigure, PlannedSize, StopLines, stop_lines

Over = Literal["reruns", "problems", "point"]


def gate(comparison: str, threshold: float, *, from_baseline: bool = False) -> Gate:
    return Gate(
        dataset="sums",
        metric="accuracy",
        comparison=comparison,  # type: ignore[arg-type]
        threshold=threshold,
        from_baseline=from_baseline,
    )


def row(right: int, draws: int) -> SummaryRow:
    case = CaseCertainty(mean=right / draws, rerun_variance=None, freedom=0.0, flips=draws)
    known = Certainty(problems=draws, samples=1, draws=draws, worst=case, best=case)
    return SummaryRow(dataset="sums", version="", metric="accuracy", value=100 * right / draws, certainty=known)


def by_lines(lines: StopLines, share: float) -> str:
    if share >= lines.upper - 1e-12:
        return lines.above
    return lines.below if share <= lines.lower + 1e-12 else "undecided"


@given(
    comparison=st.sampled_from([">=", ">", "<=", "<"]),
    threshold=st.integers(1, 99),
    draws=st.sampled_from([5, 20, 77, 200]),
    over=st.sampled_from(["reruns", "point"]),
    number=st.integers(1, 4),
    data=st.data(),
)
def test_the_lines_are_those_of_the_whole_run(
    comparison: str, threshold: int, draws: int, over: Over, number: int, data: st.DataObject
) -> None:
    """A figure on or beyond a line is what the whole run would be decided by, in every comparison, with half of the
    error where reruns are allowed for."""
    right = data.draw(st.integers(0, draws))
    rule = GateRule(over, 0.95, number)
    lines = stop_lines(gate(comparison, threshold), draws, rule, drawn=True, base=None)
    assert lines is not None
    half = replace(rule, confidence=0.975) if over == "reruns" else rule
    whole = gates.result(gate(comparison, threshold), row(right, draws), None, half)
    assert by_lines(lines, right / draws) == whole.decision


def test_errors_are_halved_where_the_other_half_is_the_noise_of_reruns() -> None:
    """Two gates at 95 %: a pass may err in 5 %, a failure in 2.5 %, half of it each in the proof."""
    lines = stop_lines(gate(">=", 70), 200, GateRule("reruns", 0.95, 2), drawn=True, base=None)
    assert lines is not None
    assert lines.errors[1] == pytest.approx(0.025)
    assert lines.errors[0] == pytest.approx(0.0125)
    lines = stop_lines(gate("<=", 70), 200, GateRule("reruns", 0.95, 2), drawn=True, base=None)
    assert lines is not None
    assert lines.errors[0] == pytest.approx(0.025)
    computed = stop_lines(gate(">=", 70), 200, GateRule("reruns", 0.95, 1), drawn=False, base=None)
    assert computed is not None
    assert computed.errors[1] == pytest.approx(0.05)
    assert computed.upper == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("asked", "over"),
    [(gate("==", 70), "reruns"), (gate(">=", 70), "problems"), (gate(">=", -1, from_baseline=True), "reruns")],
)
def test_gates_that_need_the_whole_run(asked: Gate, over: Over) -> None:
    """An exact figure, other problems of the kind, and a baseline that lacks the figure."""
    assert stop_lines(asked, 200, GateRule(over), drawn=True, base=None) is None


def base(low: float, high: float, variance: float | None = None, *, alike: bool = True) -> BaselineFigure:
    return BaselineFigure(low, high, variance, 50.0, is_drawn_alike=alike)


def test_a_baseline_narrows_the_lines_only_where_it_was_drawn_alike() -> None:
    """Its samples say how much this run's vary, unless they were drawn in another way."""
    plain, alike, unlike = (
        stop_lines(gate(">=", 70), 1000, GateRule(), drawn=True, base=one)
        for one in (None, base(0.7, 0.7, 0.00002), base(0.7, 0.7, 0.00002, alike=False))
    )
    assert plain is not None
    assert alike is not None
    assert unlike is not None
    assert (plain.lower, plain.upper) == (unlike.lower, unlike.upper)
    assert plain.lower < alike.lower < 0.7 < alike.upper < plain.upper


COINS = (0.65 * 100 + 1) / 102 * (1 - (0.65 * 100 + 1) / 102) / 100


@pytest.mark.parametrize(
    ("before", "variance"),
    [(base(0.6, 0.7), COINS), (base(0.6, 0.7, 0.0004), 0.0004), (base(0.6, 0.7, 0.0004, alike=False), COINS)],
)
def test_both_runs_of_a_change_have_noise(before: BaselineFigure, variance: float) -> None:
    """As that of the baseline where it was drawn alike, else as much as coins of its share, two more of them tossed."""
    lines = stop_lines(gate(">=", -2, from_baseline=True), 100, GateRule(), drawn=True, base=before)
    half = norm.ppf(0.975) * np.sqrt(2 * variance) + 0.5 / 100
    assert lines is not None
    assert (lines.lower, lines.upper) == pytest.approx((0.58 - half, 0.68 + half))


def test_lost_samples_of_a_baseline_help_neither_side() -> None:
    """The line of a pass hangs on the best that the baseline may have been, that of a failure on the worst."""
    sure, unsure = (
        stop_lines(gate(">=", -1, from_baseline=True), 1000, GateRule(), drawn=True, base=one)
        for one in (base(0.7, 0.7), base(0.65, 0.75))
    )
    assert sure is not None
    assert unsure is not None
    assert unsure.upper - sure.upper == pytest.approx(0.05, abs=0.003)
    assert sure.lower - unsure.lower == pytest.approx(0.05, abs=0.003)


@pytest.mark.parametrize(
    ("comparison", "share", "decision"),
    [
        (">=", 0.70, "passed"), (">=", 0.69, "failed"), (">", 0.70, "failed"), (">", 0.71, "passed"),
        ("<=", 0.70, "passed"), ("<=", 0.71, "failed"), ("<", 0.70, "failed"), ("<", 0.69, "passed"),
    ],
)  # fmt: skip
def test_without_noise_a_change_is_compared_exactly(comparison: str, share: float, decision: str) -> None:
    """Likelihoods are computed: the figure of the whole run is the figure."""
    lines = stop_lines(
        gate(comparison, 0, from_baseline=True), 100, GateRule("point"), drawn=False, base=base(0.7, 0.7)
    )
    assert lines is not None
    assert by_lines(lines, share) == decision


@pytest.mark.parametrize(
    ("asked", "rule", "drawn", "sentence"),
    [
        (gate(">=", 70), GateRule(), True, "passes from 78.00, fails up to 61.00 at the latest (95 %)"),
        (gate("<=", 70), GateRule(), True, "fails from 78.00, passes up to 61.00 at the latest (95 %)"),
        (gate(">=", 70), GateRule("point"), True, "decided by the figure itself"),
        (gate(">=", 70), GateRule(), False, "decided by the figure itself"),
        (gate("==", 70), GateRule(), True, "decided by the figure itself"),
        (gate(">=", 70), GateRule("problems"), True, "other problems of the kind"),
        (gate(">=", -1, from_baseline=True), GateRule(), True, "changes of 11.63 points and more"),
    ],
)
def test_each_gate_has_its_sentence(asked: Gate, rule: GateRule, *, drawn: bool, sentence: str) -> None:
    """A hundred samples, by what the gate allows for."""
    assert sentence in sequential.can_show(asked, PlannedSize(20, 5), rule, of_samples=True, drawn=drawn)


def test_a_size_that_cannot_pass_says_so() -> None:
    """Not even all right answers of five problems show 70 %."""
    shown = sequential.can_show(gate(">=", 70), PlannedSize(5, 1), GateRule(), of_samples=True, drawn=True)
    assert "passes for no figure, because the size is too small" in shown


@given(requests=st.integers(1, 20_000), problems=st.integers(1, 3000), least=st.integers(1, 10))
@example(requests=10, problems=2, least=6)
@example(requests=3, problems=9, least=5)
def test_the_best_size_costs_no_more_and_misses_least(requests: int, problems: int, least: int) -> None:
    """No other size for the same requests has a smaller margin."""
    sizes = [*sequential.alternatives(requests, problems, least)]
    if requests < least:
        assert not sizes
        return
    assert all(1 <= size.problems <= problems and size.requests <= requests and size.n >= least for size in sizes)
    assert {size.n for size in sizes} >= {n for n in (1, 2, 5, 10) if least <= n <= requests}
    margins = [sequential.margin(size, problems, 0.7) for size in sizes]
    assert margins[0] <= min(margins) * 1.001


@pytest.mark.parametrize(("problems", "n", "error"), [(1319, 1, 0.90), (263, 5, 1.98), (131, 10, 2.85)])
def test_the_margin_is_what_simulated_services_show(problems: int, n: int, error: float) -> None:
    """1,319 requests of a benchmark of as many problems; its figure is missed by this much on the average."""
    random = np.random.default_rng(1)
    misses = []
    for _ in range(2000):
        chances = random.beta(0.7, 0.3, 1319)
        asked = random.choice(chances, problems, replace=False)
        misses.append(random.binomial(n, asked).mean() / n - chances.mean())
    margin = sequential.margin(PlannedSize(problems, n), 1319, 0.7)
    assert margin / 1.96 == pytest.approx(100 * float(np.std(misses)), rel=0.06)
    assert margin / 1.96 == pytest.approx(error, rel=0.03)
