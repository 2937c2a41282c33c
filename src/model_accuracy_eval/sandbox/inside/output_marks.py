"""A short mark for what a program gave for an input: outputs that say the same have the same mark.

Marks are made in the judge's process, of plain data alone. They serve to see which programs agree with each other.
"""

import math
import re
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any

sha256: Callable[[bytes], Any] = import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
"""Python's own: the one of `hashlib` comes with 400 KB of OpenSSL, which each fork would pay for."""

NO_MARK = ""
"""Of what is no plain data: nobody can say whether two of these are the same."""

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")
_DIGITS = 9
"""Of a number with a fraction, as many digits count: programs add in different orders."""
_EXACT_WHOLE = 1e15
_LONG = 1 << 4096
"""From here on decimal digits would take long to find."""
_MAPPINGS = {dict, OrderedDict, defaultdict, Counter}


class _NotPlain(Exception):
    """A value that is not compared by its content."""


def mark_of_text(rule: str, output: str) -> str:
    """Of what was printed, by the rule that says what is right: where letters count there, they count here."""
    return _digest(_text(rule, output))


def mark_of_value(output: Any, *, tuples_are_lists: bool) -> str:
    """Of what was returned; empty if that is not made of plain data alone."""
    try:
        return _digest(_canonical(output, tuples_are_lists))
    except (_NotPlain, RecursionError):
        return NO_MARK


def _digest(text: str) -> str:
    return str(sha256(text.encode("utf-8", "surrogatepass")).hexdigest())[:16]


def _text(rule: str, output: str) -> str:
    if rule == "exact":
        return output.removesuffix("\n")
    if rule == "tokens":
        return " ".join(output.split())
    if rule == "livecodebench":
        return "\n".join(" ".join(map(_word, line.split())) for line in output.strip().split("\n"))
    return " ".join(map(_word, (output.lower() if rule == "codecontests" else output).split()))


def _word(word: str) -> str:
    return _number(float(word)) if _DECIMAL.fullmatch(word) else word


def _number(value: float) -> str:
    if math.isfinite(value) and value == int(value) and abs(value) < _EXACT_WHOLE:
        return str(int(value))
    return f"{value:.{_DIGITS}g}"


def _canonical(value: Any, tuples_are_lists: bool) -> str:
    """A text that equal values have in common: 1, 1.0 and True are equal, and dictionaries and sets have no order."""
    kind = type(value)
    if kind in _ATOMS:
        return _ATOMS[kind](value)
    if kind in _MAPPINGS:
        value = value.items()
    elif kind not in (list, tuple, set, frozenset):
        raise _NotPlain
    parts = [_canonical(part, tuples_are_lists) for part in value]
    if kind is tuple and tuples_are_lists:
        kind = list
    ordered = kind in (list, tuple)
    return f"{_FORMS.get(kind, kind.__name__)}({','.join(parts if ordered else sorted(parts))})"


def _whole(value: int) -> str:
    return str(int(value)) if abs(value) < _LONG else hex(value)


_ATOMS: dict[type, Callable[[Any], str]] = {
    bool: _whole,
    int: _whole,
    float: _number,
    complex: lambda value: f"({_number(value.real)}+{_number(value.imag)}j)",
    **dict.fromkeys((type(None), str, bytes, Decimal, Fraction), repr),
}
_FORMS: dict[type, str] = {**dict.fromkeys(_MAPPINGS, "dict"), frozenset: "set"}
"""Types whose values may equal those of another one."""
