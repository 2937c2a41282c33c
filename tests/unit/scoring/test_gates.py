"""Gates: read, checked against the run, decided."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import (
    Comparison,
    Counts,
    DatasetChange,
    Difference,
    FigureBounds,
    Gate,
    Interval,
    Speed,
    SummaryRow,
)
from model_accuracy_eval.scoring import gates

COMPARISONS = (">=", ">", "<=", "<", "==")


def row(value: float | None, metric: str = "avg@5", dataset: str = "demo") -> SummaryRow:
    return SummaryRow(dataset=dataset, version="0ba9da", metric=metric, value=value)


def gate(comparison: str, threshold: float = 60) -> Gate:
    (found,) = gates.parse(f"demo: avg@5 {comparison} {threshold}")
    return found


@given(
    st.from_regex(r"[a-z][a-z0-9_.-]{0,20}", fullmatch=True),
    st.sampled_from(["accuracy", "accuracy (5 runs average)", "avg@5", "pass@1", "cons@10"]),
    st.sampled_from(COMPARISONS),
    st.integers(0, 1000).map(lambda tenth: tenth / 10),
)
def test_a_gate_is_what_it_says(dataset: str, metric: str, comparison: str, threshold: float) -> None:
    """Written out and read again, it is the same gate."""
    (found,) = gates.parse(f"{dataset}: {metric} {comparison} {threshold}")
    assert (found.dataset, found.metric, found.comparison, found.threshold) == (dataset, metric, comparison, threshold)
    assert gates.parse(str(found)) == (found,)


@pytest.mark.parametrize(
    "line",
    [
        "demo: avg@5 >= 60",
        "  demo :avg@5>=60  ",
        "demo: avg@5 >= 60.0%",
        "demo: avg@5 >= 60 % # as in release 1",
    ],
)
def test_blanks_percent_signs_and_comments_are_free(line: str) -> None:
    """One gate, however it is spaced."""
    assert gates.parse(line) == (Gate(dataset="demo", metric="avg@5", comparison=">=", threshold=60),)


def test_one_gate_a_line() -> None:
    """Blank lines and comments are skipped."""
    text = "# all of these\n\na: avg@5 >= 60\r\nb: pass@5 > 70  # best of five\n\n"
    assert [found.dataset for found in gates.parse(text)] == ["a", "b"]
    assert gates.parse("\n # nothing\n") == ()


@pytest.mark.parametrize(
    "line",
    [
        "demo",
        "avg@5 >= 60",
        "demo avg@5 >= 60",
        "demo: >= 60",
        "demo: avg@5 60",
        "demo: avg@5 >=",
        "demo: avg@5 >= sixty",
        "demo: avg@5 ≥ 60",
        "demo: avg@5 = 60",
        "demo: avg@5 >= -1",
        "demo: avg@5 >= 100.1",
        "demo: avg@5 >= 6.0.0",
        "demo: avg@5 >= .",
        "demo: avg@5 >= 60 70",
        ": avg@5 >= 60",
    ],
)
def test_what_is_no_gate_is_refused_with_an_example(line: str) -> None:
    """The sentence shows the line and how to write it."""
    with pytest.raises(BadValue) as error:
        gates.parse(f"demo: avg@5 >= 1\n{line}")
    assert f"'{line}' is not a gate" in error.value.sentence
    assert "'demo_arithmetic: avg@5 >= 60'" in error.value.sentence


def test_names_are_checked_before_anything_starts() -> None:
    """An unknown dataset or metric is answered with the nearest ones, and with the gate it stands in."""
    metrics = {"demo_gsm8k": ["accuracy (5 runs average)", "avg@5", "pass@5", "cons@5"]}
    gates.check(gates.parse("demo_gsm8k: pass@5 >= 1"), metrics)
    with pytest.raises(UnknownName, match=r"no dataset called 'demo_gsm8' in the gate '.*'; did you mean demo_gsm8k\?"):
        gates.check(gates.parse("demo_gsm8: avg@5 >= 60"), metrics)
    with pytest.raises(UnknownName, match=r"no metric called 'avg@3' in the gate 'demo_gsm8k: .*'; did you mean avg@5"):
        gates.check(gates.parse("demo_gsm8k: avg@3 >= 60"), metrics)


@pytest.mark.parametrize(
    ("comparison", "passing"),
    [(">=", (60, 61)), (">", (61,)), ("<=", (59, 60)), ("<", (59,)), ("==", (60,))],
)
def test_each_comparison_means_what_it_means(comparison: str, passing: tuple[int, ...]) -> None:
    """Below, at and above the threshold."""
    decisions = [gates.decide(gate(comparison), row(value)) for value in (59, 60, 61)]
    assert decisions == ["passed" if value in passing else "failed" for value in (59, 60, 61)]


@given(st.floats(0, 100), st.floats(0, 100))
def test_at_least_is_not_less(value: float, threshold: float) -> None:
    """>= and < never agree, nor do > and <=."""
    for one, other in ((">=", "<"), (">", "<=")):
        made = [Gate(dataset="demo", metric="avg@5", comparison=c, threshold=threshold) for c in (one, other)]  # type: ignore[arg-type]
        assert {gates.decide(each, row(value)) for each in made} == {"passed", "failed"}


def test_a_figure_that_rounding_pushed_below_still_reaches_its_line() -> None:
    """A mean of ratios may come out as 59.999999999999; a figure that is really below does not pass."""
    assert gates.decide(gate(">="), row(59.999999999999)) == "passed"
    assert gates.decide(gate("=="), row(60.000000000001)) == "passed"
    assert gates.decide(gate(">"), row(60.000000000001)) == "failed"
    assert gates.decide(gate(">="), row(59.9999)) == "failed"
    assert gates.decide(gate(">="), row(100 * (0.1 + 0.2 + 0.3) / 1)) == "passed"


def test_without_a_figure_nothing_is_decided() -> None:
    """Neither a pass nor a failure, whether the row is empty or not there."""
    assert gates.decide(gate("<"), row(None)) == gates.decide(gate("<"), None) == "undecided"


def test_every_gate_stands_beside_the_figure_it_met() -> None:
    """In the order of the gates, with the figure's interval and a sentence with both numbers."""
    span = Interval(low=20, high=40)
    rows = [row(30.123), SummaryRow(dataset="other", version="1", metric="avg@5", value=70, interval=span)]
    asked = gates.parse("other: avg@5 >= 60\ndemo: avg@5 > 50\ndemo: pass@5 > 50")
    passed, failed, undecided = gates.results(asked, rows)
    assert (passed.decision, passed.value, passed.interval) == ("passed", 70, span)
    assert passed.sentence == "other: avg@5 >= 60 passed: avg@5 is 70.00."
    assert (failed.decision, failed.sentence) == ("failed", "demo: avg@5 > 50 failed: avg@5 is 30.12.")
    assert (undecided.decision, undecided.value) == ("undecided", None)
    assert undecided.sentence == "demo: pass@5 > 50 undecided: pass@5 is no figure."


