"""Sizes as people write them. GB is 10^9 bytes, as hubs and makers of disks count; GiB is 2^30."""

import re
from fractions import Fraction

from model_accuracy_eval.errors import BadValue

MOST_DATA = "MODEL_ACCURACY_EVAL_MAX_DATA"
"""The variable that names the bytes that one dataset's files may have in all, unpacked."""

_UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_SIZE = re.compile(r"\s*(?P<number>[0-9]{1,18}(?:\.[0-9]{1,12})?)\s*(?P<unit>[A-Za-z]*)\s*")


def parse_size(text: str, setting: str = "max-weight-size") -> int:
    """`100GB`, `93.1 GiB`, `1TB` or plain bytes → bytes, exactly."""
    parts = _SIZE.fullmatch(text)
    if parts is None or parts["unit"].lower() not in _UNITS:
        raise BadValue(
            f"{setting} '{text}' is not a size: write a number and one of B, kB, MB, GB, TB (powers of 1000) "
            "or KiB, MiB, GiB, TiB (powers of 1024), such as 100GB."
        )
    size = Fraction(parts["number"]) * _UNITS[parts["unit"].lower()]
    if size < 1:
        raise BadValue(f"{setting} '{text}' is less than one byte, so nothing would fit.")
    return int(size)


def show_size(size: int, *, decimals: int = 1) -> str:
    """In the largest decimal unit that leaves a number of at least 1: `112.4 GB`, `100 GB`, `17 bytes`."""
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            digits = f"{size / factor:.{decimals}f}"
            return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits} {unit}"
    return f"{size} byte{'s' * (size != 1)}"


def show_apart(first: int, second: int) -> tuple[str, str]:
    """Both sizes, with enough digits to show that they differ."""
    for decimals in range(1, 13):
        shown = show_size(first, decimals=decimals), show_size(second, decimals=decimals)
        if shown[0] != shown[1] or first == second:
            return shown
    return f"{first} bytes", f"{second} bytes"
