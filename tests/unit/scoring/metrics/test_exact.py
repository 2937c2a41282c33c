"""(answer, right answers) → 1.0 or 0.0."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.stated_numbers import as_number
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, PARTS, metric
from model_accuracy_eval.scoring.metrics.user_functions import is_path

exact, number = METRICS["exact"].score, METRICS["number"].score


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_a_number_equals_itself_however_it_is_written(value: Decimal) -> None:
    """Trailing zeros, thousands commas, currency signs and a closing full stop change nothing."""
    for written in (f"{value:f}", f"{value:f}00", f"{value:,f}", f"${value:f}", f"{value:f}%", f" {value:f} "):
        assert number(written, (str(value),)) == 1.0, written


@given(st.text())
def test_a_text_is_exactly_itself(text: str) -> None:
    """Also when case and blanks are made light of."""
    assert exact(text, (text,)) == 1.0
    assert exact(f" {text.upper()}\n", (text.upper(),), ignore_case=True, ignore_blanks=True) == 1.0


def test_what_is_no_number_is_none() -> None:
    """Words, lists and infinities."""
    for text in ("", "-", ".", "1 2", "a1", "1.2.3", "Infinity", "sNaN", "$"):
        assert as_number(text) is None, text


@pytest.mark.parametrize(
    ("right", "extras", "answer", "value"),
    [
        ("1.2", {"kind": "number", "precision": 1.0}, "1.24", 1),
        ("1.2", {"kind": "number", "precision": 1.0}, "1.26", 0),
        ("1.2", {"kind": "number", "precision": None}, "1.24", 0),
        ("1200", {"kind": "number", "precision": 0}, "1,200.4", 1),
        ("1.2", {"kind": "number", "precision": 1.0}, "about that", 0),
        ("1.2", {"kind": "text", "precision": 1.0}, "1.24", 0),
        ("B", {"kind": "letter", "precision": 1.0}, "B", 1),
    ],
)
def test_numbers_are_rounded_where_the_row_says_so(right: str, extras: dict[str, Any], answer: str, value: int) -> None:
    problem = Problem(id=0, messages=(), references=(right,), extras=extras)
    assert metric("equal_in_kind").score(answer, problem, rounded="precision") == value


@pytest.mark.parametrize(
    ("reply", "right", "verdict"),
    [
        (r"Fine. The final answer is: \boxed{4}.", "4", True), (r"The final answer is: \boxed{4}.", "3", False),
        ("The final answer is: 2, 3, 4", "2,3,4", True), ("The final answer is: 2, 3, 4", "2,3,5", False),
        ("The answer is: (A)", "a", True), ("The answer is: (A)", "(A)", True), ("The answer is: A", "(A)", True),
        ("The answer is: (A)", "b", False), ("The answer is: **25**\nHere is why.", "25.0", True),
        ("The answer is: **25**\nHere is why.", "26.0", False), ("The answer is no", "No", True),
        ("The answer is: [emma, lily]", "emma, lily", True), ("emma, lily", "[emma, lily]", True),
        ("The answer is: who?", "who", True), ("The answer is: who", "who?", False), ("The answer is: dont", "don't", True),
        ("The answer is 3. No: The answer is 4.", "4", True), ("I would say 4", "4", False),
        (r"The answer is: $\text{unknown}$", "unknown", True), ("The answer is: nan", "nan", True), ("", "a", False),
    ],
)  # fmt: skip
def test_what_follows_the_answer_is(reply: str, right: str, verdict: bool) -> None:
    """By the last of the four ways to announce it, in the order in which the script looks for them."""
    assert METRICS["bbeh_match"].score(reply, (right,)) == verdict


def test_no_name_stands_in_two_parts() -> None:
    """So the order of the parts does not matter; nor is a name a path, which is looked at before."""
    counts = Counter(name for part in PARTS for name in part)
    assert {name for name, count in counts.items() if count > 1 or is_path(name)} == set()
    assert counts.keys() == METRICS.keys()


def test_an_unknown_name_is_refused_with_the_nearest_of_all_parts() -> None:
    with pytest.raises(UnknownName, match="anls"):
        metric("anlss")