def changed(points: float, low: float, high: float) -> Comparison:
    """A baseline at 70, and a figure so many points above it."""
    span = Interval(low=low, high=high)
    one = Difference(metric="avg@5", old=70, new=70 + points, points=points, interval=span)
    change = DatasetChange(
        dataset="demo", old_version="1", new_version="1", problems=9, differences=(one,),
        old_counts=Counts(), new_counts=Counts(), old_speed=Speed(), new_speed=Speed(),
    )  # fmt: skip
    return Comparison(base="a" * 32, new="b" * 32, changes=(change,))


@given(st.sampled_from(COMPARISONS), st.integers(-1000, 1000).map(lambda tenth: tenth / 10))
def test_a_gate_may_hang_on_a_baseline(comparison: str, points: float) -> None:
    """Points above or below the baseline's figure; written out and read again, it is the same gate."""
    sign = "-" if points < 0 else "+"
    (found,) = gates.parse(f"demo: avg@5 {comparison} baseline {sign} {abs(points)}")
    assert (found.from_baseline, found.threshold) == (True, points)
    assert gates.parse(str(found)) == (found,)


@pytest.mark.parametrize("line", ["demo: avg@5 >= baseline", "demo:avg@5>=baseline-0", "demo: avg@5 >= baseline + 0 %"])
def test_the_baseline_itself_may_be_the_line(line: str) -> None:
    """With or without nothing added to it."""
    (found,) = gates.parse(line)
    assert (found.from_baseline, found.threshold) == (True, 0)


@pytest.mark.parametrize(
    "line", ["baseline -", "baseline - -1", "baseline 1", "baseline - 100.1", "baselines", "1 - baseline"]
)
def test_what_hangs_on_nothing_is_refused(line: str) -> None:
    """The sentence says how a baseline is written."""
    with pytest.raises(BadValue, match="or 'baseline - NUMBER' in its place"):
        gates.parse(f"demo: avg@5 >= {line}")


