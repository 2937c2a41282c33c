"""Equality of mathematical expressions, by math-verify."""

from collections.abc import Sequence

from model_accuracy_eval.scoring.metrics.exact import number
from model_accuracy_eval.scoring.metrics.row import Metric
from model_accuracy_eval.scoring.metrics.translation import library


def math_equal(answer: str, references: Sequence[str]) -> float:
    r"""1 if the answer is worth the same as a reference: \frac{1}{2} = 0.5, {1, 2} = {2, 1}. Equal numbers need no library.

    Its time limits are off, because they are signals, and signals belong to the run: the sizes that they guard
    against are refused instead.
    """
    if number(answer, references) or answer.strip() in references:
        return 1.0
    if max(len(answer), *map(len, references)) > _LONGEST:
        return 0.0
    verify = library("math_verify", "maths")
    said = verify.parse(_marked(answer), parsing_timeout=None)
    return float(
        any(
            verify.verify(verify.parse(_marked(right), parsing_timeout=None), said, timeout_seconds=None)
            for right in references
        )
    )


_LONGEST = 400
"""Characters of an expression that is still compared by its worth."""


def _marked(text: str) -> str:
    """LaTeX is read as such only between marks."""
    return text if "$" in text or "\\boxed" in text else f"${text}$"


ROWS = {"math_equal": Metric(score=math_equal, yes_or_no=True, extra="maths:math_verify")}
