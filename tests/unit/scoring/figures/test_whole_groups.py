"""Rows that count only together: MMBench's rotations, and HallusionBench's questions and pictures."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from tests.dataset_fixtures import prepared

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Attempt, Fault, SummaryRow
from model_accuracy_eval.scoring.figures.notes import groups_in_part
from model_accuracy_eval.scoring.figures.scorecard import Scorecard


def scored(name: str, replies: Sequence[str | None], limit: int | None = None) -> dict[str, SummaryRow]:
    """The figures of a model with these replies; None: the request failed."""
    ready = prepared(find(name))
    card = Scorecard(ready.task, 1, (1,))
    for problem, reply in list(zip(ready.problems, replies, strict=True))[:limit]:
        fault = Fault(kind="failed", sentence="503") if reply is None else None
        card.judge(problem, [Attempt(problem=problem.id, index=0, text=reply or "", fault=fault)])
    return {row.metric: row for row in card.rows(ready.version)}


def test_a_question_counts_only_if_all_of_its_rotations_are_right() -> None:
    """Six rows of five questions; the second question has two rotations, of which one is missed."""
    assert [problem.key for problem in prepared(find("mmbench@circular")).problems] == [
        ("3",), ("7",), ("1000007",), ("9",), ("11",), ("12",)
    ]  # fmt: skip
    rows = scored("mmbench@circular", ["B", "B", "A", "A", "B", "A"])
    assert rows["circular accuracy"].value == pytest.approx(80)
    assert rows["accuracy"].value == pytest.approx(100 * 5 / 6)
    assert rows["circular accuracy[shape]"].value == pytest.approx(50)
    assert rows["circular accuracy"].stderr == pytest.approx(20)  # five observations, not six


def test_a_limit_leaves_no_half_question() -> None:
    """One rotation of two says nothing of the question."""
    rows = scored("mmbench@circular", ["B", "B", "A", "A", "B", "A"], limit=2)
    assert (rows["circular accuracy"].value, rows["accuracy"].value) == (100, 100)
    assert scored("mmbench@circular", ["no"] + ["B"] * 5, limit=2)["circular accuracy"].value == 0


def test_what_is_left_out_is_told() -> None:
    """A limit, or a shard, may cut a question's rotations apart."""
    ready = prepared(find("mmbench@circular"))
    assert list(groups_in_part(ready)) == []
    (sentence,) = groups_in_part(replace(ready, problems=ready.problems[:2]))
    assert sentence.startswith("circular accuracy leaves out 1 of 2 groups of rows, because a limit or a shard")


def test_a_lost_row_has_limits() -> None:
    """It counts as wrong; with a wrong rotation beside it, it makes no difference."""
    row = scored("mmbench@circular", ["B", None, "C", "A", None, "A"])["circular accuracy"]
    assert row.bounds is not None
    assert (row.value, row.bounds.low, row.bounds.high) == pytest.approx((60, 60, 100))
    row = scored("mmbench@circular", ["B", None, "D", "A", "B", "A"])["circular accuracy"]
    assert (row.value, row.bounds and row.bounds.high) == pytest.approx((80, 80))


def test_questions_and_pictures_of_hallusionbench() -> None:
    """Two pictures of one question, of which one is missed: qAcc counts the question as wrong, fAcc one picture."""
    rows = scored("hallusionbench", ["yes", "yes", "no", "yes", "yes"])
    figures = {name: rows[name].value for name in ("accuracy", "qAcc", "fAcc")}
    assert figures == pytest.approx({"accuracy": 80, "qAcc": 50, "fAcc": 80})
