"""How to read the three figures together: the decision matrix and the scenario guide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.reporting.fixed_report import row

from model_accuracy_eval.records import SummaryRow
from model_accuracy_eval.reporting.advice import Advice, advise, level

PERCENT = st.floats(0, 100)


def read(best: float, average: float, consistent: float) -> Advice:
    (found,) = advise([row("avg@5", average), row("pass@5", best), row("cons@5", consistent)])
    return found


@pytest.mark.parametrize(
    ("figure", "expected"),
    [(100, "high"), (80.01, "high"), (80, "mid"), (50, "mid"), (49.99, "low"), (0, "low")],
)
def test_levels_at_their_borders(figure: float, expected: str) -> None:
    """High is above 80, low is below 50, and both borders are mid."""
    assert level(figure) == expected


@pytest.mark.parametrize(
    ("figures", "profile", "next_steps"),
    [
        ((90, 60, 40), "unstable", "consistency"),
        ((70, 60, 55), "mediocre", "data and prompts"),
        ((40, 30, 90), "Systematic bias", "Audit data, prompts"),
        ((30, 10, 5), "Failing", "retrain"),
        ((95, 90, 85), "stable", "Nothing to do"),
    ],
)
def test_the_rows_of_the_matrix(figures: tuple[float, float, float], profile: str, next_steps: str) -> None:
    """Able but unstable, mediocre, biased, failing; and the one that nobody complains about."""
    found = read(*figures)
    assert profile in found.profile
    assert next_steps in found.next_steps


@given(PERCENT, PERCENT, PERCENT)
def test_every_three_figures_have_a_reading(best: float, average: float, consistent: float) -> None:
    """The matrix leaves nothing open, and the scenarios say whether their targets are met."""
    found = read(best, average, consistent)
    assert found.profile
    assert found.next_steps
    reached = [met for _, _, met in found.scenarios]
    assert reached == [consistent > 80 and best > 90, best > 80 and average > 70, average > 75]


def test_targets_must_be_exceeded() -> None:
    """At the border they are not met."""
    assert [met for *_, met in read(90, 75, 80).scenarios] == [False, True, False]
    assert [met for *_, met in read(90.1, 75.1, 80.1).scenarios] == [True, True, True]


def test_a_dataset_without_all_three_figures_gets_no_advice() -> None:
    """Nothing is read into accuracy alone, or into figures that are unknown."""
    assert advise([]) == []
    assert advise([row("accuracy", 50.0)]) == []
    assert advise([row("avg@5", 5), row("pass@5", None), row("cons@5", 1)]) == []


def test_each_dataset_is_read_for_itself_and_the_largest_k_counts() -> None:
    """In the order of the rows."""

    def of(dataset: str, *figures: tuple[str, float]) -> list[SummaryRow]:
        return [row(metric, value, dataset) for metric, value in figures]

    found = advise(
        [
            *of("a", ("avg@5", 60), ("pass@1", 10), ("pass@5", 90), ("cons@1", 90), ("cons@5", 40)),
            *of("b", ("avg@5", 10), ("pass@5", 20), ("cons@5", 0)),
        ]
    )
    assert [each.dataset for each in found] == ["a", "b"]
    assert "unstable" in found[0].profile
    assert "Failing" in found[1].profile
