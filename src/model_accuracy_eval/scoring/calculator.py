"""The calculator of GSM8K's solutions: notes like <<12/60=0.2>> in a text, and the value of an expression.

Nothing is executed as Python: an expression is parsed, and only the four operations, brackets and counting one text in
another are computed.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Literal

PartKind = Literal["text", "python", "python_output"]

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_MAX_CHARACTERS = 1000
"""The longest expression; models write far shorter ones."""


def split_notes(solution: str) -> Iterator[tuple[PartKind, str]]:
    """The parts of a solution as a chat with a calculator: texts, and the expression and result of every note."""
    for part in re.split(r"(<<[^>]+>>)", solution):
        if part.startswith("<<") and part.endswith(">>"):
            expression, _, result = part[2:-2].rpartition("=") if "=" in part else (part[2:-2], "", "")
            yield "python", expression
            yield "python_output", result
        elif part:
            yield "text", part


def calculate(expression: str) -> float | None:
    """The value of an expression, which may have thousands commas; None for anything that a calculator does not do."""
    try:
        return _value(ast.parse(_without_commas(expression), mode="eval").body)
    except (_NotComputable, SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


class _NotComputable(Exception):
    """The expression needs more than a calculator."""


def _without_commas(expression: str) -> str:
    if len(expression) > _MAX_CHARACTERS:
        raise _NotComputable
    return expression.replace(",", "").strip()


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            return _OPERATIONS[type(operation)](_value(left), _value(right))
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as text), attr="count"),
            args=[ast.Constant(value=str() as piece)],
            keywords=[],
        ):
            return text.count(piece)
    raise _NotComputable
