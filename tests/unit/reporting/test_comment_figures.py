"""The figures that a comment carries in its marker: handed on from run to run, and never trusted."""

import base64
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.reporting.comment_samples import BEFORE, KEY, ended
from tests.unit.reporting.fixed_report import many
from tests.unit.reporting.rendered import render

from model_accuracy_eval.records import Conclusion
from model_accuracy_eval.reporting import comment, comment_figures
from model_accuracy_eval.reporting.comment_figures import Figure, Figures


def test_a_comment_carries_its_figures_to_the_next() -> None:
    """And the differences are told only where the question is the same, and every sample has a verdict."""
    first = comment.as_comment(many(), key=KEY, commit="89abcdef0123456")
    kept = comment_figures.read(first)
    assert kept is not None
    assert kept.of == "89abcdef0123"
    assert [(old.value, old.exact) for old in kept.rows] == [(5.6, True), (5.6, True), (24.0, False), (0.0, False)]
    rows = render(comment.as_comment(many(), key=KEY, before=BEFORE)).rows
    told = {cells[1]: cells[4:] for cells in rows[1:] if cells[0] == "demo_gsm8k"}
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
