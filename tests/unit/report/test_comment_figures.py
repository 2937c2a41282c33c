"""The figures that a comment carries in its marker: handed on from run to run, and never trusted."""

import base64
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report.comment_samples import BEFORE, KEY, LINKS, ended
from tests.unit.report.fixed_report import FIGURES, many, problem_result, report, row
from tests.unit.report.rendered import live, render

from model_accuracy_eval.records import Conclusion, Counts, DatasetResult, Interval, VerdictReason
from model_accuracy_eval.report import comment, comment_figures, figures, markdown
from model_accuracy_eval.report.comment_figures import Figure, Figures


def test_a_comment_carries_its_figures_to_the_next() -> None:
    """And the differences are told only where the question is the same, and every sample has a verdict."""
    first = comment.as_comment(many(), key=KEY, commit="89abcdef0123456")
    kept = comment_figures.read(first)
    assert kept is not None
    assert kept.of == "89abcdef0123"
    assert [(old.value, old.exact) for old in kept.rows] == [(5.6, True), (5.6, True), (24.0, False), (0.0, False)]
    rows = render(comment.as_comment(many(), key=KEY, before=BEFORE)).rows
    told = {cells[2]: cells[6:] for cells in rows[1:] if cells[0] == "demo_gsm8k"}
    assert told == {
        "accuracy (5 runs average)": ["-", "-"],
        "avg@5": ["8.00", "-2.40"],
        "pass@5": ["24.00", "-"],
        "cons@5": ["1.00", "-"],
    }


@pytest.mark.parametrize("conclusion", ["broken", "stopped"])
def test_a_run_without_a_verdict_hands_on_the_older_figures(conclusion: Conclusion) -> None:
    """Half of a run must not become what the next one is compared with, nor be compared itself."""
    whole = msgspec.structs.replace(many(), outcome=ended(conclusion))
    body = comment.as_comment(whole, key=KEY, before=BEFORE)
    assert comment_figures.read(body) == BEFORE
    assert "| change |" not in body


def test_keys_tell_comments_apart() -> None:
    """Two workflows, or two labels of one, do not overwrite each other."""
    assert (
        len(
            {
                comment_figures.key_of("a", "bc"),
                comment_figures.key_of("ab", "c"),
                comment_figures.key_of("abc"),
                comment_figures.key_of("a"),
            }
        )
        == 4
    )
    body = comment.as_comment(many(), key=KEY)
    assert not comment_figures.is_ours(body, comment_figures.key_of("other"))
    assert not comment_figures.is_ours(f"> {body}", KEY)


def test_figures_that_are_too_many_are_shortened() -> None:
    """The marker never takes the room that the verdict needs."""
    rows = tuple(
        Figure(dataset=comment_figures.key_of(str(number)), version=str(number), metric="m", value=number / 7)
        for number in range(5000)
    )
    mark = comment_figures.marker(KEY, Figures(rows=rows))
    kept = comment_figures.read(mark)
    assert len(mark) < 12_100
    assert kept is not None
    assert 0 < len(kept.rows) < 5000
    assert kept.rows == rows[: len(kept.rows)]


@given(st.text(max_size=60) | st.binary(max_size=60).map(base64.b64encode).map(bytes.decode))
def test_a_forged_marker_is_no_figures(digest: str) -> None:
    """Anyone who edits a comment can write one; it is never an error."""
    assert comment_figures.read(f"<!-- model-accuracy-eval {KEY} {digest} -->") is None


