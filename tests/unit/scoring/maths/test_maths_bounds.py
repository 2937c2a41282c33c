"""What cannot be read, or would be huge, gets a verdict as quickly as anything else, and never an error."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.scoring.maths import equal
from model_accuracy_eval.scoring.maths.maths_parser import read
from model_accuracy_eval.scoring.maths.maths_trees import Unreadable

PIECES = [
    "\\frac", "\\sqrt", "{", "}", "(", ")", "[", "]", "\\{", "\\}", "^", "_", "x", "2", "10", "9" * 40, "1.5", "!", "%",
    "\\pm", "\\cup", ",", ";", "=", "<", "|", ":", "+", "-", "*", "/", "\\pi", "\\infty", "\\ln", "\\sin", "i", "e", " ",
    "\\text{cm}", "\\text{", "\\begin{pmatrix}", "\\end{pmatrix}", "&", "\\\\", "\\overline{3}", ".", "\\$", "°", "\\in",
    "\\approx", "\\mathbb{R}", "\\boxed{", "…", "½", "²", "f(", "\\log_", "\\binom", "words", "\\setminus", "\\cap", "'",
]  # fmt: skip

texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@given(texts, texts)
def test_any_two_texts_get_a_verdict_and_it_is_symmetric(left: str, right: str) -> None:
    """Whatever they hold."""
    assert equal(left, right) is equal(right, left)


@given(texts.filter(str.strip))
def test_a_text_is_itself(text: str) -> None:
    """Unless nothing is left of it without blanks and marks at its ends."""
    assert equal(text, text) or not text.strip(" .,;:$\\{}~\t\n") or not equal(text, "x")


@pytest.mark.parametrize(
    "text",
    [
        "10^{10^{10}}",
        "10^{10^{10^{10^{10}}}}",
        "99999999999!",
        "((((2^{999})^{999})^{999})^{999})^{999}",
        "\\binom{10^{9}}{10^{8}}",
        "1e999",
        "1e999999999",
        "9" * 1999,
        "9" * 5000,
        "(" * 1500 + "x" + ")" * 400,
        "\\sqrt" * 300 + "2",
        "-" * 1500 + "2",
        "x^" * 900 + "2",
        "2" + "!" * 1000,
        "x'" + "'" * 1000,
        "\\frac" * 300,
        "1" + "/2" * 900,
        "x" + "+x" * 900,
        "1" + "\\cup 2" * 300,
        ",".join(f"x_{{{number}}}" for number in range(200)),
        "\\{" * 200,
        "|" * 1000,
        "\\begin{pmatrix}" * 100,
        "0.(" * 500,
        "\\pm" * 500 + "1",
        "1" + "\\pm 1" * 300,
        "0." + "12" * 900 + "...",
    ],
)
def test_what_is_huge_or_deep_gets_a_verdict(text: str) -> None:
    """It is itself and not 5; recursion stays far from Python's limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(900)
    try:
        assert not equal(text, "5")
        assert equal(text, text)
        assert not equal(text, text + "+1") or text.startswith("1e9999")
    finally:
        sys.setrecursionlimit(limit)


def test_what_is_too_deep_is_compared_letter_by_letter() -> None:
    """The bound is that of levels, whatever opens them."""
    assert read("(" * 10 + "x" + ")" * 10)
    for text in ("(" * 31 + "x" + ")" * 31, "\\sqrt" * 40 + "2", "2^{" * 40 + "2" + "}" * 40):
        with pytest.raises(Unreadable):
            read(text)


def test_long_lists_without_order_are_bounded() -> None:
    """Fifty items in another order are found; two hundred that all have to be compared are not the same."""
    assert equal(
        ",".join(f"x+{number}" for number in range(50)), ",".join(f"{number}+x" for number in range(49, -1, -1))
    )
    many = ",".join(f"x+{number}" for number in range(200))
    assert equal(many, many)
    assert not equal(many, ",".join(f"{number}+x" for number in range(200)))
