"""Texts that are numbers."""

import re
from decimal import Decimal, InvalidOperation

_DECORATION = re.compile(r"[$€£¥]|%$")
_COMMAS = re.compile(r"(?<![\d,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
"""Commas between thousands. 1,2 and 1,0000 are no numbers."""


def as_number(text: str) -> Decimal | None:
    """The number that the text is. Decimal, not float: 0.1 is 0.1, and 20 digits stay 20 digits."""
    if text.isascii() and text.isdecimal():  # most right answers: no need to look for commas and currencies
        return Decimal(text)
    bare = _DECORATION.sub("", text.strip()).replace("−", "-").rstrip(".")
    bare = _COMMAS.sub(lambda thousands: thousands[0].replace(",", ""), bare)
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
