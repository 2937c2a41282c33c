"""The table of pairs against math-verify, difference by difference."""

import pytest
from math_verify import parse, verify  # type: ignore[import-untyped]
from tests.maths_pairs import TOPICS, PairTopic

DIFFERENCES = {
    "it does not read this way of writing a number": [
        "1500 ~ 1.5e3", r"10000 ~ 10\,000", "10000 ~ 10 000", "(1000,2) ~ (1,000, 2)", "½ ~ 0.5", r"1 1/2 ~ \frac32",
        "1½ ~ 1.5", r"√2 ~ \sqrt{2}", "x^2 ~ x²", "90° ~ \\frac{\\pi}{2}",
    ],
    "it does not read repeating decimals": [
        r"\frac13 ~ 0.\overline{3}", r"0.1\overline{6} ~ \frac16", r"\frac{1}{7} ~ 0.\overline{142857}",
        r"\frac13 ~ 0.333...", r"\frac{4}{33} ~ 0.1212\ldots", r"0.\overline{9} ~ 1",
    ],
    "it takes a digit before dots for all there is": [r"\frac12 ~ 0.5..."],
    "it rounds both numbers to six places, whatever was written": [
        "0.3 ~ 0.30000000000000004", "0.333333 ~ 0.3333333",
    ],
    "it rounds to six places after the point where more digits are significant": [
        r"\frac{1}{432} ~ 2.314814814815 \times 10^{-3}",
    ],
    "it takes the exact side of ≈ alone": [r"0.33 ~ \frac13 \approx 0.33"],
    "it reads no dollar sign that has a backslash": [
        r"\$36 ~ 36", r"36 ~ \$36", r"\$36 ~ 36 \text{ dollars}", r"\$18.90 ~ 18.9",
    ],
    "it drops all units": [
        r"15\text{ cm} ~ 15\text{ m}", r"15\text{ cm}^2 ~ 15\text{ cm}^3", r"12\text{ cm} ~ 12 m",
    ],
    "it does not read a name in words before a value with a unit": [r"12 ~ \text{Area} = 12 \text{ cm}^2"],
    "it drops the base of a number": ["204_5 ~ 204", "204_5 ~ 204_6"],
    "it takes i for a variable": [
        "13 ~ (2+3i)(2-3i)", r"-1 ~ e^{i\pi}", r"2i ~ \sqrt{-4}", r"\frac{1}{i} ~ -i",
    ],
    "it takes the complex root of a negative number": [r"\sqrt[3]{-8} ~ -2"],
    "it does not ask where both sides are real": [r"\sqrt{xy} ~ \sqrt{x}\sqrt{y}"],
    "it reads a degree in a function as a unit": [r"\frac12 ~ \sin 30^\circ"],
    "it does not tell small letters from capitals": ["x+1 ~ X+1", "a ~ A"],
    "it reads ab as a word": [r"2ab ~ 2 \cdot b \cdot a"],
    "it takes the last side of any equation for the answer": ["5 ~ 2x=5", "11 ~ x = 7 = 11"],
    "it knows a name on the left only, and no other name for it": ["5 ~ 5 = x", "y=2x+1 ~ f(x)=2x+1"],
    "it does not scale inequalities": ["2x>6 ~ 3<x"],
    "it compares inequalities with intervals only if told to": [
        r"(0,1] ~ 0<x\le 1", r"(5,\infty) ~ x>5", r"(-\infty,3)\cup(3,\infty) ~ x \ne 3",
        r"(-\infty,1)\cup(2,\infty) ~ x<1 \text{ or } x>2", r"\{x \mid x>2\} ~ (2,\infty)",
        r"(1,2) ~ x>1 \text{ and } x<2",
    ],
    "it does not read brackets that are turned round": ["]0,1[ ~ (0,1)"],
    "it takes a set for a point": [r"(1,2) ~ \{1,2\}"],
    "it takes lists for sets": ["1,1,2 ~ 1,2"],
    "it does not pair the values of two ± with each other": [
        r"\frac{-1\pm\sqrt{5}}{2} ~ -\frac12\pm\frac{\sqrt5}{2}",
    ],
    "it reads a short word as a product": ["no ~ on", r"50 \text{ mph} ~ 50 miles per hour"],
    "it compares words with case": [r"\text{no solution} ~ No solution."],
}  # fmt: skip
"""Why math-verify has another verdict, and of which pairs: right answer, tilde, answer."""

NEVER_ENDING = ("9^{9^", "10^{10^", "7^{10^", "99999999!")
"""What math-verify would compute for ever without its clock."""


def verdict(right: str, answer: str) -> bool:
    expected, actual = (
        parse(text if "$" in text or "\\boxed" in text else f"${text}$", parsing_timeout=None)
        for text in (right, answer)
    )
    return bool(verify(expected, actual, timeout_seconds=None))


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_each_difference_from_math_verify_has_a_reason(topic: PairTopic) -> None:
    """No other pair has another verdict, and none of these has lost its difference."""
    asked = {
        f"{right} ~ {answer}": (right, answer, same)
        for pairs, same in ((topic.same, True), (topic.different, False))
        for right, answer in pairs
        if not any(huge in right + answer for huge in NEVER_ENDING)
    }
    explained = {pair for pairs in DIFFERENCES.values() for pair in pairs} & asked.keys()
    assert {pair for pair, (right, answer, same) in asked.items() if verdict(right, answer) != same} == explained


def test_every_difference_is_one_of_the_table() -> None:
    """A pair that left the table leaves this list too."""
    table = {f"{right} ~ {answer}" for topic in TOPICS for right, answer in (*topic.same, *topic.different)}
    assert [pair for pairs in DIFFERENCES.values() for pair in pairs if pair not in table] == []
