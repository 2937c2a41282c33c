"""Text → the function calls in it: native calls and Hermes' `<tool_call>` blocks, else a list of calls in Python.

Python is parsed and never run: an argument is a literal, a sum of numbers, or the name or the call that stands there.
"""

import ast
import json
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from model_accuracy_eval.records import ToolCall

_BLOCK = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_FENCE = re.compile(r"\A`{3,}\w*\n(.*?)\n`{3,}\s*\Z", re.DOTALL)
_LONGEST = 100_000
"""Characters of a reply that is parsed."""
_MOST_DIGITS = 4_000
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


class FunctionCall(NamedTuple):
    name: str
    arguments: dict[str, Any]


class NoCalls(ValueError):
    """The text is no list of calls."""


def written(text: str, calls: Sequence[ToolCall]) -> str:
    """A reply and its native calls as one text; arguments that are no JSON object stay the text that they are."""
    blocks = [
        json.dumps({"name": call.name, "arguments": _object(call.arguments)}, ensure_ascii=False) for call in calls
    ]
    return "\n".join([*([text] if text.strip() else []), *(f"<tool_call>{block}</tool_call>" for block in blocks)])


def _object(arguments: str) -> Any:
    try:
        return json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments


def function_calls(text: str) -> list[FunctionCall]:
    """All calls of a text, in order; NoCalls if there is none, or if one cannot be read."""
    if len(text) > _LONGEST:
        raise NoCalls
    try:
        calls = [_from_json(block) for block in _BLOCK.findall(text)] or _from_python(text)
    except (ValueError, ArithmeticError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise NoCalls from error
    if not calls:
        raise NoCalls
    return calls


def _from_json(block: str) -> FunctionCall:
    call = json.loads(block)
    arguments = call.get("arguments", {}) if isinstance(call, dict) else None
    if not isinstance(arguments, dict) or not isinstance(call.get("name"), str):
        raise NoCalls
    return FunctionCall(call["name"], arguments)


def _from_python(text: str) -> list[FunctionCall]:
    """Brackets around the list may be missing; so may the fence of a block."""
    fenced = _FENCE.match(text.strip())
    bare = (fenced[1] if fenced else text).strip("`\n ").strip("'")
    listed = f"{'' if bare.startswith('[') else '['}{bare}{'' if bare.endswith(']') else ']'}"
    body = ast.parse(listed, mode="eval").body
    if not isinstance(body, ast.List | ast.Tuple):
        raise NoCalls
    return [_call(item) for item in body.elts]


def _call(node: ast.expr) -> FunctionCall:
    if not isinstance(node, ast.Call):
        raise NoCalls
    return FunctionCall(ast.unparse(node.func), {str(one.arg): _value(one.value) for one in node.keywords})


def _value(node: ast.expr | None) -> Any:
    if type(node) not in _VALUES:
        raise NoCalls
    return _VALUES[type(node)](node)


def _negative(node: ast.UnaryOp) -> Any:
    if not isinstance(node.op, ast.USub):
        raise NoCalls
    return -_value(node.operand)


def _computed(node: ast.BinOp) -> Any:
    left, right, work = _value(node.left), _value(node.right), _OPERATIONS.get(type(node.op))
    if work is None or not all(isinstance(value, int | float) for value in (left, right)):
        raise NoCalls
    if isinstance(node.op, ast.Pow) and abs(right) * len(str(abs(left))) > _MOST_DIGITS:
        raise NoCalls
    return work(left, right)


def _inner_call(node: ast.Call) -> Any:
    """A call as an argument: as one without arguments it is its text."""
    return {ast.unparse(node.func): _call(node).arguments} if node.keywords else ast.unparse(node)


_VALUES: dict[type | None, Callable[[Any], Any]] = {
    ast.Constant: lambda node: "..." if node.value is ... else node.value,
    ast.UnaryOp: _negative,
    ast.BinOp: _computed,
    ast.List: lambda node: [_value(item) for item in node.elts],
    ast.Tuple: lambda node: tuple(_value(item) for item in node.elts),
    ast.Dict: lambda node: {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True)},
    ast.Call: _inner_call,
    ast.Name: ast.unparse,
    ast.Subscript: ast.unparse,
}
"""Kind of expression → its value; names and subscripts are variables, and stay their texts."""
