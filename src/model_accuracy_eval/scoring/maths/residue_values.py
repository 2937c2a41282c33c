"""Exact comparison of rational expressions: their values modulo a large prime, at a few fixed points.

Rational expressions that are equal have equal residues at every point, others hardly ever at one, and we look at
several. The size of the numbers does not matter: 7^(10^300) is as quick as 7^2. π and e are symbols here, as no
rational expression in them is zero by accident.
"""

import random
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from model_accuracy_eval.scoring.maths.maths_trees import Constant, Node, Operation, Symbol
from model_accuracy_eval.scoring.maths.rational_values import integer, rational

PRIME = 2**61 - 31
POINTS = 5
_I = pow(7, (PRIME - 1) // 4, PRIME)
"""A root of -1, for the imaginary unit."""
_LARGEST_FACTORIAL = 10_000


class InexactError(Exception):
    """A root, a function or an exponent that residues know nothing of."""


def residues(node: Node) -> list[int | None] | None:
    """A value for each point, None where it is undefined; None instead of all if the expression is not rational."""
    try:
        return [_at_point(node, point) for point in range(POINTS)]
    except InexactError:
        return None


def _at_point(node: Node, point: int) -> int | None:
    try:
        return _residue(node, point)
    except ZeroDivisionError:
        return None


@lru_cache(maxsize=4096)
def _value_of(name: str, point: int) -> int:
    return _I if name == "i" else random.Random(f"{name} {point}").randrange(2, PRIME)  # noqa: S311


def _residue(node: Node, point: int) -> int:
    if isinstance(node, Constant):
        return _of_fraction(node.value)
    if isinstance(node, Symbol):
        return _value_of(node.name, point)
    if not isinstance(node, Operation):
        raise InexactError
    if node.name in _ARITHMETIC:
        return _ARITHMETIC[node.name]([_residue(operand, point) for operand in node.operands])
    exponent = integer(node.operands[1]) if node.name == "power" else None
    if exponent is not None:
        return _power(_residue(node.operands[0], point), exponent)
    if node.name == "factorial":
        return _factorial(node.operands[0])
    value = rational(node)
    if value is None:
        raise InexactError
    return _of_fraction(value)


def _of_fraction(value: Fraction) -> int:
    return value.numerator * _inverse(value.denominator) % PRIME


def _inverse(value: int) -> int:
    if value % PRIME == 0:
        raise ZeroDivisionError
    return pow(value, -1, PRIME)


def _product(factors: list[int]) -> int:
    product = 1
    for factor in factors:
        product = product * factor % PRIME
    return product


_ARITHMETIC: dict[str, Callable[[list[int]], int]] = {
    "add": lambda terms: sum(terms) % PRIME,
    "multiply": _product,
    "value of function": _product,
    "negate": lambda terms: -terms[0] % PRIME,
    "inverse": lambda factors: _inverse(factors[0]),
    "per cent": lambda terms: terms[0] * _inverse(100) % PRIME,
}


def _power(base: int, exponent: int) -> int:
    if base == 0 and exponent <= 0:
        raise ZeroDivisionError
    return pow(base, exponent, PRIME)


def _factorial(operand: Node) -> int:
    number = integer(operand)
    if number is None or not 0 <= number <= _LARGEST_FACTORIAL:
        raise InexactError
    return _product(list(range(2, number + 1)))
