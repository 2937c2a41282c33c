"""Whether two expressions have the same value: exactly where they are rational, constants to sixty digits, and other
expressions to the precision of doubles.

One function walks the tree; an arithmetic is a table of what it does there: fractions, residues, decimals, doubles.
"""

import cmath
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException, localcontext
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add, mul, neg
from typing import Any

from model_accuracy_eval.scoring.maths.maths_trees import (
    INFINITY,
    Constant,
    Node,
    Operation,
    Quantity,
    Symbol,
    negative,
    product_of,
)

Arithmetic = Mapping[str, Callable[..., Any]]
"""Operation → how it is done; `number` makes a value of a fraction, `symbol` of a name at one of several points."""
_UNITS = {"%": (Constant(Fraction(1, 100)),), "°": (Symbol("\\pi"), Constant(Fraction(1, 180)))}


class UnknownError(Exception):
    """Something that an arithmetic does not have: a function, a symbol, a number too large to be written out."""


def _evaluated(node: Node, arithmetic: Arithmetic, point: int = 0) -> Any:
    match node:
        case Constant():
            return arithmetic["number"](node.value)
        case Symbol():
            return arithmetic["symbol"](node.name, point)
        case Quantity() if node.unit in _UNITS:
            return _evaluated(product_of(node.value, *_UNITS[node.unit]), arithmetic, point)
        case Operation():
            return _operated(node, arithmetic, point)
    raise UnknownError


def _operated(node: Operation, arithmetic: Arithmetic, point: int) -> Any:
    """Exponents, and what a factorial is of, are needed as they are written: a residue does not tell them."""
    *operands, last = node.operands
    plain = "multiply" if node.name == "value of function" else node.name
    exact = rational(last) if plain in {"power", "factorial"} else None
    kinds = () if exact is None else (f"whole {plain}", f"exact {plain}")[exact.denominator != 1 :]
    for name in (*kinds, plain):
        if name in arithmetic:
            values = [_evaluated(operand, arithmetic, point) for operand in operands]
            return arithmetic[name](*values, exact if name in kinds else _evaluated(last, arithmetic, point))
    value = None if arithmetic is _FRACTIONS else rational(node)
    if value is None:
        raise UnknownError
    return arithmetic["number"](value)


def same_value(left: Node, right: Node) -> bool:
    """Equal wherever both are defined, and defined somewhere."""
    exact = _residue_pairs(left, right)
    if exact is not None:
        return (bool(exact) and all(one == other for one, other in exact)) or _rounded(left, right)
    pairs = _approximate_pairs(left, right)
    same = bool(pairs) and all(one.equals(other) for one, other in pairs)
    return (same and not _differ(left, right)) or _rounded(left, right)


def ratio_sign(left: Node, right: Node) -> int:
    """1 or -1 if one is the other times a positive or negative constant, else 0.

    The sides of equations may be multiplied by any number, those of inequalities by positive ones.
    """
    exact = _residue_pairs(left, right)
    if exact is not None:
        quotients = {one * _residue_inverse(other) % _PRIME if other else 0 for one, other in exact}
        if len(quotients) != 1 or 0 in quotients:
            return 0
    pairs = _approximate_pairs(left, right)
    if not pairs or not all(other.value for _, other in pairs):
        return 0
    first, *others = [one * _reciprocal(other) for one, other in pairs]
    if exact is None and not all(first.equals(other) for other in others):
        return 0
    return first.sign or int(exact is not None)


_REAL_POINTS = 24
_ENOUGH = 4


def _residue_pairs(left: Node, right: Node) -> list[tuple[int, int]] | None:
    """None if one of them is not rational."""
    try:
        return _pairs(_residue, left, right, _RESIDUE_POINTS)
    except UnknownError:
        return None


def _approximate_pairs(left: Node, right: Node) -> "list[tuple[Approximation, Approximation]]":
    """At points where all roots and logarithms are those of positive numbers, if there are some."""
    symbols = (left.symbols() | right.symbols()) - {"\\pi", "e", "i"}
    pairs = _pairs(approximation, left, right, _REAL_POINTS if symbols else 1)
    real = [(one, other) for one, other in pairs if one.real and other.real]
    return real if len(real) >= _ENOUGH else pairs


def _pairs(value: Callable[[Node, int], Any], left: Node, right: Node, points: int) -> list[tuple[Any, Any]]:
    """The values at the points where both have one."""
    both = [(value(left, point), value(right, point)) for point in range(points)]
    return [(one, other) for one, other in both if one is not None and other is not None]


_ROUNDED_PLACES = 6
"""A decimal with at least so many places stands for every number that is rounded to it: 0.333333 for 1/3."""


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
            digits, exponent = _places(mantissa), rational(scale)
            whole = digits is not None and exponent is not None and exponent.denominator == 1
            return digits - exponent.numerator if whole else None  # type: ignore[operator, union-attr]
    return None


