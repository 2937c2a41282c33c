"""Gates: decided on what a run knows of its figures, and said with the numbers that decided."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from model_accuracy_eval.records import (
    Certainty,
    ChangeCertainty,
    Comparison,
    Counts,
    DatasetChange,
    DatasetResult,
    Decision,
    Difference,
    FigureBounds,
    Gate,
    GateResult,
    Interval,
    RunPlan,
    Sampling,
    Settings,
    Speed,
    SummaryRow,
    TaskGroup,
)
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.quantiles import share_limits
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule, rule

COMPARISONS = (">=", ">", "<=", "<", "==")
POINT = GateRule("point")


def row(value: float | None, metric: str = "avg@5", dataset: str = "demo") -> SummaryRow:
    return SummaryRow(dataset=dataset, version="0ba9da", metric=metric, value=value)


def sampled(correct: list[int], n: int) -> SummaryRow:
    """The figure of problems with so many right samples each."""
    values = [c / n for c in correct]
    noises = [intervals.noise("runs", "", [1.0] * c + [0.0] * (n - c)) for c in correct]
    case = intervals.case(values, noises, n)
    known = Certainty(problems=len(correct), samples=n, draws=n * len(correct), worst=case, best=case)
    return replace(row(100 * sum(values) / len(values)), certainty=known)


def gate(comparison: Any, threshold: float = 60) -> Gate:
    return Gate(dataset="demo", metric="avg@5", comparison=comparison, threshold=threshold)


def on_baseline(comparison: Any, points: float) -> Gate:
    return Gate(dataset="demo", metric="avg@5", comparison=comparison, threshold=points, from_baseline=True)


def result(
    gate: Gate, row: SummaryRow | None, rule: GateRule = POINT, comparison: Comparison | None = None
) -> GateResult:
    return gates.result(gate, row, comparison, rule)


def decide(gate: Gate, row: SummaryRow | None, rule: GateRule = POINT) -> Decision:
    return result(gate, row, rule).decision


def compared(difference: Difference) -> Comparison:
    change = DatasetChange(
        dataset="demo", old_version="1", new_version="1", problems=9, differences=(difference,),
        old_counts=Counts(), new_counts=Counts(), old_speed=Speed(), new_speed=Speed(),
    )  # fmt: skip
    return Comparison(base="a" * 32, new="b" * 32, changes=(change,))


def changed(points: float, stderr: float) -> Comparison:
    """A baseline at 70, and a figure so many points above it; each end lies two errors away."""
    known = ChangeCertainty(problems=10**9, worst=points, worst_stderr=stderr, best=points, best_stderr=stderr)
    return compared(Difference(metric="avg@5", old=70, new=70 + points, points=points, certainty=known))


@pytest.mark.parametrize(
    ("comparison", "passing"), [(">=", (60, 61)), (">", (61,)), ("<=", (59, 60)), ("<", (59,)), ("==", (60,))]
)
def test_each_comparison_means_what_it_means(comparison: str, passing: tuple[int, ...]) -> None:
    """Below, at and above the threshold."""
    decisions = [decide(gate(comparison), row(value)) for value in (59, 60, 61)]
    assert decisions == ["passed" if value in passing else "failed" for value in (59, 60, 61)]


def test_a_figure_that_rounding_pushed_below_still_reaches_its_line() -> None:
    """A mean of ratios may come out as 59.999999999999; a figure that is really below does not pass."""
    assert decide(gate(">="), row(59.999999999999)) == "passed"
    assert decide(gate("=="), row(60.000000000001)) == "passed"
    assert decide(gate(">"), row(60.000000000001)) == "failed"
    assert decide(gate(">="), row(59.9999)) == "failed"
    assert decide(gate(">="), row(100 * (0.1 + 0.2 + 0.3) / 1)) == "passed"


def test_without_a_figure_nothing_is_decided() -> None:
    """Neither a pass nor a failure, whether the row is empty or not there."""
    assert decide(gate("<"), row(None)) == decide(gate("<"), None) == "undecided"


def test_every_gate_stands_beside_the_figure_it_met() -> None:
    """With the figure's interval and a sentence with both numbers."""
    span = Interval(low=20, high=40)
    passed = result(gate(">="), replace(row(70), interval=span))
    failed = result(gate(">", 50), row(30.123))
    undecided = result(gate(">", 50), None)
    assert (passed.decision, passed.value, passed.interval) == ("passed", 70, span)
    assert passed.sentence == "demo: avg@5 >= 60 passed: avg@5 is 70.00."
    assert (failed.decision, failed.sentence) == ("failed", "demo: avg@5 > 50 failed: avg@5 is 30.12.")
    assert (undecided.decision, undecided.value) == ("undecided", None)
    assert undecided.sentence == "demo: avg@5 > 50 undecided: avg@5 is no figure."


