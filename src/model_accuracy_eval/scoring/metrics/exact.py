"""(answer, right answers) → 1.0 or 0.0."""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

_DECORATION = re.compile(r"[$€£¥,]|%$")


def exact(answer: str, references: Sequence[str], *, ignore_case: bool = False, ignore_blanks: bool = False) -> float:
    """1 if the answer is one of the references, letter by letter."""

    def plain(text: str) -> str:
        text = text.casefold() if ignore_case else text
        return re.sub(r"\s+", " ", text).strip() if ignore_blanks else text

    return float(plain(answer) in {plain(reference) for reference in references})


def number(answer: str, references: Sequence[str]) -> float:
    """1 if the answer is the same number as a reference: 1,234 = 1234.0 = $1234."""
    value = as_number(answer)
    return float(value is not None and any(value == as_number(reference) for reference in references))


def as_number(text: str) -> Decimal | None:
    """Decimal, not float: 0.1 is 0.1, and 20 digits stay 20 digits."""
    bare = _DECORATION.sub("", text.strip()).replace("−", "-").rstrip(".")
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
