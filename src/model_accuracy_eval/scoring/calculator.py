"""The calculator of GSM8K's solutions: notes like <<12/60=0.2>> in a text, and what an expression comes to.

Nothing is evaluated as Python: an expression is read as a tree, and only the four operations, brackets and the count
of one text in another are done.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Literal

Kind = Literal["text", "python", "python_output"]

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_LONGEST = 1000
"""Characters of an expression; what models write is far shorter."""


def parts(solution: str) -> Iterator[tuple[Kind, str]]:
    """A solution as a chat with a calculator has it: its texts, and of every note the expression and its result."""
    for part in re.split(r"(<<[^>]+>>)", solution):
        if part.startswith("<<") and part.endswith(">>"):
            expression, _, result = part[2:-2].rpartition("=") if "=" in part else (part[2:-2], "", "")
            yield "python", expression
            yield "python_output", result
        elif part:
            yield "text", part


def calculate(expression: str) -> float | None:
    """What it comes to, thousands commas left out; None where it asks for anything else than a calculator does."""
    try:
        return _of(ast.parse(_without_commas(expression), mode="eval").body)
    except (_NoSum, SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


class _NoSum(Exception):
    """The expression is none."""


def _without_commas(expression: str) -> str:
    if len(expression) > _LONGEST:
        raise _NoSum
    return expression.replace(",", "").strip()


def _of(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_of(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _of(operand)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            return _OPERATIONS[type(operation)](_of(left), _of(right))
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as text), attr="count"),
            args=[ast.Constant(value=str() as piece)],
            keywords=[],
        ):
            return text.count(piece)
    raise _NoSum