SOME_RIGHT = [4] * 80 + [3] * 60 + [1] * 60
"""200 problems: 56 per cent, 2.6 points of which are chance."""


@pytest.mark.parametrize(
    ("comparison", "threshold", "decision"),
    [
        (">=", 53, "passed"),
        (">=", 55.5, "undecided"),
        (">=", 56.5, "undecided"),
        (">=", 60, "failed"),
        ("<=", 60, "passed"),
        ("<=", 56.5, "undecided"),
        ("<=", 53, "failed"),
        ("==", 56, "passed"),
        ("==", 56.1, "failed"),
    ],
)
def test_a_figure_decides_as_far_as_it_is_known(comparison: str, threshold: float, decision: str) -> None:
    """Near its line it decides nothing, on either side; `==` asks for the figure itself."""
    assert decide(gate(comparison, threshold), sampled(SOME_RIGHT, 5), GateRule()) == decision


def test_sentences_have_the_numbers_that_decided() -> None:
    """What passed could hardly be below its line, what failed hardly above, and what is open says how to close it."""
    known = sampled(SOME_RIGHT, 5)
    passed, failed, undecided = (result(gate(">=", line), known, GateRule()).sentence for line in (53, 60, 55))
    assert passed == "demo: avg@5 >= 53 passed: avg@5 is 56.00, at least 53.36 if asked again (95 %)."
    assert failed == "demo: avg@5 >= 60 failed: avg@5 is 56.00, at most 58.62 if asked again (95 %)."
    assert undecided == (
        "demo: avg@5 >= 55 undecided: avg@5 is 56.00, and 53.36 to 58.62 if asked again (95 %). A run of this size "
        "shows differences of 2.64 points and more; one of 1.00 takes about 200 problems × 35 samples."
    )
    other = result(gate(">=", 55), known, GateRule("problems"))
    assert "on problems of the kind (95 %)" in other.sentence
    assert "problems × 5 samples." in other.sentence
    on_line = result(gate(">=", 56), known, GateRule()).sentence
    assert "avg@5 is 56.00, and" in on_line
    assert "on the line itself no size decides" in on_line


def test_a_failure_among_many_gates_has_to_be_surer() -> None:
    """Of twenty gates that all hold exactly, one would fail by chance; what passed needs no correction."""
    known = sampled(SOME_RIGHT, 5)
    single, many = GateRule(), GateRule(gates=20)
    assert decide(gate(">=", 58.8), known, single) == "failed"
    assert decide(gate(">=", 58.8), known, many) == "undecided"
    assert decide(gate(">=", 53.3), known, many) == decide(gate(">=", 53.3), known, single) == "passed"


@pytest.mark.parametrize(
    ("answered", "anomalous", "anomalies", "value"),
    [
        (200, 3, {"empty": 3}, 1.5),
        (4, 4, {"empty": 4}, 100),
        (4, 5, {"empty": 5}, 100),  # what was rejected may be odd, too
        (4, 0, {}, 0),
        (0, 0, {}, None),
        (4, 0, None, None),  # nobody has looked
    ],
)
def test_odd_replies_are_counted_in_per_cent_of_the_answers(
    answered: int, anomalous: int, anomalies: dict[str, int] | None, value: float | None
) -> None:
    result = DatasetResult(
        dataset="demo",
        version="0ba9da",
        rows=(),
        problem_results=(),
        counts=Counts(answered=answered, anomalous=anomalous),
        anomalies=anomalies,
    )
    found = gates.of_counts([result])
    assert [(row.metric, row.value, row.drawn) for row in found] == (
        [] if value is None else [("anomalies", value, False)]
    )


def lines(*gates: Gate, on_undecided: str = "pass") -> GateRule:
    settings = Settings(on_undecided=on_undecided)  # type: ignore[arg-type]
    return rule(RunPlan(run_id="0", stamp="", settings=settings, sampling=Sampling(), tasks=(), gates=gates))


def test_passes_that_count_by_themselves_have_to_be_surer() -> None:
    """Of twenty figures on their lines one or more passes falsely in 61 of 100 runs; that matters only where an
    undecided gate does not hold the run up, and there it is no more than 5, and said."""
    twenty = [replace(gate(">="), dataset=f"demo{at}") for at in range(20)]
    each, together = lines(*twenty), lines(*twenty, on_undecided="block")
    random = np.random.default_rng(20)
    counts, false = random.binomial(200, 0.7, (400, 20)), dict.fromkeys((each, together), 0)
    for decided_by in false:
        for run in counts:
            passed = [share_limits(int(c), 200, decided_by.confidences(twenty[0])[0])[0] > 0.7 for c in run]
            false[decided_by] += any(passed)
    assert false[each] / 400 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 400)
    assert false[together] / 400 > 0.4
    sentence = result(gate(">=", 50), sampled(SOME_RIGHT, 5), each).sentence
    assert sentence.endswith("if asked again (95 % for all 20 figures together).")
    assert result(gate(">=", 50), sampled(SOME_RIGHT, 5), together).sentence.endswith("if asked again (95 %).")


