"""Whether two expressions have the same value: exactly where they are rational, constants to hundreds of digits, and
other expressions to the precision of doubles."""

import math
from collections.abc import Sequence as Items
from fractions import Fraction

from model_accuracy_eval.scoring.maths.approximate_values import Approximation, approximation, real_number
from model_accuracy_eval.scoring.maths.decimal_values import differ
from model_accuracy_eval.scoring.maths.maths_trees import Constant, Node, Operation
from model_accuracy_eval.scoring.maths.rational_values import integer, rational
from model_accuracy_eval.scoring.maths.residue_values import PRIME, residues

_POINTS = 24
_ENOUGH = 4
_ROUNDED_PLACES = 6
"""A decimal with at least so many places stands for every number that is rounded to it: 0.333333 for 1/3."""

ValuePairs = Items[tuple[Approximation, Approximation]]


def same_value(left: Node, right: Node) -> bool:
    """Equal wherever both are defined, and defined somewhere."""
    exact = _residue_pairs(left, right)
    if exact is not None:
        return (bool(exact) and all(one == other for one, other in exact)) or _rounded(left, right)
    pairs = _approximate_pairs(left, right)
    same = bool(pairs) and all(one.equals(other) for one, other in pairs)
    return (same and not differ(left, right)) or _rounded(left, right)


def ratio_sign(left: Node, right: Node) -> int:
    """1 or -1 if one is the other times a positive or negative constant, else 0.

    The sides of equations may be multiplied by any number, those of inequalities by positive ones.
    """
    exact = _residue_pairs(left, right)
    if exact is not None:
        ratios = {one * pow(other, -1, PRIME) % PRIME if other else 0 for one, other in exact}
        if len(ratios) != 1 or 0 in ratios:
            return 0
    pairs = _approximate_pairs(left, right)
    if not pairs:
        return 0
    (first, over), *others = pairs
    if exact is None and not all(_same_product(one, over, first, other) for one, other in others):
        return 0
    return first.sign * over.sign or (1 if exact is not None else 0)


def _same_product(one: Approximation, over: Approximation, first: Approximation, other: Approximation) -> bool:
    """One / other = first / over, without a division."""
    left, right = one.value * over.value, first.value * other.value
    error = sum(
        abs(a.value) * b.error + abs(b.value) * a.error + 1e-15 * abs(a.value * b.value)
        for a, b in ((one, over), (first, other))
    )
    return abs(left - right) <= 8 * error


def _residue_pairs(left: Node, right: Node) -> list[tuple[int, int]] | None:
    ours, theirs = residues(left), residues(right)
    if ours is None or theirs is None:
        return None
    return [(one, other) for one, other in zip(ours, theirs, strict=True) if one is not None and other is not None]


def _approximate_pairs(left: Node, right: Node) -> ValuePairs:
    """At points where all roots and logarithms are those of positive numbers, if there are some."""
    symbols = (left.symbols() | right.symbols()) - {"\\pi", "e", "i"}
    real: list[tuple[Approximation, Approximation]] = []
    others: list[tuple[Approximation, Approximation]] = []
    for point in range(_POINTS if symbols else 1):
        one, other = approximation(left, point), approximation(right, point)
        if one and other:
            (real if one.real and other.real else others).append((one, other))
    return real if len(real) >= _ENOUGH else [*real, *others]


def _rounded(left: Node, right: Node) -> bool:
    """Whether one is a decimal with enough places, and the other rounds to it and is not a decimal itself."""
    return _rounds_to(left, right) or _rounds_to(right, left)


def _rounds_to(decimal: Node, exact: Node) -> bool:
    places = _places(decimal)
    written = rational(decimal)
    if places is None or written is None or (_is_decimal(exact) and rational(exact) is not None):
        return False
    number = real_number(exact)
    if number is None or not math.isfinite(number):
        return False
    # Doubles have 53 bits.
    return abs(Fraction(number) - written) <= Fraction(10) ** -places / 2 + abs(Fraction(number)) / 2**48


def _places(node: Node) -> int | None:
    """The place of a decimal's last digit: 6 of -0.333333, 15 of 2.314814814815 · 10^-3."""
    match node:
        case Constant(places=places):
            return places if places >= _ROUNDED_PLACES else None
        case Operation("negate", (operand,)):
            return _places(operand)
        case Operation(
            "multiply", (mantissa, Operation("power", (Constant(Fraction(numerator=10, denominator=1)), scale)))
        ):
            digits, exponent = _places(mantissa), integer(scale)
            return None if digits is None or exponent is None else digits - exponent
    return None


def _is_decimal(node: Node) -> bool:
    return any(isinstance(part, Constant) and part.places for part in node.walk())
