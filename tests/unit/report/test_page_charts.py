"""The figures behind the page's charts, beside those of the tables."""

import pytest
from msgspec.structs import replace
from tests.unit.report.test_page import MIXED, Page, dataset_result, problem_result, report, weighed

from model_accuracy_eval.report import page, sections


def test_over_k_ends_at_the_figures_of_the_table() -> None:
    """pass@k and cons@k at k = n are the rows', at k = 1 both are the average."""
    result = dataset_result(MIXED)
    rows = {row.metric: row.value for row in result.rows}
    figures = sections.over_k([result])[0].curves
    assert figures["pass@k"][-1] == pytest.approx(rows["pass@2"])
    assert figures["cons@k"][-1] == pytest.approx(rows["cons@2"])
    assert figures["pass@k"][0] == figures["cons@k"][0] == pytest.approx(rows["avg@2"])


def test_over_k_needs_several_samples_that_are_right_or_wrong() -> None:
    """One sample is no curve; graded and measured problems have no pass@k."""
    graded = replace(problem_result(0, ("wrong", "wrong")), c=None, values=(0.25, 0.75))
    for result in (
        dataset_result((problem_result(0, ("right",)),)),
        dataset_result((graded,)),
        dataset_result((graded, problem_result(1, ("right", "wrong")))),
        weighed(logprob=-3.5),
        dataset_result(()),
    ):
        assert sections.over_k([result]) == []


def test_parts_are_means_over_their_problems() -> None:
    """The lowest part first; each with the mean of its own problems, and the number of them."""
    sums = replace
    problems = (
        sums(problem_result(0, ("right", "right")), category="easy"),
        sums(problem_result(1, ("right", "wrong")), category="easy"),
        sums(problem_result(2, ("wrong", "wrong")), category="hard"),
    )
    (chart,) = sections.parts([dataset_result(problems)])
    assert [(part.name, part.problems, part.value) for part in chart.shown] == [("hard", 1, 0.0), ("easy", 2, 75.0)]
    assert chart.shown[0].interval is None
    text = Page(page.as_html(report(dataset_result(problems)), {})).text
    assert "hard 1 0.00 %" in text
    assert "easy 2 75.00 %" in text


def test_one_part_is_no_comparison() -> None:
    """Where all problems are of one part, or of none, there is nothing to show; neither where nothing can be right."""
    one = replace(MIXED[0], category="easy")
    two = replace(MIXED[1], category="easy")
    assert sections.parts([dataset_result(MIXED), dataset_result((one, two))]) == []
    measured = weighed(logprob=-3.5)
    split = tuple(replace(each, category=str(each.problem)) for each in measured.problem_results)
    assert sections.parts([replace(measured, problem_results=split)]) == []


def test_many_parts_are_folded_and_none_is_lost() -> None:
    """Forty subjects: the lowest are shown, the others folded."""
    problems = tuple(
        replace(problem_result(number, ("right", "wrong")), category=f"subject {number}") for number in range(40)
    )
    (chart,) = sections.parts([dataset_result(problems)])
    assert len({part.name for part in [*chart.shown, *chart.folded]}) == 40


def test_charts_are_tables_too() -> None:
    """Whoever does not see the drawing reads the numbers."""
    found = Page(page.as_html(report(dataset_result(MIXED)), {}))
    assert "k pass@k cons@k 1 37.50 37.50 2 50.00 25.00" in found.text
