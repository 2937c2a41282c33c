"""(answer, right answers) → 1.0 or 0.0."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.scoring.answers.maths_answers import as_number
from model_accuracy_eval.scoring.metrics.exact import exact, number
from model_accuracy_eval.scoring.metrics.metric_table import METRICS


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_a_number_equals_itself_however_it_is_written(value: Decimal) -> None:
    """Trailing zeros, thousands commas, currency signs and a closing full stop change nothing."""
    for written in (f"{value:f}", f"{value:f}00", f"{value:,f}", f"${value:f}", f"{value:f}%", f" {value:f} "):
        assert number(written, (str(value),)) == 1.0, written


@given(st.text(), st.lists(st.text(), min_size=1).map(tuple))
def test_metrics_say_yes_or_no(answer: str, references: tuple[str, ...]) -> None:
    """What the table calls yes-or-no gives 0 or 1 whatever it is given."""
    for name in ("exact", "number"):
        assert METRICS[name].yes_or_no
        assert METRICS[name].score(answer, references) in (0.0, 1.0)


@given(st.text())
def test_a_text_is_exactly_itself(text: str) -> None:
    """Also when case and blanks are made light of."""
    assert exact(text, (text,)) == 1.0
    assert exact(f" {text.upper()}\n", (text.upper(),), ignore_case=True, ignore_blanks=True) == 1.0


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("1,234", "1234", True),
        ("1234.0", "1,234", True),
        ("$1234", "1234", True),
        ("-$5", "-5", True),
        ("−5", "-5", True),
        ("12.", "12", True),
        ("50%", "50", True),
        ("0.1", "0.10", True),
        ("18", "81", False),
        ("000", "1000", False),
        ("5", "-5", False),
        ("10000000000000000001", "10000000000000000000", False),
        ("0.30000000000000004", "0.3", False),
        ("many", "12", False),
        ("12", "many", False),
        ("nan", "nan", False),
        ("inf", "inf", False),
        ("", "0", False),
    ],
)
def test_numbers_are_compared_as_numbers(answer: str, reference: str, *, right: bool) -> None:
    """Equal values are equal, neighbours are not, and what is no number equals nothing."""
    assert number(answer, (reference,)) == float(right)


def test_one_of_several_references_is_enough() -> None:
    """For both metrics."""
    assert number("7", ("6", "seven", "7.0")) == 1.0
    assert exact("b", ("a", "b")) == 1.0


def test_exact_is_exact_unless_told_otherwise() -> None:
    """Case and blanks count, each until its switch is set."""
    assert exact("Paris", ("paris",)) == 0.0
    assert exact("Paris", ("paris",), ignore_case=True) == 1.0
    assert exact("New  York", ("New York",)) == 0.0
    assert exact(" New \n York", ("New York",), ignore_blanks=True) == 1.0
    assert exact("straße", ("STRASSE",), ignore_case=True) == 1.0


def test_what_is_no_number_is_none() -> None:
    """Words, lists and infinities."""
    for text in ("", "-", ".", "1 2", "a1", "1.2.3", "Infinity", "sNaN", "$"):
        assert as_number(text) is None, text
