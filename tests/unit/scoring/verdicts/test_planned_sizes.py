"""What a size can show: the same lines as the verdict's, and fewer samples of more problems for a number of requests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import Gate
from model_accuracy_eval.scoring.verdicts import sequential
from model_accuracy_eval.scoring.verdicts.gates import GateRule
from model_accuracy_eval.scoring.verdicts.sequential import PlannedSize


def gate(comparison: str = ">=", *, from_baseline: bool = False) -> Gate:
    return Gate(
        dataset="sums",
        metric="avg@5",
        comparison=comparison,  # type: ignore[arg-type]
        threshold=-1 if from_baseline else 70,
        from_baseline=from_baseline,
    )


@pytest.mark.parametrize(
    ("asked", "rule", "drawn", "sentence"),
    [
        (gate(), GateRule(), True, "passes from 78.00, fails up to 61.00 at the latest (95 %)"),
        (gate("<="), GateRule(), True, "fails from 78.00, passes up to 61.00 at the latest (95 %)"),
        (gate(), GateRule("point"), True, "decided by the figure itself"),
        (gate(), GateRule(), False, "decided by the figure itself"),
        (gate("=="), GateRule(), True, "decided by the figure itself"),
        (gate(), GateRule("problems"), True, "other problems of the kind"),
        (gate(from_baseline=True), GateRule(), True, "changes of 11.63 points and more"),
    ],
)
def test_each_gate_has_its_sentence(asked: Gate, rule: GateRule, *, drawn: bool, sentence: str) -> None:
    """A hundred samples, by what the gate allows for."""
    assert sentence in sequential.can_show(asked, PlannedSize(20, 5), rule, of_samples=True, drawn=drawn)


def test_a_size_that_cannot_pass_says_so() -> None:
    """Not even all right answers of five problems show 70 %."""
    shown = sequential.can_show(gate(), PlannedSize(5, 1), GateRule(), of_samples=True, drawn=True)
    assert "passes for no figure, because the size is too small" in shown


@given(requests=st.integers(1, 20_000), problems=st.integers(1, 3000), least=st.integers(1, 10))
def test_the_best_size_costs_no_more_and_misses_least(requests: int, problems: int, least: int) -> None:
    """No other size for the same requests has a smaller margin."""
    sizes = [*sequential.alternatives(requests, problems, least)]
    if requests < least:
        assert not sizes
        return
    assert all(1 <= size.problems <= problems and size.requests <= requests and size.n >= least for size in sizes)
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
