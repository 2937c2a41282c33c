"""The value of a tree: the exact one if it is a rational number that is not huge, else a complex one with its error."""

import cmath
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from model_accuracy_eval.scoring.maths.maths_trees import Constant, Node, Operation, Symbol

_MOST_BITS = 4096
"""Larger numbers are not written out here: exponents of that size are huge whatever they stand on."""
_LARGEST_FACTORIAL = 400


def rational(node: Node) -> Fraction | None:
    """None for what has symbols, is irrational, undefined or huge."""
    if isinstance(node, Constant):
        return node.value
    if not isinstance(node, Operation) or node.name not in _EXACT:
        return None
    operands = [rational(operand) for operand in node.operands]
    exact = [operand for operand in operands if operand is not None]
    if len(exact) < len(operands):
        return None
    value = _EXACT[node.name](*exact)
    return value if value is not None and _bits(value) <= _MOST_BITS else None


def integer(node: Node) -> int | None:
    value = rational(node)
    return value.numerator if value is not None and value.denominator == 1 else None


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _fold(values: tuple[Fraction, ...], start: Fraction, *, multiply: bool) -> Fraction | None:
    """Step by step, so that no step makes a huge number out of numbers that are not."""
    for value in values:
        start = start * value if multiply else start + value
        if _bits(start) > _MOST_BITS:
            return None
    return start


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1:
        root = _root(base, Fraction(exponent.denominator))
        return None if root is None else _exact_power(root, Fraction(exponent.numerator))
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


def _exact_factorial(value: Fraction) -> Fraction | None:
    whole = value.denominator == 1 and 0 <= value <= _LARGEST_FACTORIAL
    return Fraction(math.factorial(value.numerator)) if whole else None


def _exact_binomial(over: Fraction, under: Fraction) -> Fraction | None:
    if over.denominator != 1 or under.denominator != 1 or not 0 <= over <= _MOST_BITS or under < 0:
        return None
    return Fraction(math.comb(over.numerator, under.numerator))


_EXACT: dict[str, Callable[..., Fraction | None]] = {
    "add": lambda *terms: _fold(terms, Fraction(0), multiply=False),
    "multiply": lambda *factors: _fold(factors, Fraction(1), multiply=True),
    "negate": lambda value: -value,
    "inverse": lambda value: 1 / value if value else None,
    "power": _exact_power,
    "root": _root,
    "factorial": _exact_factorial,
    "binomial": _exact_binomial,
    "absolute value": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceiling": lambda value: Fraction(math.ceil(value)),
    "per cent": lambda value: value / 100,
}


# Values of roots, logarithms and functions: complex numbers of double precision, each with a bound of its error.
#
# Two values are equal if they differ by no more than both errors together, so √2 + 10^-12 x is not √2.


_ULP = 2.0**-52
_SLACK = 8
"""Errors are bounded to first order only."""
_VAGUE = 1e-6
_RANGES = ((0.15, 0.95), (1.05, 3.5), (-3.5, -0.15), (2.0, 12.0), (-0.95, -0.1))
_CONSTANTS: dict[str, complex] = {"\\pi": math.pi, "e": math.e, "i": 1j, "\\infty": complex(math.inf)}


class UndefinedError(Exception):
    """No value at this point, or none that is precise."""


@dataclass(frozen=True, slots=True)
class Approximation:
    value: complex
    error: float
    real: bool = True
    """Whether every root and logarithm on the way was that of a positive number, so that there is no other branch."""

    def equals(self, other: "Approximation") -> bool:
        return abs(self.value - other.value) <= _SLACK * (self.error + other.error)

    @property
    def sign(self) -> int:
        """1 or -1 of a real number other than zero; else 0."""
        if abs(self.value.imag) > _SLACK * self.error or abs(self.value.real) <= _SLACK * self.error:
            return 0
        return 1 if self.value.real > 0 else -1


def approximation(node: Node, point: int = 0) -> Approximation | None:
    """None where it has no value."""
    try:
        result = _value(node, point)
    except (UndefinedError, OverflowError, ZeroDivisionError, ValueError):
        return None
    size = abs(result.value)
    vague = not math.isfinite(size) or result.error > _VAGUE * max(1.0, size)
    return None if vague else result


