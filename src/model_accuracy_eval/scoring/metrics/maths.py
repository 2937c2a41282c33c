"""Equality of mathematical expressions, by math-verify."""

import re
from collections.abc import Sequence

from model_accuracy_eval.scoring.libraries import library
from model_accuracy_eval.scoring.metrics.exact import number
from model_accuracy_eval.scoring.metrics.row import Metric

_SECONDS = 5
"""For one expression; the library's own limit, which a signal keeps, so this runs in the main thread alone."""
_LONGEST = 1000
_TOWER = re.compile(r"(?:\^|\*\*)[\s{(]*(?:[^{}()]{0,40}(?:\^|\*\*)|\d{5,})|!\s*!|\d{5,}\s*!")
"""Powers of powers, and factorials of such size: no signal reaches the multiplication of numbers without end."""


def math_equal(answer: str, references: Sequence[str]) -> float:
    r"""1 if the answer is worth the same as a reference: \frac{1}{2} = 0.5, {1, 2} = {2, 1}.

    Equal numbers and equal texts need no library. Expressions that would take it without end equal only themselves.
    """
    if number(answer, references) or answer.strip() in references:
        return 1.0
    if len(answer) > _LONGEST or _TOWER.search(answer):
        return 0.0
    verify = library("math_verify", "maths")
    said = verify.parse(_marked(answer), parsing_timeout=_SECONDS)
    wanted = [verify.parse(_marked(right), parsing_timeout=_SECONDS) for right in references]
    return float(any(verify.verify(right, said, timeout_seconds=_SECONDS) for right in wanted))


def _marked(text: str) -> str:
    """LaTeX is read as such only between marks."""
    return text if "$" in text or "\\boxed" in text else f"${text}$"


ROWS = {"math_equal": Metric(score=math_equal, yes_or_no=True, extra="maths:math_verify")}