@pytest.mark.parametrize(
    "source",
    [
        b'{"of": "x", "rows": [{"dataset": "d", "version": "v", "metric": "m", "value": 1e999}]}',
        b'{"of": "x", "rows": [{"dataset": "d", "version": "v", "metric": "m", "value": 1e300}]}',
        b'{"of": "x", "rows": [{"dataset": "d", "version": "v", "metric": "m", "value": "1"}]}',
        b'{"rows": "x"}',
        b'{"of": "' + b"x" * 5_000_000 + b'"}',
        b'{"of": "x", "rows": []}' + b" " * 5_000_000,
        b"[" * 100_000,
    ],
)
def test_forged_figures_are_refused(source: bytes) -> None:
    """Infinite, not to be printed, of another type, or a bomb that unpacks to megabytes."""
    digest = base64.b64encode(zlib.compress(source)).decode()
    assert comment_figures.read(f"<!-- model-accuracy-eval {KEY} {digest} -->") is None


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"avg@5": 8.0, "pass@5": 20.0}, "1 of 2 figures rose and 1 fell, most of all demo_gsm8k pass@5: +4.00."),
        ({"avg@5": 5.6}, "0 of 1 figures rose and 0 fell."),
        ({}, ""),
    ],
)
def test_one_line_says_what_changed(values: dict[str, float], line: str) -> None:
    """Of the figures that can be compared, how many rose and fell, and which changed most."""
    rows = [row("avg@5", 5.6), row("pass@5", 24.0), row("cons@5", None)]
    old = tuple(
        Figure(dataset="demo_gsm8k", version="0ba9da", metric=name, value=value) for name, value in values.items()
    )
    found = comment_figures.changed(rows, Figures(of="0123456", rows=old), None)
    assert found.replace("\\", "") == (f"Against the run before `0123456`: {line}" if line else "")
    assert comment_figures.changed(rows, None, None) == ""


def test_the_line_counts_what_the_table_shows() -> None:
    """Figures of other questions, and such that lack samples, have no change in the table and none in the line."""
    rows = figures.all_rows(many())
    shown = render(comment.as_comment(many(), key=KEY, before=BEFORE)).rows
    assert [cells[-1] for cells in shown if cells[0] == "demo_gsm8k"] == ["-", "-2.40", "-", "-"]
    assert "0 of 1 figures rose and 1 fell" in comment_figures.changed(rows, BEFORE, None)


def test_the_three_lowest_parts_of_all_datasets() -> None:
    """With their problems and intervals; names of parts come from data, so they are text."""

    def part(name: str, dataset: str, *why: VerdictReason) -> DatasetResult:
        problems = tuple(
            msgspec.structs.replace(problem_result(number, (each,), (None,)), category=category)
            for number, (each, category) in enumerate([*((one, name) for one in why), ("right", "other")])
        )
        return DatasetResult(
            dataset=dataset, version="0ba9da", rows=(row("accuracy", 50.0),), problem_results=problems, counts=Counts()
        )

    lowest = comment_figures.lowest_parts(
        [part("@octocat | <b>", "a", "wrong", "wrong"), part("half", "b", "right", "wrong"), part("good", "c", "right")]
    )
    shown = render("\n".join(lowest.lines))
    assert live(shown) == []
    assert set(shown.tags) == {"ul", "li", "strong"}
    assert [line.split("**")[1] for line in lowest.lines] == ["0.00", "50.00", "100.00"]
    assert lowest.lines[0].endswith("2 problems")


def test_sixty_datasets_fit() -> None:
    """With four figures each, a baseline's beside them, gates and notes: every row, and the links."""
    many_results = tuple(
        DatasetResult(
            dataset=f"longbench_dataset_{number}", version="0ba9da",
            rows=tuple(row(metric, 5.6, f"longbench_dataset_{number}", Interval(low=1.25, high=18.5)) for metric, _ in FIGURES),
            problem_results=(), counts=Counts(planned=5, answered=5), notes=("All answers of one problem are equal.",),
        )
        for number in range(60)
    )  # fmt: skip
    whole = report(many_results)
    old = tuple(
        Figure(dataset=each.dataset, version=each.version, metric=each.metric, value=4.0)
        for result in many_results for each in result.rows
    )  # fmt: skip
    before = Figures(of="0123456789ab", rows=old)
    body = comment.as_comment(whole, key=KEY, links=LINKS, before=before)
    assert markdown.characters(body) <= comment.LONGEST_COMMENT
    check = comment.as_check(whole, links=LINKS, before=before).summary
    assert len(check.encode()) <= comment.LONGEST_CHECK
    for text in (body, check):
        assert len([cells for cells in render(text).rows if cells[0].startswith("longbench")]) == 240
        assert "Against the run before" in text
        assert "Full report (artifact)" in text
    assert comment_figures.read(body) is not None
