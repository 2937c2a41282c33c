"""How to read the three figures together: the decision matrix and the scenario guide."""

import pytest
from msgspec.structs import replace
from tests.unit.report.fixed_report import problem_result, row

from model_accuracy_eval.records import Counts, DatasetResult, Interval
from model_accuracy_eval.report.remarks import Advice, advise, chance_lines, level
from model_accuracy_eval.scoring.figures.groups import expected


def near(figure: float, width: float = 1e-6) -> Interval:
    return Interval(low=figure - width, high=figure + width)


def read(best: float, average: float, consistent: float, *, options: int = 0, width: float = 1e-6) -> Advice:
    """What is said of three figures; with options, next to what guessing would give."""
    figures = {"avg@5": average, "pass@5": best, "cons@5": consistent}
    chances = (expected("runs", 1 / options, 5, (5,)) if options else None) or {}
    (found,) = advise(
        [
            replace(row(name, value, interval=near(value, width)), chance=100 * chances[name] if chances else None)
            for name, value in figures.items()
        ]
    )
    return found


@pytest.mark.parametrize(
    ("figure", "expected"), [(100, "high"), (80.01, "high"), (80, "mid"), (50, "mid"), (49.99, "low"), (0, "low")]
)
def test_levels_at_their_borders(figure: float, expected: str) -> None:
    """High is above 80, low is below 50, and both borders are mid."""
    assert level(figure) == expected


@pytest.mark.parametrize(
    ("figures", "profile", "next_steps"),
    [
        ((90, 60, 40), "unstable", "consistency"),
        ((70, 60, 55), "mediocre", "data and prompts"),
        ((30, 10, 5), "Failing", "retrain"),
        ((95, 90, 85), "stable", "Nothing to do"),
    ],
)
def test_the_rows_of_the_matrix(figures: tuple[float, float, float], profile: str, next_steps: str) -> None:
    """Able but unstable, mediocre, failing; and the one that nobody complains about."""
    found = read(*figures)
    assert profile in found.profile
    assert next_steps in found.next_steps


def test_advice_follows_what_happened() -> None:
    """Not "nothing to do" where half of the problems are unstable, not "vote" where half of the replies were not read."""
    figures = {"avg@5": 90.0, "pass@5": 100.0, "cons@5": 100.0}
    rows = [replace(row(name, value, interval=near(value)), dataset="d") for name, value in figures.items()]
    problems = [
        problem_result(0, ("right",) * 4 + ("wrong",), (None,) * 5),
        problem_result(1, ("right",) * 5, (None,) * 5),
    ]
    counts = Counts(planned=10, answered=10)
    result = DatasetResult(dataset="d", version="0", rows=tuple(rows), problem_results=tuple(problems), counts=counts)
    (unstable,), (unread,) = (
        advise(rows, [replace(result, counts=replace(counts, not_found=found))]) for found in (2, 3)
    )
    assert unstable.profile == "Strong, but not stable: 1 of 2 problems are right in some tries only."
    assert unread.profile == "Not read: 3 of 10 replies have no readable answer."


def test_targets_must_be_exceeded() -> None:
    """At the border they are not met, and nobody can say so either: the interval includes it."""
    assert [state for *_, state in read(90, 75, 80).scenarios] == ["open", "reached", "open"]
    assert [state for *_, state in read(90.1, 75.1, 80.1).scenarios] == ["reached"] * 3


def test_a_target_inside_the_interval_is_open() -> None:
    """Twenty problems do not prove that cons@5 is above 80."""
    assert [state for *_, state in read(95, 72, 85, width=6).scenarios] == ["open", "open", "open"]
    assert read(95, 60, 70, width=6).scenarios[0][2] == "not reached"


def test_a_figure_without_an_interval_reaches_nothing() -> None:
    """One problem proves nothing; a group has a standard error instead."""
    alone = [row(metric, 95.0) for metric in ("avg@5", "pass@5", "cons@5")]
    assert {state for *_, state in advise(alone)[0].scenarios} == {"open"}
    group = [replace(each, stderr=0.5) for each in alone]
    assert {state for *_, state in advise(group)[0].scenarios} == {"reached"}


@pytest.mark.parametrize("options", [2, 3, 4, 5, 10])
def test_random_letters_are_not_able(options: int) -> None:
    """Whatever five tries make of pass@5: of two options they solve 97 %."""
    chances = expected("runs", 1 / options, 5, (5,))
    assert chances is not None
    best, average, consistent = (100 * chances[name] for name in ("pass@5", "avg@5", "cons@5"))
    found = read(best, average, consistent, options=options, width=2)
    assert found.profile.startswith("No better than guessing")
    lucky = read(best + 1, average + 3, consistent + 3, options=options, width=2)
    assert "Able" not in lucky.profile
    assert read(best - 20, average - 5, 0, options=options, width=2).profile == "Worse than guessing."


def test_a_strong_model_is_strong_whatever_guessing_gives() -> None:
    """pass@5 = 97.5 is hardly above guessing of two options, but avg@5 = 95 is."""
    assert read(97.5, 95, 96, options=2).profile == "Strong and stable."
    assert read(99, 60, 40, options=4).profile.startswith("Able but unstable")


def test_what_guessing_gives_is_a_line() -> None:
    """For each dataset with options, the figures under their names, without those of its parts."""
    rows = [
        replace(row(metric, 50.0), chance=chance)
        for metric, chance in (("avg@5", 25.0), ("pass@5", 76.26953125), ("avg@5[x]", 25.0), ("bleu", None))
    ]
    assert chance_lines(rows) == ["demo_gsm8k: guessing would give avg@5 25.00, pass@5 76.27."]


def test_a_dataset_without_all_three_figures_gets_no_advice() -> None:
    """Nothing is read into accuracy alone, or into figures that are unknown."""
    assert advise([]) == []
    assert advise([row("accuracy", 50.0)]) == []
    assert advise([row("avg@5", 5), row("pass@5", None), row("cons@5", 1)]) == []


def test_figures_of_parts_and_of_other_metrics_are_not_the_datasets() -> None:
    """They have its name, but not its problems or its headline."""
    rows = [row("avg@5", 95), row("pass@5", 99), row("cons@5", 96), row("avg@5[x]", 1), row("pass@5(other)", 1)]
    (found,) = advise(rows)
    assert found.profile == "Strong and stable."