def test_several_lines_on_one_figure_are_as_one() -> None:
    """Tiers: whoever truly lies between two of them is wrong at the nearest or nowhere."""
    tiers = [gate(">=", 60), gate(">=", 70), gate(">", 80)]
    assert lines(*tiers) == lines(tiers[0])
    assert lines(*tiers, gate("<=", 90)).gates == lines(*tiers, on_baseline(">=", 1)).gates == 2
    assert lines(gate(">=")).sure_of_pass == 0.95


@given(st.lists(st.integers(0, 5), min_size=2, max_size=40), st.integers(0, 100), st.sampled_from(COMPARISONS))
def test_more_confidence_never_decides_more(correct: list[int], threshold: int, comparison: str) -> None:
    """And what it decides is what the figure itself would."""
    known = sampled(correct, 5)
    point, some, much = (
        decide(gate(comparison, threshold), known, rule)
        for rule in (POINT, GateRule(confidence=0.8), GateRule(confidence=0.99))
    )
    assert some in {point, "undecided"}
    assert much in {some, "undecided"}


def test_what_is_computed_and_not_drawn_is_the_same_if_asked_again() -> None:
    """A likelihood has no chance in it; other texts would have another one."""
    perplexity = replace(row(9.9), stderr=0.4, drawn=False, share=False)
    assert decide(gate("<=", 10), perplexity, GateRule()) == "passed"
    assert decide(gate("<=", 10), perplexity, GateRule("problems")) == "undecided"
    bleu = replace(row(9.9), stderr=0.4)
    assert decide(gate("<=", 10), bleu, GateRule()) == "undecided"


@pytest.mark.parametrize(
    ("points", "stderr", "decision"),
    [(0.5, 0.5, "passed"), (-0.5, 1, "undecided"), (-1.5, 1, "undecided"), (-2, 0.5, "failed")],
)
def test_a_change_passes_where_a_real_loss_is_unlikely(points: float, stderr: float, decision: str) -> None:
    """`baseline - 1` passed a true loss of 2 points in 40 of 100 runs as long as the figure decided."""
    found = result(on_baseline(">=", -1), row(70 + points), GateRule(), changed(points, stderr))
    assert found.decision == decision
    assert f"avg@5 is {70 + points:.2f} and was 70.00: {points:+.2f} points" in found.sentence


def test_without_a_comparable_baseline_nothing_is_decided() -> None:
    """No comparison at all, one of another version, or a figure of which chance is not known."""
    asked = on_baseline(">=", 0)
    assert decide(asked, row(70), GateRule()) == "undecided"
    other = Difference(metric="avg@5", old=70, new=70)
    assert result(asked, row(70), GateRule(), compared(other)).decision == "undecided"
    whole = Difference(metric="avg@5", old=70, new=75, points=5)
    found = result(asked, row(75), GateRule(), compared(whole))
    assert (found.decision, "--gate-on point" in found.sentence) == ("undecided", True)
    assert result(asked, row(75), POINT, compared(whole)).decision == "passed"


BOUNDS = st.tuples(st.floats(0, 100), st.floats(0, 100)).map(sorted)


@given(st.sampled_from(COMPARISONS), BOUNDS, st.floats(0, 1), st.integers(0, 100))
def test_lost_samples_leave_a_gate_open_that_they_could_decide(
    comparison: str, ends: list[float], place: float, threshold: int
) -> None:
    """Whatever the true figure is between its limits: a decision with lost samples is the one that it would get."""
    low, high = ends
    one = Gate(dataset="demo", metric="avg@5", comparison=comparison, threshold=threshold)  # type: ignore[arg-type]
    bounded = replace(row(low), bounds=FigureBounds(low=low, high=high, samples=3))
    decision = decide(one, bounded)
    true = decide(one, row(low + place * (high - low)))
    assert decision in {true, "undecided"}
    if decision == "undecided":
        possible = {decide(one, row(value)) for value in (low, high, min(max(threshold, low), high))}
        assert possible == {"passed", "failed"}


@pytest.mark.parametrize(
    ("comparison", "low", "high", "decision"),
    [
        ("<=", 9.0, None, "undecided"),
        ("<=", 61.0, None, "failed"),
        (">=", 61.0, None, "passed"),
        (">=", None, 59.0, "failed"),
        ("==", None, None, "undecided"),
    ],
)
def test_a_figure_without_a_greatest_value_never_passes_for_it(
    comparison: str, low: float | None, high: float | None, decision: str
) -> None:
    """A perplexity of 17.99 that lacks half of the texts is not at most 60."""
    bounded = replace(row(17.99), bounds=FigureBounds(low=low, high=high, samples=3))
    assert decide(gate(comparison), bounded) == decision


