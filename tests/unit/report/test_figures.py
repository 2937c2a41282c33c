"""The table of figures: what renders a report tells each of its rows."""

import pytest
from msgspec.structs import replace
from tests.unit.report.fixed_report import many

from model_accuracy_eval.records import Counts, DatasetResult, GroupMean, Report, Speed, TaskGroup
from model_accuracy_eval.report import comment, exports, figures, page, tables, terminal
from model_accuracy_eval.report.exports import ExportedRun
from model_accuracy_eval.report.figures import FIGURES, Figure

COUNTS = [figure for figure in FIGURES if figure.unit in {"samples", "answered samples"}]


def with_count(field: str, number: int) -> Report:
    first, *others = many().dataset_results
    counts = Counts(**{"planned": 90, "answered": 80, field: number})
    return replace(many(), dataset_results=(replace(first, counts=counts), *others), comparison=None)


@pytest.mark.parametrize("figure", COUNTS, ids=lambda figure: figure.field)
def test_a_count_is_told_wherever_its_row_says(figure: Figure) -> None:
    whole = with_count(figure.field, 77)
    texts = [
        terminal.as_text(whole),
        comment.as_comment(whole),
        b"".join(content for _, content in exports.junit(ExportedRun(whole, lambda _: []))).decode(),
    ]
    assert [f"77 {figure.name}" in text for text in texts] == ["remarks" in figure.shown] * 3
    cell = f'data-label="{figure.title or figure.name}" class="n'
    shown = [line for line in page.as_html(whole, {}).decode().splitlines() if cell in line and ">77<" in line]
    assert bool(shown) == ("page" in figure.shown)
    changed = figures.counts_compared(Counts(), whole.dataset_results[0].counts)
    assert (f"0 → 77 {figure.name}" in changed) == ("comparison" in figure.shown or figure.field == "planned")


def test_a_sum_of_tokens_says_which_requests_it_lacks() -> None:
    """A total of some requests is not read as that of all."""
    result = DatasetResult(
        dataset="gsm8k",
        version="a1b2c3",
        rows=(),
        problem_results=(),
        counts=Counts(),
        speed=Speed(prompt_tokens=1200, completion_tokens=34567, uncounted=1000),
    )
    assert figures.tokens(result) == (
        "1,200 prompt tokens, 34,567 completion tokens without those of 1,000 requests, of which the service counted "
        "none, or one choice of several"
    )


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("mark", ["unpinned", "unverified"])
def test_rows_and_replies_in_doubt_are_told_everywhere(mark: str, *, is_marked: bool) -> None:
    """Beside each of their figures, and beside those of a group that has such a dataset; else no column says a word."""
    first, *others = many().dataset_results
    result = replace(first, rows=tuple(replace(row, **{mark: is_marked}) for row in first.rows))
    group = TaskGroup(name="both", members=(first.dataset, others[0].dataset), means=(GroupMean(metric="pass@5"),))
    plan = replace(many().plan, groups=(group,))
    whole = replace(many(), plan=plan, dataset_results=(result, *others), comparison=None)
    texts = [
        terminal.as_text(whole),
        tables.summary_as_text(whole),
        comment.as_comment(whole),
        page.as_html(whole, {}).decode(),
    ]
    assert [mark in text for text in texts] == [is_marked] * 4
    marked = {row.dataset for row in figures.all_rows(whole) if getattr(row, mark)}
    assert marked == ({first.dataset, "both"} if is_marked else set())