def real_number(node: Node) -> float | None:
    """The value of a constant; infinities are values here."""
    if node.symbols() - _CONSTANTS.keys():
        return None
    if node == Symbol("\\infty"):
        return math.inf
    if isinstance(node, Operation) and node.name in {"negate", "add"} and node.operands == (Symbol("\\infty"),):
        return -math.inf if node.name == "negate" else math.inf
    result = approximation(node)
    if result is None or abs(result.value.imag) > _SLACK * result.error:
        return None
    return result.value.real


@lru_cache(maxsize=4096)
def _value_of(name: str, point: int) -> Approximation:
    if name in _CONSTANTS:
        value = _CONSTANTS[name]
        return Approximation(value, 0.0 if name == "i" else _ULP * abs(value))
    # Points with an even number have positive values alone.
    source = random.Random(f"{name} {point}")  # noqa: S311
    low, high = source.choice(_RANGES if point % 2 else [chosen for chosen in _RANGES if chosen[0] > 0])
    return Approximation(complex(source.uniform(low, high)), 0.0)


def _value(node: Node, point: int) -> Approximation:
    if isinstance(node, Constant):
        value = complex(float(node.value))
        return Approximation(value, _ULP * abs(value))
    if isinstance(node, Symbol):
        return _value_of(node.name, point)
    if not isinstance(node, Operation):
        raise UndefinedError
    if node.name in {"root", "power"}:
        return _power(node, point)
    operands = [_value(operand, point) for operand in node.operands]
    if node.name in {"add", "multiply", "value of function"}:
        combine = _sum if node.name == "add" else _product
        total = operands[0]
        for operand in operands[1:]:
            total = combine(total, operand)
        return total
    if node.name not in _FUNCTIONS:
        if node.name not in _SPECIAL:
            raise UndefinedError
        return _SPECIAL[node.name](*operands)
    return _apply(_FUNCTIONS[node.name], operands[0])


def _sum(left: Approximation, right: Approximation) -> Approximation:
    value = left.value + right.value
    return Approximation(value, left.error + right.error + _ULP * abs(value), left.real and right.real)


def _product(left: Approximation, right: Approximation) -> Approximation:
    value = left.value * right.value
    error = abs(left.value) * right.error + abs(right.value) * left.error + left.error * right.error
    return Approximation(value, error + 2 * _ULP * abs(value), left.real and right.real)


@dataclass(frozen=True, slots=True)
class _Function:
    value: Callable[[complex], complex]
    slope: Callable[[complex], complex]
    branch: Callable[[complex], bool] = lambda _: False
    """Whether the function has several values there."""


def _apply(function: _Function, operand: Approximation) -> Approximation:
    value = function.value(_on_axis(operand)) + 0j
    slope = abs(function.slope(operand.value))
    error = slope * operand.error + 2 * _ULP * (abs(value) + slope * abs(operand.value) * _ULP)
    branch = abs(operand.value.imag) > _SLACK * operand.error or function.branch(operand.value)
    return Approximation(value, error, operand.real and not branch)


def _on_axis(number: Approximation) -> complex:
    """A real number without the rounding errors, and the sign of zero, that would choose the branch of a root."""
    return complex(number.value.real, 0.0) if abs(number.value.imag) <= _SLACK * number.error else number.value


def _inverse(value: complex) -> complex:
    return 1 / value