def _is_decimal(node: Node) -> bool:
    return any(isinstance(part, Constant) and part.places for part in node.walk())


# Fractions, which no step of a computation may make huge.


_MOST_BITS = 4096
"""Larger numbers are not written out here: exponents of that size are huge whatever they stand on."""
_LARGEST_FACTORIAL = 400


def rational(node: Node) -> Fraction | None:
    """None for what has symbols, is irrational, undefined or huge."""
    try:
        value: Fraction = _evaluated(node, _FRACTIONS)
    except (UnknownError, ZeroDivisionError):
        return None
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > _MOST_BITS:
        raise UnknownError
    return value


def _unknown_symbol(name: str, _point: int) -> Fraction:
    raise UnknownError(name)


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    """Exact roots only: √4 is 2, the third root of -8 is -2."""
    if exponent.denominator != 1:
        degree = exponent.denominator
        if degree > _MOST_BITS or (base < 0 and degree % 2 == 0):
            raise UnknownError
        over, under = _whole_root(abs(base.numerator), degree), _whole_root(base.denominator, degree)
        base = Fraction(-over if base < 0 else over, under)
    if abs(base) == 1:
        return base ** (exponent.numerator % 2)
    if (not base and exponent <= 0) or abs(exponent.numerator) * _bits(base) > _MOST_BITS:
        raise UnknownError  # 0^0 is left undefined
    return Fraction(base**exponent.numerator)


