"""The exact value of a tree that is a rational number, as long as it is not huge."""

import math
from collections.abc import Callable
from fractions import Fraction

from model_accuracy_eval.scoring.maths.maths_trees import Constant, Node, Operation

_MOST_BITS = 4096
"""Larger numbers are not written out here: exponents of that size are huge whatever they stand on."""
_LARGEST_FACTORIAL = 400


def rational(node: Node) -> Fraction | None:
    """None for what has symbols, is irrational, undefined or huge."""
    if isinstance(node, Constant):
        return node.value
    if not isinstance(node, Operation) or node.name not in _OPERATIONS:
        return None
    operands = [rational(operand) for operand in node.operands]
    exact = [operand for operand in operands if operand is not None]
    if len(exact) < len(operands):
        return None
    value = _OPERATIONS[node.name](*exact)
    return value if value is not None and _bits(value) <= _MOST_BITS else None


def integer(node: Node) -> int | None:
    value = rational(node)
    return value.numerator if value is not None and value.denominator == 1 else None


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _sum(*terms: Fraction) -> Fraction | None:
    return _fold(terms, Fraction(0), multiply=False)


def _product(*factors: Fraction) -> Fraction | None:
    return _fold(factors, Fraction(1), multiply=True)


def _fold(values: tuple[Fraction, ...], start: Fraction, *, multiply: bool) -> Fraction | None:
    """Step by step, so that no step makes a huge number out of numbers that are not."""
    for value in values:
        start = start * value if multiply else start + value
        if _bits(start) > _MOST_BITS:
            return None
    return start


def _inverse(value: Fraction) -> Fraction | None:
    return 1 / value if value else None


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1:
        root = _root(base, Fraction(exponent.denominator))
        return None if root is None else _power(root, Fraction(exponent.numerator))
    if (not base and exponent <= 0) or abs(exponent) * _bits(base) > _MOST_BITS:
        # 0^0 is left undefined; 1 and -1 have few bits at any exponent.
        return base ** (exponent.numerator % 2) if abs(base) == 1 else None
    return Fraction(base**exponent.numerator)


def _root(value: Fraction, degree: Fraction) -> Fraction | None:
    """Exact roots only: √4 is 2, the third root of -8 is -2."""
    if degree.denominator != 1 or not 1 <= degree <= _MOST_BITS:
        return None
    power = degree.numerator
    if value < 0:
        root = None if power % 2 == 0 else _root(-value, degree)
        return None if root is None else -root
    over, under = _whole_root(value.numerator, power), _whole_root(value.denominator, power)
    return None if over is None or under is None else Fraction(over, under)


def _whole_root(value: int, power: int) -> int | None:
    low, high = 0, 1 << (value.bit_length() // power + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**power <= value else (low, middle - 1)
    return low if low**power == value else None


def _factorial(value: Fraction) -> Fraction | None:
    whole = value.denominator == 1 and 0 <= value <= _LARGEST_FACTORIAL
    return Fraction(math.factorial(value.numerator)) if whole else None


def _binomial(over: Fraction, under: Fraction) -> Fraction | None:
    if over.denominator != 1 or under.denominator != 1 or not 0 <= over <= _MOST_BITS or under < 0:
        return None
    return Fraction(math.comb(over.numerator, under.numerator))


_OPERATIONS: dict[str, Callable[..., Fraction | None]] = {
    "add": _sum,
    "multiply": _product,
    "negate": lambda value: -value,
    "inverse": _inverse,
    "power": _power,
    "root": _root,
    "factorial": _factorial,
    "binomial": _binomial,
    "absolute value": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceiling": lambda value: Fraction(math.ceil(value)),
    "per cent": lambda value: value / 100,
}
