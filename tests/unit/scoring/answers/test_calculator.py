"""The calculator of GSM8K's solutions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.real_data import rows

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.scoring.answers.tools import calculate, split_notes
from model_accuracy_eval.scoring.metrics.exams import calculator_notes


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


def test_n10_notes_are_told_from_the_text() -> None:
    """A note becomes an expression and its result, parted at the last equals sign; all the rest is text."""
    assert list(split_notes("12/60 = $<<12/60=0.2>>0.2")) == [
        ("text", "12/60 = $"),
        ("python", "12/60"),
        ("python_output", "0.2"),
        ("text", "0.2"),
    ]
    assert list(split_notes("<<a=b=c>><<d>>")) == [
        ("python", "a=b"), ("python_output", "c"), ("python", "d"), ("python_output", ""),
    ]  # fmt: skip


@given(st.text(alphabet="ab=<>1 ", max_size=40))
def test_n10_nothing_of_a_solution_is_lost(solution: str) -> None:
    """Texts and notes, put together again, are the solution."""
    told = list(split_notes(solution))
    rebuilt = ""
    for place, (kind, text) in enumerate(told):
        if kind == "text":
            rebuilt += text
        elif kind == "python":
            result = told[place + 1][1]
            whole = f"<<{text}={result}>>"
            rebuilt += whole if whole in solution else f"<<{text}>>"
    assert rebuilt == solution


def test_n10_the_notes_of_gsm8k_hold() -> None:
    """Of the notes in the 1,319 solutions hardly any is off, and a spoilt one is seen."""
    shares = [calculator_notes(row["answer"], ()) for row in rows(find("gsm8k"))]
    assert sum(shares) / len(shares) > 0.97
    assert calculator_notes("<<3*4=13>>13", ()) == 0.0
    assert calculator_notes("<<3*4=12>>12 and <<1+1=3>>3", ()) == 0.5
    assert calculator_notes("no notes", ()) == 1.0