@pytest.mark.parametrize(
    ("samples", "words"), [(1, "1 sample has"), (2, "2 samples have"), (4000, "4,000 samples have")]
)
def test_an_open_gate_says_for_want_of_what_and_what_to_do(samples: int, words: str) -> None:
    """The figure, its limits, the number of samples, and the next command."""
    bounded = replace(row(50.0), bounds=FigureBounds(low=50.0, high=62.5, samples=samples))
    found = result(gate(">="), bounded, GateRule())
    assert (found.decision, found.bounds) == ("undecided", bounded.bounds)
    assert f"avg@5 is 50.00, or anything from 50.00 to 62.50, because {words} no verdict." in found.sentence
    assert "--reuse RUN" in found.sentence
    passed = result(gate(">=", 40), bounded)
    assert passed.decision == "passed"
    assert "--reuse" not in passed.sentence


def test_an_open_gate_on_a_group_names_the_datasets_that_lost_samples() -> None:
    """The most first, the rest counted; its file says why."""
    lost = {f"part_{number}": number for number in range(8)}
    rows = [
        replace(row(50.0, "accuracy", name), bounds=FigureBounds(low=45.0, high=65.0, samples=samples))
        if samples
        else row(50.0, "accuracy", name)
        for name, samples in lost.items()
    ]
    whole = replace(row(50.0, "accuracy", "all"), bounds=FigureBounds(low=45.0, high=65.0, samples=28))
    plan = RunPlan(
        run_id="0" * 32,
        stamp="20260326_151326",
        settings=Settings(gate_on="point"),
        tasks=(),
        sampling=Sampling(n=1),
        k=(1,),
        groups=(TaskGroup(name="all", members=("inner", "part_7")), TaskGroup(name="inner", members=(*lost,)[:7])),
        gates=(Gate(dataset="all", metric="accuracy", comparison=">=", threshold=60),),
    )
    (found,) = gates.results(plan, [*rows, whole])
    assert found.decision == "undecided"
    whose = "part_7: 7, part_6: 6, part_5: 5, part_4: 4, part_3: 3, and 2 more datasets"
    assert f"because 28 samples ({whose}) have no verdict." in found.sentence
    assert "predictions/vllm-api-stream-chat/part_7_failed.jsonl" in found.sentence
    assert "more" not in gates.by_dataset({f"part_{number}": number for number in range(1, 6)})


@pytest.mark.parametrize(
    ("low", "high", "decision"), [(-0.5, 2.0, "passed"), (-3.0, 2.0, "undecided"), (-9.0, -8.0, "failed")]
)
def test_a_change_with_lost_samples_passes_only_in_the_worst_case(low: float, high: float, decision: str) -> None:
    """On whichever side they are lost: a baseline that lacks samples is no lower bar."""
    bounds = FigureBounds(low=low, high=high, samples=2)
    difference = Difference(metric="avg@5", old=70, new=70, points=0.0 if high > 0 else -8.5, bounds=bounds)
    assert result(on_baseline(">=", -1), row(70), POINT, compared(difference)).decision == decision


def test_each_end_of_a_change_is_as_sure_as_its_verdict_needs() -> None:
    """With ten gates a failure has to be surer than a pass, on whichever side it lies."""
    ten = GateRule(gates=10)
    narrow, wide = 1.645, 2.576
    for comparison, low, high in ((">=", narrow, wide), ("<=", wide, narrow)):
        limits = result(on_baseline(comparison, 0), row(70), ten, changed(0.5, 1.0)).limits
        assert limits is not None
        assert [0.5 - limits.low, limits.high - 0.5] == pytest.approx([low, high], abs=0.01)


def test_an_open_change_says_how_many_problems_would_decide() -> None:
    """Twice the margin needs four times the problems, in both runs."""
    known = ChangeCertainty(problems=202, worst=0.0, worst_stderr=1.0, best=0.0, best_stderr=1.0)
    difference = Difference(metric="avg@5", old=70, new=70, points=0.0, certainty=known)
    found = result(on_baseline(">=", -0.826), row(70), GateRule(), compared(difference))
    assert found.decision == "undecided"
    assert (
        "Two runs of this size show differences of 1.65 points and more; one of 0.83 takes about 801 problems"
        in found.sentence
    )
    two = compared(replace(difference, certainty=replace(known, problems=2)))
    assert "Two runs of this size" not in result(on_baseline(">=", -0.826), row(70), GateRule(), two).sentence
    on_it = result(on_baseline(">=", 0), row(70), GateRule(), compared(difference))
    assert "a figure on the line itself no size decides" in on_it.sentence