@pytest.mark.parametrize(
    ("points", "low", "high", "decision"),
    [
        (-0.5, -3, 2, "passed"),
        (-1, -1.5, -0.5, "passed"),
        (-1.5, -3, 0, "undecided"),
        (-1.5, -2, -1, "undecided"),
        (-5, -8, -1.01, "failed"),
    ],
)
def test_a_miss_that_chance_explains_is_undecided(points: float, low: float, high: float, decision: str) -> None:
    """Reached: passed. Missed, and the paired interval ends below the line: failed. Missed, but it reaches: undecided."""
    (found,) = gates.results(gates.parse("demo: avg@5 >= baseline - 1"), [row(70 + points)], changed(points, low, high))
    assert found.decision == decision
    assert f"and was 70.00: {points:+.2f} points, 95 % interval {low:+.2f} .. {high:+.2f}" in found.sentence


@given(st.sampled_from(COMPARISONS), st.floats(-50, 50), st.floats(0, 50), st.floats(0, 50), st.floats(-50, 50))
def test_a_wider_interval_never_decides_more(
    comparison: str, points: float, below: float, above: float, line: float
) -> None:
    """The same change with a wider interval passes as before, and fails only if it failed before."""
    one = Gate(dataset="demo", metric="avg@5", comparison=comparison, threshold=line, from_baseline=True)  # type: ignore[arg-type]
    narrow, wide = (
        gates.decide_change(one, changed(points, points - times * below, points + times * above).find("demo", "avg@5"))
        for times in (1, 2)
    )
    assert narrow == wide or (narrow, wide) == ("failed", "undecided")


def test_without_a_comparable_baseline_nothing_is_decided() -> None:
    """No comparison at all, or one of another version."""
    (asked,) = gates.parse("demo: avg@5 >= baseline")
    assert gates.results([asked], [row(70)])[0].decision == "undecided"
    other = Difference(metric="avg@5", old=70, new=70)
    assert gates.decide_change(asked, other) == "undecided"


BOUNDS = st.tuples(st.floats(0, 100), st.floats(0, 100)).map(sorted)


@given(st.sampled_from(COMPARISONS), BOUNDS, st.floats(0, 1), st.integers(0, 100))
def test_lost_samples_leave_a_gate_open_that_they_could_decide(
    comparison: str, ends: list[float], place: float, threshold: int
) -> None:
    """Whatever the true figure is between its limits: a decision with lost samples is the one that it would get."""
    low, high = ends
    one = Gate(dataset="demo", metric="avg@5", comparison=comparison, threshold=threshold)  # type: ignore[arg-type]
    bounded = msgspec.structs.replace(row(low), bounds=FigureBounds(low=low, high=high, samples=3))
    decision = gates.decide(one, bounded)
    true = gates.decide(one, row(low + place * (high - low)))
    assert decision in {true, "undecided"}
    if decision == "undecided":
        possible = {gates.decide(one, row(value)) for value in (low, high, min(max(threshold, low), high))}
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
    bounded = msgspec.structs.replace(row(17.99), bounds=FigureBounds(low=low, high=high, samples=3))
    assert gates.decide(gate(comparison), bounded) == decision


def test_an_open_gate_says_for_want_of_what_and_what_to_do() -> None:
    """The figure, its limits, the number of samples, and the next command."""
    bounded = msgspec.structs.replace(row(50.0), bounds=FigureBounds(low=50.0, high=62.5, samples=4))
    (result,) = gates.results([gate(">=")], [bounded])
    assert (result.decision, result.bounds) == ("undecided", bounded.bounds)
    assert "avg@5 is 50.00, or anything from 50.00 to 62.50, because 4 samples have no verdict." in result.sentence
    assert "--reuse RUN" in result.sentence
    (passed,) = gates.results([gate(">=", 40)], [bounded])
    assert passed.decision == "passed"
    assert "--reuse" not in passed.sentence


@pytest.mark.parametrize(
    ("low", "high", "decision"), [(-0.5, 2.0, "passed"), (-3.0, 2.0, "undecided"), (-9.0, -8.0, "failed")]
)
def test_a_change_with_lost_samples_passes_only_in_the_worst_case(low: float, high: float, decision: str) -> None:
    """On whichever side they are lost: a baseline that lacks samples is no lower bar."""
    bounds = FigureBounds(low=low, high=high, samples=2)
    difference = Difference(metric="avg@5", old=70, new=70, points=0.0 if high > 0 else -8.5, bounds=bounds)
    (one,) = gates.parse("demo: avg@5 >= baseline - 1")
    assert gates.decide_change(one, difference) == decision
