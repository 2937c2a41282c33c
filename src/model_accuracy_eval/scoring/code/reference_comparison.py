"""Tests that compare a program with the reference solution, input by input, as source for the sandbox.

The rules are those of EvalPlus: equality, with a tolerance where floats are expected, and exceptions for a few
functions with several right answers. The reference runs with the tests, out of the program's reach.
"""

from collections.abc import Sequence
from typing import Any

_UNORDERED = {
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
    "find_dissimilar", "Diff",
}  # fmt: skip
_MATCH_OR_NONE = {"check_str", "text_match_three", "text_starta_endb"}
"""Functions that may return any object for yes, and None for no."""
_RULES = {
    "are_equivalent": "True",
    "sum_div": "_got == _expected or _got == 0",
    "find_zero": "abs(_reference['poly'](*_arguments, _got)) <= _TOLERANCE",
    **dict.fromkeys(_UNORDERED, "set(_got) == set(_expected)"),
    **dict.fromkeys(
        _MATCH_OR_NONE, "(_got if isinstance(_got, bool) else _got is not None) == (_expected not in (None, False))"
    ),
}

_TESTS = """
from copy import deepcopy as _copy
from math import inf, nan

_TOLERANCE = {tolerance!r}
_reference = {{"__name__": "reference"}}
exec(compile({reference!r}, "<reference>", "exec"), _reference)

def _floats(value):
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(one, float) for one in value)
    return isinstance(value, float)

def _close(got, expected, tolerance):
    if isinstance(expected, (list, tuple)):
        return type(got) == type(expected) and len(got) == len(expected) and all(
            _close(*pair, tolerance) for pair in zip(got, expected))
    if isinstance(expected, (bool, int, float, complex)) and isinstance(got, (bool, int, float, complex)):
        return got == expected or abs(got - expected) <= tolerance + 1e-7 * abs(expected)
    return got == expected

def _agrees(_got, _expected, _arguments):
    if {agree}:
        return True
    tolerance = _TOLERANCE or (1e-6 if _floats(_expected) else 0)
    return bool(tolerance) and type(_got) == type(_expected) and _close(_got, _expected, tolerance)

for _number, _arguments in enumerate({inputs!r}):
    _expected = _reference[{name!r}](*_copy(_arguments))
    _got = {name}(*_copy(_arguments))
    assert _agrees(_got, _expected, _arguments), (
        f"input {{_number}}: {{repr(_got)[:200]}} is not {{repr(_expected)[:200]}}")
"""


def comparison_tests(*, entry_point: str, reference: str, inputs: Sequence[list[Any]], tolerance: float) -> str:
    """Source that raises unless the program agrees with the reference on all inputs."""
    return _TESTS.format(
        tolerance=tolerance,
        reference=reference,
        agree=_RULES.get(entry_point, "_got == _expected"),
        inputs=list(inputs),
        name=entry_point,
    )
