"""Two runs on one page: which problems changed, and which settings differ."""

import random

import pytest
from msgspec.structs import replace
from tests.packed_page import index_of
from tests.unit.report.test_page import Page, dataset_result, problem_result, report, weighed

from model_accuracy_eval.records import (
    Comparison,
    DatasetResult,
    FigureBounds,
    ProblemResult,
    Report,
    Sampling,
    VerdictReason,
)
from model_accuracy_eval.report import page
from model_accuracy_eval.report.page_replies import PackedReplies
from model_accuracy_eval.scoring.verdicts import comparison_statistics

KINDS: tuple[VerdictReason, ...] = ("right", "wrong", "not found", "failed")


def compared(old: Report, new: Report) -> Comparison:
    changes = tuple(map(comparison_statistics.compare, old.dataset_results, new.dataset_results))
    return Comparison(base="a" * 32, new="b" * 32, changes=changes)


def drawn(seed: int) -> tuple[ProblemResult, ...]:
    chance = random.Random(seed)
    return tuple(problem_result(number, tuple(chance.choices(KINDS, k=4))) for number in range(200))


def test_changes_are_those_of_the_comparison() -> None:
    """As many better and worse problems as the figures' sentence counts, of which samples are lost in neither run."""
    bounds = {"avg@4": FigureBounds(low=0, high=100, samples=1)}
    problems = tuple(replace(each, bounds=bounds) if "failed" in each.why else each for each in drawn(2))
    old, new = report(dataset_result(drawn(1))), report(dataset_result(problems))
    comparison = compared(old, new)
    flips = comparison.changes[0].flips
    states = page.states(comparison, old, new)["sums"]
    assert flips is not None
    assert [*states.values()].count("better") == flips.gained > 10
    assert [*states.values()].count("worse") == flips.lost > 10


def test_other_versions_and_measured_figures_do_not_flip() -> None:
    """Different questions are no change; a perplexity is neither better nor worse problem by problem."""
    result = dataset_result(drawn(1))
    old, new = report(result), report(replace(result, version="ffffff"))
    assert page.states(compared(old, new), old, new) == {}
    measured = report(weighed(logprob=-3.5))
    assert set(page.states(compared(measured, measured), measured, measured)["texts"].values()) == {"same"}


def html(old: Report, new: Report, replies: dict[str, PackedReplies] | None = None) -> bytes:
    return page.comparison_as_html(compared(old, new), old, new, {}, replies or {})


def test_what_differs_is_said_first() -> None:
    """Only what differs, with both values; equal settings are counted."""
    old = report(dataset_result(drawn(1)))
    plan = replace(old.plan, sampling=Sampling(n=2, temperature=0.25))
    found = Page(html(old, replace(old, plan=plan)))
    assert "temperature 1 0.25" in found.text  # what requests had, also where nobody set it
    assert "started" not in found.text.split("Figures, old and new")[0]
    assert found.text.index("temperature 1 0.25") < found.text.index("Figures, old and new")


def test_equal_runs_have_a_page() -> None:
    """Nothing differs, nothing flipped."""
    one = report(dataset_result(drawn(1)))
    made = html(one, one)
    assert {row[2] for row in index_of(made)["datasets"][0]["rows"]} == {"same"}
    assert "200 others" not in Page(made).text


def test_nothing_in_common_has_a_page() -> None:
    """Two runs without a common question still differ in their settings."""
    old, new = report(dataset_result(drawn(1), "a")), report(dataset_result(drawn(1), "b"))
    assert b'id="index"' not in page.comparison_as_html(
        Comparison(base="a", new="b", changes=(), only_base=("a",), only_new=("b",)), old, new, {}, {}
    )


def test_too_many_replies_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page stays small, and says how many problems have no replies in it."""
    monkeypatch.setattr(page, "LARGEST", 10)
    old, new = report(dataset_result(drawn(1))), report(dataset_result(drawn(2)))
    changed = sum(state != "same" for state in page.states(compared(old, new), old, new)["sums"].values())
    made = html(old, new, {"sums": PackedReplies(("A" * 100,), {0: 0})})
    assert f"{changed} changed problems are shown without their replies" in Page(made).text
    assert {row[-1] for row in index_of(made)["datasets"][0]["rows"]} == {-1}


def test_only_changed_problems_are_read() -> None:
    """The journals of equal problems are skipped."""
    result: DatasetResult = dataset_result(drawn(1))
    kept = page.changed_only(result, {3: "worse", 4: "same"})
    assert [problem.problem for problem in kept.problem_results] == [3]