def _whole_root(value: int, power: int) -> int:
    low, high = 0, 1 << (value.bit_length() // power + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**power <= value else (low, middle - 1)
    if low**power != value:
        raise UnknownError
    return low


def _exact_factorial(value: Fraction) -> Fraction:
    if not 0 <= value <= _LARGEST_FACTORIAL:
        raise UnknownError
    return _bounded(Fraction(math.factorial(value.numerator)))


def _exact_binomial(over: Fraction, under: Fraction) -> Fraction:
    if over.denominator != 1 or under.denominator != 1 or not 0 <= over <= _MOST_BITS or under < 0:
        raise UnknownError
    return _bounded(Fraction(math.comb(over.numerator, under.numerator)))


_FRACTIONS: Arithmetic = {
    "number": lambda value: value,
    "symbol": _unknown_symbol,
    "add": lambda *terms: reduce(lambda total, term: _bounded(total + term), terms),
    "multiply": lambda *factors: reduce(lambda product, factor: _bounded(product * factor), factors),
    "negate": neg,
    "inverse": lambda value: 1 / value,
    "exact power": _exact_power,
    "whole factorial": _exact_factorial,
    "binomial": _exact_binomial,
    "absolute value": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceiling": lambda value: Fraction(math.ceil(value)),
}


# Residues: the values of rational expressions modulo a large prime, at a few fixed points.
#
# Rational expressions that are equal have equal residues at every point, others hardly ever at one, and we look at
# several. The size of the numbers does not matter: 7^(10^300) is as quick as 7^2. π and e are symbols here, as no
# rational expression in them is zero by accident.


_PRIME = 2**61 - 31
_RESIDUE_POINTS = 5
_I = pow(7, (_PRIME - 1) // 4, _PRIME)
"""A root of -1, for the imaginary unit."""
_LARGEST_RESIDUE_FACTORIAL = 10_000


def _residue(node: Node, point: int) -> int | None:
    """None where it is undefined; `UnknownError` if the expression is not rational."""
    try:
        value: int = _evaluated(node, _RESIDUES, point)
    except ZeroDivisionError:
        return None
    return value


@lru_cache(maxsize=4096)
def _residue_of_symbol(name: str, point: int) -> int:
    return _I if name == "i" else random.Random(f"{name} {point}").randrange(2, _PRIME)  # noqa: S311


def _residue_power(base: int, exponent: Fraction) -> int:
    if base == 0 and exponent <= 0:
        raise ZeroDivisionError
    return pow(base, exponent.numerator, _PRIME)


def _residue_inverse(value: int) -> int:
    return _residue_power(value, Fraction(-1))


def _residue_product(*factors: int) -> int:
    return reduce(lambda product, factor: product * factor % _PRIME, factors, 1)


def _residue_factorial(number: Fraction) -> int:
    if not 0 <= number <= _LARGEST_RESIDUE_FACTORIAL:
        raise UnknownError
    return _residue_product(*range(2, number.numerator + 1))


_RESIDUES: Arithmetic = {
    "number": lambda value: value.numerator * _residue_inverse(value.denominator % _PRIME) % _PRIME,
    "symbol": _residue_of_symbol,
    "add": lambda *terms: sum(terms) % _PRIME,
    "multiply": _residue_product,
    "negate": lambda value: -value % _PRIME,
    "inverse": _residue_inverse,
    "whole power": _residue_power,
    "whole factorial": _residue_factorial,
}


# Decimals of constants, where doubles cannot tell them apart: 10^10 and the root of 10^20 + 1.


_DIGITS = 120
_TOLERANCE = Decimal("1e-60")
_PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679")


def _differ(left: Node, right: Node) -> bool:
    """Whether two constants are known to differ. Those with complex numbers or rarer functions are not known here."""
    with localcontext(Context(prec=_DIGITS)):
        try:
            one, other = _evaluated(left, _DECIMALS), _evaluated(right, _DECIMALS)
        except (DecimalException, UnknownError, OverflowError):
            return False
        return bool(abs(one - other) > _TOLERANCE * max(Decimal(1), abs(one), abs(other)))


def _decimal_symbol(name: str, _point: int) -> Decimal:
    if name not in {"\\pi", "e"}:
        raise UnknownError
    return _PI if name == "\\pi" else Decimal(1).exp()


def _decimal_power(base: Decimal, exponent: Fraction) -> Decimal:
    size = abs(base) if exponent.denominator % 2 else base
    power = Decimal(size ** (Decimal(exponent.numerator) / exponent.denominator))
    return -power if base != size and exponent.numerator % 2 else power


_DECIMALS: Arithmetic = {
    "number": lambda value: Decimal(value.numerator) / value.denominator,
    "symbol": _decimal_symbol,
    "add": lambda *terms: sum(terms, Decimal(0)),
    "multiply": lambda *factors: math.prod(factors, start=Decimal(1)),
    "negate": neg,
    "inverse": lambda value: 1 / value,
    "exact power": _decimal_power,
    "absolute value": abs,
    "exp": Decimal.exp,
    "ln": Decimal.ln,
}


# Doubles: complex numbers, each with a bound of its error.
#
# Two values are equal if they differ by no more than both errors together, so √2 + 10^-12 x is not √2.


_ULP = 2.0**-52
_SLACK = 8
"""Errors are bounded to first order only."""
_VAGUE = 1e-6
_RANGES = ((0.15, 0.95), (1.05, 3.5), (-3.5, -0.15), (2.0, 12.0), (-0.95, -0.1))
_CONSTANTS: dict[str, complex] = {"\\pi": math.pi, "e": math.e, "i": 1j, "\\infty": complex(math.inf)}
_INFINITE = {INFINITY: math.inf, negative(INFINITY): -math.inf}


@dataclass(frozen=True, slots=True)
class Approximation:
    value: complex
    error: float
    real: bool = True
    """Whether every root and logarithm on the way was that of a positive number, so that there is no other branch."""

    def equals(self, other: "Approximation") -> bool:
        return abs(self.value - other.value) <= _SLACK * (self.error + other.error)

    @property
    def is_on_axis(self) -> bool:
        """Whether it is a real number, but for its error."""
        return abs(self.value.imag) <= _SLACK * self.error

    @property
    def is_zero(self) -> bool:
        return abs(self.value) <= _SLACK * self.error

    @property
    def principal(self) -> complex:
        """A real number without the rounding errors, and the sign of zero, that would choose the branch of a root."""
        return complex(self.value.real, 0.0) if self.is_on_axis else self.value

    @property
    def sign(self) -> int:
        """1 or -1 of a real number other than zero; else 0."""
        if not self.is_on_axis or abs(self.value.real) <= _SLACK * self.error:
            return 0
        return 1 if self.value.real > 0 else -1

    def __neg__(self) -> "Approximation":
        return Approximation(-self.value, self.error, self.real)

    def __add__(self, other: "Approximation") -> "Approximation":
        value = self.value + other.value
        return Approximation(value, self.error + other.error + _ULP * abs(value), self.real and other.real)

    def __mul__(self, other: "Approximation") -> "Approximation":
        value = self.value * other.value
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        return Approximation(value, error + 2 * _ULP * abs(value), self.real and other.real)


def approximation(node: Node, point: int = 0) -> Approximation | None:
    """None where it has no value."""
    try:
        result: Approximation = _evaluated(node, _DOUBLES, point)
    except (UnknownError, ArithmeticError, ValueError):
        return None
    size = abs(result.value)
    vague = not math.isfinite(size) or result.error > _VAGUE * max(1.0, size)
    return None if vague else result


def real_number(node: Node) -> float | None:
    """The value of a constant; infinities are values here."""
    if node in _INFINITE:
        return _INFINITE[node]
    result = None if node.symbols() - _CONSTANTS.keys() else approximation(node)
    return result.value.real if result is not None and result.is_on_axis else None


def _double(value: Fraction) -> Approximation:
    return Approximation(complex(float(value)), _ULP * abs(float(value)))


@lru_cache(maxsize=4096)
def _double_of_symbol(name: str, point: int) -> Approximation:
    if name in _CONSTANTS:
        value = _CONSTANTS[name]
        return Approximation(value, 0.0 if name == "i" else _ULP * abs(value))
    # Points with an even number have positive values alone.
    source = random.Random(f"{name} {point}")  # noqa: S311
    low, high = source.choice(_RANGES if point % 2 else [chosen for chosen in _RANGES if chosen[0] > 0])
    return Approximation(complex(source.uniform(low, high)), 0.0)


def _function(
    function: Callable[[complex], complex],
    slope: Callable[[complex], complex],
    branches: Callable[[complex], bool] = lambda _: False,
) -> Callable[[Approximation], Approximation]:
    """`branches`: where the function has several values."""

    def of(operand: Approximation) -> Approximation:
        value = function(operand.principal) + 0j
        steep = abs(slope(operand.value))
        error = steep * operand.error + 2 * _ULP * (abs(value) + steep * abs(operand.value) * _ULP)
        branch = not operand.is_on_axis or branches(operand.value)
        return Approximation(value, error, operand.real and not branch)

    return of


_reciprocal = _function(lambda z: 1 / z, lambda z: 1 / z**2)
_exp = _function(cmath.exp, cmath.exp)
_ln = _function(cmath.log, lambda z: 1 / z, lambda z: z.real < 0)


def _power(base: Approximation, exponent: Approximation) -> Approximation:
    if base.value == 0:
        raise ArithmeticError
    return _exp(exponent * _ln(base))


def _rational_power(base: Approximation, exact: Fraction) -> Approximation:
    """Odd roots of negative numbers are negative."""
    if exact.denominator % 2 and base.is_on_axis and base.value.real < 0:
        result = _rational_power(-base, exact)
        return -result if exact.numerator % 2 else result
    exponent, whole = float(exact), exact.denominator == 1
    if base.is_zero and exponent < 0:
        raise ArithmeticError
    if base.is_zero and not whole:  # √0 is 0, and so is the root of what is 0 but for its error
        return Approximation(0j, (_SLACK * base.error) ** exponent if base.error else 0.0, base.real)
    value = base.principal ** (int(exponent) if whole else exponent)
    relative = abs(exponent) * (base.error / abs(base.value) if base.value else 0.0)
    branch = not whole and (base.value.real < 0 or not base.is_on_axis)
    return Approximation(value, abs(value) * (relative + (4 + abs(exponent)) * _ULP), base.real and not branch)


def _factorial(operand: Approximation) -> Approximation:
    """N! = Γ(n + 1)."""
    if not operand.is_on_axis:
        raise ArithmeticError
    number = operand.value.real
    value = math.gamma(number + 1)
    slope = abs(value) * (math.log(abs(number) + 2) + 2)
    return Approximation(complex(value), slope * operand.error + 64 * _ULP * abs(value), operand.real)


def _whole(rounding: Callable[[float], int]) -> Callable[[Approximation], Approximation]:
    def of(operand: Approximation) -> Approximation:
        number, margin = operand.value.real, _SLACK * operand.error
        if not operand.is_on_axis or rounding(number - margin) != rounding(number + margin):
            raise ArithmeticError
        return Approximation(complex(rounding(number)), 0.0, operand.real)

    return of


_DOUBLES: Arithmetic = {
    "number": _double,
    "symbol": _double_of_symbol,
    "add": lambda *terms: reduce(add, terms),
    "multiply": lambda *factors: reduce(mul, factors),
    "negate": neg,
    "inverse": _reciprocal,
    "power": _power,
    "exact power": _rational_power,
    "factorial": _factorial,
    "binomial": lambda over, under: _factorial(over) * _reciprocal(_factorial(under) * _factorial(over + -under)),
    "floor": _whole(math.floor),
    "ceiling": _whole(math.ceil),
    "absolute value": _function(lambda z: complex(abs(z)), lambda _: 1),
    "exp": _exp,
    "ln": _ln,
    "sin": _function(cmath.sin, cmath.cos),
    "cos": _function(cmath.cos, cmath.sin),
    "arctan": _function(cmath.atan, lambda z: 1 / (1 + z * z)),
    "arcsin": _function(cmath.asin, lambda z: 1 / cmath.sqrt(1 - z * z + _ULP), lambda z: abs(z) > 1),
    "arccos": _function(cmath.acos, lambda z: 1 / cmath.sqrt(1 - z * z + _ULP), lambda z: abs(z) > 1),
}
