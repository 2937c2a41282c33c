"""(answer, right answers) → 1.0 if the answer equals one of them, else 0.0."""

import re
import string
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from model_accuracy_eval.optional import math_verify
from model_accuracy_eval.scoring.metrics.metric_type import Metric

_DECORATION = re.compile(r"[$€£¥,]|%$")
_MATH_SECONDS = 5
"""Time limit for one expression. math-verify enforces it by a signal, so it must run in the main thread."""
_MATH_CHARACTERS = 1000
_HUGE_NUMBER = re.compile(r"(?:\^|\*\*)[\s{(]*(?:[^{}()]{0,40}(?:\^|\*\*)|\d{5,})|!\s*!|\d{5,}\s*!")
"""Powers of powers and factorials of large numbers: no signal interrupts multiplications of that size."""


def exact(answer: str, references: Sequence[str], *, ignore_case: bool = False, ignore_blanks: bool = False) -> float:
    """1 if the answer is one of the references, letter by letter."""

    def plain(text: str) -> str:
        text = text.casefold() if ignore_case else text
        return re.sub(r"\s+", " ", text).strip() if ignore_blanks else text

    return float(plain(answer) in {plain(reference) for reference in references})


def exact_match(
    answer: str,
    references: Sequence[str],
    *,
    regexes_to_ignore: Sequence[str] | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
    ignore_spaces: bool = False,
) -> float:
    """1 if the answer equals a reference after everything to be ignored is removed from both, in lm-eval's order."""
    unwanted = string.punctuation * ignore_punctuation + string.digits * ignore_numbers + " " * ignore_spaces
    table = str.maketrans("", "", unwanted)

    def plain(text: str) -> str:
        for pattern in regexes_to_ignore or ():
            text = re.sub(pattern, "", text)
        return (text.lower() if ignore_case else text).translate(table)

    return float(plain(answer) in {plain(reference) for reference in references})


def number(answer: str, references: Sequence[str]) -> float:
    """1 if the answer is the same number as a reference: 1,234 = 1234.0 = $1234."""
    value = as_number(answer)
    return float(value is not None and any(value == as_number(reference) for reference in references))


def as_number(text: str) -> Decimal | None:
    """The number that the text is. Decimal, not float: 0.1 is 0.1, and 20 digits stay 20 digits."""
    bare = _DECORATION.sub("", text.strip()).replace("−", "-").rstrip(".")
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def math_equal(answer: str, references: Sequence[str]) -> float:
    r"""1 if math-verify finds the answer equal to a reference: \frac{1}{2} = 0.5, {1, 2} = {2, 1}.

    Equal numbers and equal texts need no library. Expressions that would take it forever equal only themselves.
    """
    if number(answer, references) or answer.strip() in references:
        return 1.0
    if len(answer) > _MATH_CHARACTERS or _HUGE_NUMBER.search(answer):
        return 0.0
    parsed = math_verify.parse(_as_latex(answer), parsing_timeout=_MATH_SECONDS)
    expected = [math_verify.parse(_as_latex(right), parsing_timeout=_MATH_SECONDS) for right in references]
    return float(any(math_verify.verify(right, parsed, timeout_seconds=_MATH_SECONDS) for right in expected))


def _as_latex(text: str) -> str:
    """The text between dollar signs: LaTeX is read as such only there."""
    return text if "$" in text or "\\boxed" in text else f"${text}$"


def prefix_match(answer: str, references: Sequence[str]) -> float:
    """1 if the answer begins with a reference."""
    return float(any(answer.strip().startswith(reference.strip()) for reference in references))


def in_match(answer: str, references: Sequence[str]) -> float:
    """1 if the answer in small letters is one of the references, which stay as they are."""
    return float(answer.lower().strip() in references)


def contains(answer: str, references: Sequence[str], *, ignore_case: bool = False) -> float:
    """1 if a reference occurs in the answer."""
    text = answer.lower() if ignore_case else answer
    return float(any((right.lower() if ignore_case else right) in text for right in references))


EXACT_METRICS = {
    "exact": Metric(score=exact, yes_or_no=True),
    "exact_match": Metric(score=exact_match, yes_or_no=True),
    "number": Metric(score=number, yes_or_no=True),
    "math_equal": Metric(score=math_equal, yes_or_no=True, needs=("math_verify",)),
    "prefix_match": Metric(score=prefix_match, yes_or_no=True),
    "in_match": Metric(score=in_match, yes_or_no=True),
    "contains": Metric(score=contains, yes_or_no=True),
}
