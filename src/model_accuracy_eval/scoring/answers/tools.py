"""Text → the function calls in it: native calls and Hermes' `<tool_call>` blocks, else a list of calls in Python.

Python is parsed and never run: an argument is a literal, a sum of numbers, or the name or the call that stands there.
"""

import ast
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Counts, JSONObject, TaskSpec, ToolCall

_BLOCK = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_FENCE = re.compile(r"\A`{3,}\w*\n(.*?)\n`{3,}\s*\Z", re.DOTALL)
_LONGEST = 100_000
"""Characters of a reply that is parsed."""
_MOST_DIGITS = 4_000
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
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
    """The text is no list of calls, or no sum."""


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
    return FunctionCall(ast.unparse(node.func), {str(one.arg): _argument(one.value) for one in node.keywords})


def _argument(node: ast.expr | None) -> Any:
    if type(node) not in _VALUES:
        raise NoCalls
    return _VALUES[type(node)](node)


def _negative(node: ast.UnaryOp) -> Any:
    if not isinstance(node.op, ast.USub):
        raise NoCalls
    return -_argument(node.operand)


def _computed(node: ast.BinOp) -> Any:
    left, right, work = _argument(node.left), _argument(node.right), _ARITHMETIC.get(type(node.op))
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
    ast.List: lambda node: [_argument(item) for item in node.elts],
    ast.Tuple: lambda node: tuple(_argument(item) for item in node.elts),
    ast.Dict: lambda node: {
        _argument(key): _argument(value) for key, value in zip(node.keys, node.values, strict=True)
    },
    ast.Call: _inner_call,
    ast.Name: ast.unparse,
    ast.Subscript: ast.unparse,
}
"""Kind of expression → its value; names and subscripts are variables, and stay their texts."""


# The tools that a task may offer: their definitions for the model, and their answers to calls.
#
# A tool answers every call with a text: an error is explained to the model, which may try again.


# The calculator. Nothing is executed as Python: an expression is parsed, and only the four operations, brackets and
# counting one text in another are computed.


_OPERATIONS = {sign: work for sign, work in _ARITHMETIC.items() if sign not in {ast.Mod, ast.Pow}}
_MAX_CHARACTERS = 1000
"""The longest expression; models write far shorter ones."""


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            result: float = _OPERATIONS[type(operation)](_value(left), _value(right))
            return result
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str() as text), attr="count"),
            args=[ast.Constant(value=str() as piece)],
            keywords=[],
        ):
            return text.count(piece)
    raise NoCalls


UNFINISHED = "tool_rounds"
"""Finish reason of a sample that still called tools when the task's last round was over."""

_QUOTED = 100
"""Characters of a call that an error message quotes."""


class Tool(NamedTuple):
    """A tool's description for the model, and its function; every argument is a text."""

    about: str
    arguments: dict[str, str]
    """Name → description."""
    work: Callable[..., str]


def _calculate(expression: str) -> str:
    """The value of an expression, which may have thousands commas."""
    bare = expression.replace(",", "").strip() if len(expression) <= _MAX_CHARACTERS else ""
    try:
        value = _value(ast.parse(bare, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        value = math.nan
    if not (isinstance(value, int) or math.isfinite(value)):
        return (
            f"'{expression[:_QUOTED]}' cannot be worked out: write numbers, + - * / // and brackets, "
            "and divide by nothing that is 0."
        )
    # Twelve digits hide the rounding errors of binary fractions.
    return str(value) if isinstance(value, int) else f"{value:.12g}"


TOOLS: dict[str, Tool] = {
    "calculator": Tool(
        about="Works out an expression of numbers, + - * / // and brackets.",
        arguments={"expression": "What is to be worked out, for example (12 + 30) / 60"},
        work=_calculate,
    ),
}


def offered(names: Sequence[str]) -> tuple[JSONObject, ...]:
    """The definitions that are sent, in OpenAI's format."""
    return tuple(_definition(name, TOOLS[name].about, _texts(TOOLS[name].arguments)) for name in names)


def _texts(arguments: dict[str, str]) -> JSONObject:
    properties = {argument: {"type": "string", "description": about} for argument, about in arguments.items()}
    return {"type": "object", "properties": properties, "required": [*properties]}


def _definition(name: str, about: str, parameters: JSONObject) -> JSONObject:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


_SCHEMA_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
"""BFCL's names of types, which are Python's → those of JSON Schema."""


def native_name(name: str) -> str:
    """A function's name as services take it: without dots."""
    return name.replace(".", "_")


def definitions(functions: Sequence[JSONObject]) -> tuple[JSONObject, ...]:
    """A row's own functions in OpenAI's format."""
    return tuple(
        _definition(native_name(one["name"]), one.get("description", ""), _schema(one["parameters"]))
        for one in functions
    )


def _schema(part: JSONObject) -> JSONObject:
    """The same with JSON Schema's types, at any depth."""
    schema = dict(part)
    if isinstance(part.get("type"), str):
        schema["type"] = _SCHEMA_TYPES.get(part["type"], part["type"])
    if isinstance(part.get("items"), dict):
        schema["items"] = _schema(part["items"])
    if isinstance(part.get("properties"), dict):
        schema["properties"] = {name: _schema(one) for name, one in part["properties"].items()}
    return schema


def use(call: ToolCall, names: Sequence[str]) -> str:
    """The answer of one of the offered tools to a call."""
    if call.name not in names:
        return f"There is no tool '{call.name[:_QUOTED]}'; there is {', '.join(names)}."
    tool = TOOLS[call.name]
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict) or not all(isinstance(arguments.get(name), str) for name in tool.arguments):
        return (
            f"The arguments of {call.name} are a JSON object with texts for {', '.join(tool.arguments)}, "
            f"but these came: {call.arguments[:_QUOTED]}"
        )
    return tool.work(*(arguments[name] for name in tool.arguments))


def check(task: TaskSpec) -> None:
    """Refuses tools for tasks other than chats that generate a text."""
    if (task.tools or task.functions) and (task.kind != "generate" or task.mode != "chat"):
        raise BadValue(
            f"{task.name}: tools and functions are offered in chats that generate a text, but this task is of kind "
            f"'{task.kind}' and mode '{task.mode}'."
        )
    if task.tools and task.functions:
        raise BadValue(f"{task.name}: a task has tools of ours or functions of its rows, but not both.")
    if task.tools and task.tool_rounds < 1:
        raise BadValue(f"{task.name}: tool_rounds is {task.tool_rounds}, but it has to be 1 or more.")


def notes(tasks: Sequence[TaskSpec], counts: Counts) -> Iterator[str]:
    """How often the offered tools were used: a service that does not pass tools to its model does not say so."""
    names = ", ".join(dict.fromkeys(name for task in tasks for name in task.tools))
    if not names or not counts.answered:
        return
    if counts.used_tools:
        yield f"{counts.used_tools} of {counts.answered} answers used the tools on offer ({names})."
    else:
        yield (
            f"None of the {counts.answered} answers used the tools on offer ({names}): the model had no use for them, "
            "or the service does not pass them on."
        )
    if counts.unfinished:
        rounds = " or ".join(map(str, sorted({task.tool_rounds for task in tasks if task.tools})))
        yield (
            f"{counts.unfinished} of {counts.answered} samples still called tools after {rounds} rounds; "
            "they are judged by their last text. tool_rounds of the task allows more."
        )
