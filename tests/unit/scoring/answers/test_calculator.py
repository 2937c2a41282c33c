"""The calculator that a task may offer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.scoring.answers.tools import calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("12/60", 0.2),
        ("1,000*2", 2000),
        ("(3+4)*-2", -14),
        ("7//2", 3),
        (".5+.25", 0.75),
        ("'strawberry'.count('r')", 3),
        ('"banana".count("an")', 2),
    ],
)
def test_n11_the_calculator_calculates(expression: str, value: float) -> None:
    """The four operations, brackets, and the count of a text in a text."""
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "2**3", "'a'.upper()", "'a'.count('a', 1)", "'a'*9", "1/0", "", "1+", "abc", "True+1", "__import__('os')",
        "(1).real", "[1]", "1 if 1 else 2", "1<2", "7%2", "1e400-1e400j", "(" * 300 + ")" * 300, "1+" * 600 + "1",
    ],
)  # fmt: skip
def test_n11_whatever_else_is_no_sum(expression: str) -> None:
    """Neither a value nor an exception, and nothing is run."""
    assert calculate(expression) is None


@given(st.text(alphabet="0123456789+-*/.() ,'\"count_[]", max_size=60))
def test_n11_any_text_is_answered(expression: str) -> None:
    """A number or None, whatever it says."""
    value = calculate(expression)
    assert value is None or isinstance(value, int | float)