_FUNCTIONS = {
    "negate": _Function(lambda z: -z, lambda _: 1),
    "per cent": _Function(lambda z: z / 100, lambda _: 0.01),
    "degrees": _Function(lambda z: z * math.pi / 180, lambda _: math.pi / 180),
    "inverse": _Function(_inverse, lambda z: 1 / z**2),
    "absolute value": _Function(lambda z: complex(abs(z)), lambda _: 1),
    "exp": _Function(cmath.exp, cmath.exp),
    "ln": _Function(cmath.log, _inverse, lambda z: z.real < 0),
    "sin": _Function(cmath.sin, cmath.cos),
    "cos": _Function(cmath.cos, cmath.sin),
    "tan": _Function(cmath.tan, lambda z: 1 / cmath.cos(z) ** 2),
    "cot": _Function(lambda z: 1 / cmath.tan(z), lambda z: 1 / cmath.sin(z) ** 2),
    "sec": _Function(lambda z: 1 / cmath.cos(z), lambda z: cmath.tan(z) / cmath.cos(z)),
    "csc": _Function(lambda z: 1 / cmath.sin(z), lambda z: 1 / (cmath.tan(z) * cmath.sin(z))),
    "sinh": _Function(cmath.sinh, cmath.cosh),
    "cosh": _Function(cmath.cosh, cmath.sinh),
    "tanh": _Function(cmath.tanh, lambda z: 1 / cmath.cosh(z) ** 2),
    "arctan": _Function(cmath.atan, lambda z: 1 / (1 + z * z)),
    "arcsin": _Function(cmath.asin, lambda z: 1 / cmath.sqrt(1 - z * z + _ULP), lambda z: abs(z) > 1),
    "arccos": _Function(cmath.acos, lambda z: 1 / cmath.sqrt(1 - z * z + _ULP), lambda z: abs(z) > 1),
}


def _power(node: Operation, point: int) -> Approximation:
    """Roots are powers with the exponent 1/n. Odd roots of negative numbers are negative."""
    base = _value(node.operands[0], point)
    exact = rational(node.operands[1])
    if node.name == "root" and exact is not None:
        exact = 1 / exact if exact else None
    if (
        exact is not None
        and exact.denominator % 2
        and abs(base.value.imag) <= _SLACK * base.error
        and base.value.real < 0
    ):
        flipped = Approximation(-base.value, base.error, base.real)
        result = _real_power(flipped, float(exact))
        return Approximation(-result.value, result.error, result.real) if exact.numerator % 2 else result
    if exact is not None:
        return _real_power(base, float(exact))
    exponent = _value(node.operands[1], point)
    if node.name == "root":
        exponent = _apply(_FUNCTIONS["inverse"], exponent)
    if base.value == 0:
        raise UndefinedError
    return _apply(_FUNCTIONS["exp"], _product(exponent, _apply(_FUNCTIONS["ln"], base)))


def _real_power(base: Approximation, exponent: float) -> Approximation:
    whole = exponent == int(exponent)
    if abs(base.value) <= _SLACK * base.error and (exponent < 0 or not whole):
        # √0 is 0, and so is the root of what is 0 but for its error.
        if exponent < 0:
            raise UndefinedError
        return Approximation(0j, (_SLACK * base.error) ** exponent if base.error else 0.0, base.real)
    value = _on_axis(base) ** (int(exponent) if whole else exponent)
    relative = abs(exponent) * (base.error / abs(base.value) if base.value else 0.0)
    branch = not whole and (base.value.real < 0 or abs(base.value.imag) > _SLACK * base.error)
    return Approximation(value, abs(value) * (relative + (4 + abs(exponent)) * _ULP), base.real and not branch)


def _gamma(operand: Approximation) -> Approximation:
    """N! = Γ(n + 1)."""
    if abs(operand.value.imag) > _SLACK * operand.error:
        raise UndefinedError
    number = operand.value.real
    value = math.gamma(number + 1)
    slope = abs(value) * (math.log(abs(number) + 2) + 2)
    return Approximation(complex(value), slope * operand.error + 64 * _ULP * abs(value), operand.real)


def _binomial(over: Approximation, under: Approximation) -> Approximation:
    rest = _sum(over, _apply(_FUNCTIONS["negate"], under))
    below = _product(_gamma(under), _gamma(rest))
    return _product(_gamma(over), _apply(_FUNCTIONS["inverse"], below))


def _whole(operand: Approximation, rounding: Callable[[float], int]) -> Approximation:
    number, margin = operand.value.real, _SLACK * operand.error
    if abs(operand.value.imag) > margin or rounding(number - margin) != rounding(number + margin):
        raise UndefinedError
    return Approximation(complex(rounding(number)), 0.0, operand.real)


_SPECIAL: dict[str, Callable[..., Approximation]] = {
    "factorial": _gamma,
    "binomial": _binomial,
    "floor": lambda operand: _whole(operand, math.floor),
    "ceiling": lambda operand: _whole(operand, math.ceil),
}
