"""What LiveCodeBench, APPS and CodeContests take for a right output: rules over the input, what is expected and given.

The process that judges executes this file's own text, so it imports nothing but Python's library.
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

_ABSOLUTE, _RELATIVE = 1e-8, 1e-5
"""How far the numbers of APPS may be from those expected: NumPy's defaults."""
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)")


def livecodebench(_given: str, expected: str, output: str) -> bool:
    """LiveCodeBench: the same lines without the blanks around them, or lines of equal decimal numbers."""
    wanted, got = _lines(expected), _lines(output)
    return len(wanted) == len(got) and all(
        first == second or _decimals(first, second) for first, second in zip(wanted, got, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _decimals(first: str, second: str) -> bool:
    try:
        return [Decimal(word) for word in first.split()] == [Decimal(word) for word in second.split()]
    except InvalidOperation:
        return False


def apps(_given: str, expected: str, output: str) -> bool:
    """APPS: any of several readings, the loosest of which is a set of lines that are sets of words or numbers."""
    got = output.splitlines()
    if expected.strip() in ("\n".join(got).strip(), "\n".join(line.strip() for line in got).strip()):
        return True
    wanted = [line.strip() for line in expected.split("\n") if line]
    filled = [line for line in got if line]
    if wanted in (got, filled) or _all_close(filled, wanted):
        return True
    wanted_words = [frozenset(line.split()) for line in wanted]
    got_words = [frozenset(line.split()) for line in filled if line.split()]
    return set(got_words) == set(wanted_words) or _same_rounded(got_words, wanted_words)


def _all_close(got: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether every line is one number, about as large as the one expected."""
    try:
        pairs = list(zip(map(float, got), map(float, wanted), strict=True))
    except ValueError:
        return False
    return all(
        first == second or abs(first - second) <= _ABSOLUTE + _RELATIVE * abs(second) < math.inf
        for first, second in pairs
    )


def _same_rounded(got: Sequence[frozenset[str]], wanted: Sequence[frozenset[str]]) -> bool:
    try:
        return _rounded(got) == _rounded(wanted)
    except (ValueError, OverflowError):
        return False


def _rounded(lines: Sequence[frozenset[str]]) -> set[frozenset[float]]:
    return {frozenset(round(float(word), 3) for word in line) for line in lines}


def codecontests(_given: str, expected: str, output: str) -> bool:
    """CodeContests: the same words in any case, or numbers that differ by less than a hundred-thousandth."""
    wanted, got = (re.split(r"[ \n\t\r\v]+", text.strip(" \n\t\r\v")) for text in (expected, output))
    return len(wanted) == len(got) and all(map(_same_value, map(_lower, wanted), map(_lower, got)))


def _lower(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def _same_value(first: str, second: str) -> bool:
    if first == second:  # whatever it would be as a number: infinite, or of more digits than one has
        return True
    if not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(second)):
        return False
    return abs(float(first) - float(second)) < _RELATIVE


def apps_values(_given: Any, expected: Any, output: Any) -> bool:
    """APPS: the same, and what is expected may stand in a list of its own."""
    output = list(output) if isinstance(output, tuple) else output
    if output == expected:
        return True
    if not (isinstance(expected, list) and expected):
        return False
    inner = expected[0]
    has_tuples = isinstance(output, list) and output and isinstance(output[0], tuple)
    return bool(output == inner or (has_tuples and [list(item) for item in output] == inner))
