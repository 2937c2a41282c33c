"""Constants to hundreds of digits, where doubles cannot tell them apart: 10^10 and the root of 10^20 + 1."""

from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, localcontext
from functools import cache

from model_accuracy_eval.scoring.maths.maths_trees import Constant, Node, Operation, Symbol
from model_accuracy_eval.scoring.maths.rational_values import rational

_DIGITS = 400
"""More than doubles have in front of the point, so that no sum of numbers that a double holds loses what counts."""
_TOLERANCE = Decimal("1e-60")


def differ(left: Node, right: Node) -> bool:
    """Whether two constants are known to differ. Those with complex numbers or rarer functions are not known here."""
    with localcontext(Context(prec=_DIGITS)):
        try:
            one, other = _value(left), _value(right)
        except (DecimalException, _UnknownError, OverflowError):
            return False
        return abs(one - other) > _TOLERANCE * max(Decimal(1), abs(one), abs(other))


class _UnknownError(Exception):
    """No real number, or a function that is not known here."""


def _value(node: Node) -> Decimal:
    if isinstance(node, Constant):
        return Decimal(node.value.numerator) / node.value.denominator
    if isinstance(node, Symbol) and node.name in _CONSTANTS:
        return _CONSTANTS[node.name]()
    if not isinstance(node, Operation):
        raise _UnknownError
    if node.name in {"power", "root"}:
        return _power(node)
    operands = [_value(operand) for operand in node.operands]
    if node.name not in _OPERATIONS:
        raise _UnknownError
    return _OPERATIONS[node.name](*operands)


def _power(node: Operation) -> Decimal:
    base, exponent = _value(node.operands[0]), rational(node.operands[1])
    if exponent is None or (node.name == "root" and not exponent):
        raise _UnknownError
    exponent = 1 / exponent if node.name == "root" else exponent
    if base < 0 and exponent.denominator % 2:
        power = (-base) ** (Decimal(exponent.numerator) / exponent.denominator)
        return -power if exponent.numerator % 2 else power
    return Decimal(base ** (Decimal(exponent.numerator) / exponent.denominator))


@cache
def _pi() -> Decimal:
    """Machin's formula."""
    with localcontext(Context(prec=_DIGITS + 10)):
        return 4 * (4 * _arctan_of_inverse(5) - _arctan_of_inverse(239))


def _arctan_of_inverse(number: int) -> Decimal:
    term = total = Decimal(1) / number
    square, odd = number * number, 1
    while term:
        term, odd = -term / square, odd + 2
        if abs(term) < Decimal(10) ** -(_DIGITS + 10):
            break
        total += term / odd
    return total


def _sine(angle: Decimal) -> Decimal:
    angle %= 2 * _pi()
    term = total = angle
    odd = 1
    while abs(term) > Decimal(10) ** -_DIGITS:
        term *= -angle * angle / ((odd + 1) * (odd + 2))
        total, odd = total + term, odd + 2
    return total


def _cosine(angle: Decimal) -> Decimal:
    return _sine(angle + _pi() / 2)


def _product(*factors: Decimal) -> Decimal:
    product = Decimal(1)
    for factor in factors:
        product *= factor
    return product


_CONSTANTS: dict[str, Callable[[], Decimal]] = {"\\pi": _pi, "e": lambda: Decimal(1).exp()}
_OPERATIONS: dict[str, Callable[..., Decimal]] = {
    "add": lambda *terms: sum(terms, Decimal(0)),
    "multiply": _product,
    "value of function": _product,
    "negate": lambda term: -term,
    "inverse": lambda factor: 1 / factor,
    "absolute value": abs,
    "per cent": lambda term: term / 100,
    "degrees": lambda angle: angle * _pi() / 180,
    "exp": lambda exponent: exponent.exp(),
    "ln": lambda number: number.ln(),
    "sin": _sine,
    "cos": _cosine,
    "tan": lambda angle: _sine(angle) / _cosine(angle),
}
