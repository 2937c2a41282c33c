"""Whether two expressions have the same value: exactly where they are rational, constants to hundreds of digits, and
other expressions to the precision of doubles."""

import math
import random
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Items
from decimal import Context, Decimal, DecimalException, localcontext
from fractions import Fraction
from functools import lru_cache, reduce

from model_accuracy_eval.scoring.maths.maths_trees import Constant, Node, Operation, Symbol
from model_accuracy_eval.scoring.maths.numeric_values import (
    Approximation,
    approximation,
    integer,
    rational,
    real_number,
)

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


# Exact comparison of rational expressions: their values modulo a large prime, at a few fixed points.
#
# Rational expressions that are equal have equal residues at every point, others hardly ever at one, and we look at
# several. The size of the numbers does not matter: 7^(10^300) is as quick as 7^2. π and e are symbols here, as no
# rational expression in them is zero by accident.


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


def _product(factors: Iterable[int]) -> int:
    return reduce(lambda product, factor: product * factor % PRIME, factors, 1)


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
    return _product(range(2, number + 1))


# Constants to sixty digits, where doubles cannot tell them apart: 10^10 and the root of 10^20 + 1.


_DIGITS = 120
_TOLERANCE = Decimal("1e-60")


def differ(left: Node, right: Node) -> bool:
    """Whether two constants are known to differ. Those with complex numbers or rarer functions are not known here."""
    with localcontext(Context(prec=_DIGITS)):
        try:
            one, other = _decimal_value(left), _decimal_value(right)
        except (DecimalException, _UnknownError, OverflowError):
            return False
        return abs(one - other) > _TOLERANCE * max(Decimal(1), abs(one), abs(other))


class _UnknownError(Exception):
    """No real number, or a function that is not known here."""


def _decimal_value(node: Node) -> Decimal:
    if isinstance(node, Constant):
        return Decimal(node.value.numerator) / node.value.denominator
    if isinstance(node, Symbol) and node.name in _CONSTANTS:
        return _CONSTANTS[node.name]()
    if not isinstance(node, Operation):
        raise _UnknownError
    if node.name in {"power", "root"}:
        return _decimal_power(node)
    operands = [_decimal_value(operand) for operand in node.operands]
    if node.name not in _DECIMAL:
        raise _UnknownError
    return _DECIMAL[node.name](*operands)


def _decimal_power(node: Operation) -> Decimal:
    base, exponent = _decimal_value(node.operands[0]), rational(node.operands[1])
    if exponent is None or (node.name == "root" and not exponent):
        raise _UnknownError
    exponent = 1 / exponent if node.name == "root" else exponent
    if base < 0 and exponent.denominator % 2:
        power = (-base) ** (Decimal(exponent.numerator) / exponent.denominator)
        return -power if exponent.numerator % 2 else power
    return Decimal(base ** (Decimal(exponent.numerator) / exponent.denominator))


_PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679")
_CONSTANTS: dict[str, Callable[[], Decimal]] = {"\\pi": lambda: _PI, "e": lambda: Decimal(1).exp()}
_DECIMAL: dict[str, Callable[..., Decimal]] = {
    "add": lambda *terms: sum(terms, Decimal(0)),
    "multiply": lambda *factors: math.prod(factors, start=Decimal(1)),
    "value of function": lambda *factors: math.prod(factors, start=Decimal(1)),
    "negate": lambda term: -term,
    "inverse": lambda factor: 1 / factor,
    "absolute value": abs,
    "per cent": lambda term: term / 100,
    "degrees": lambda angle: angle * _PI / 180,
    "exp": lambda exponent: exponent.exp(),
    "ln": lambda number: number.ln(),
}
