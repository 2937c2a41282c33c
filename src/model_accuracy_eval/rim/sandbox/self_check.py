"""Which mode a task needs, found with its reference solution: the right one must pass, a wrong one must not."""

import ast
import asyncio

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.records.code import Execution, Mode, Program
from model_accuracy_eval.rim.sandbox.parsing import parsed

_MODES: tuple[Mode, ...] = ("split", "shared")
"""The one that cannot be cheated first."""

_NOT_AN_ANSWER = "object()"
"""Equal to nothing, and of no type that tests may ask for."""


async def settle(sandbox: Sandbox, task: str, reference: Program) -> Mode:
    """The mode to judge all programs of the task in; it must never depend on the program that is judged."""
    told = []
    for mode in _MODES:
        right = msgspec.structs.replace(reference, mode=mode)
        wrong = msgspec.structs.replace(right, code=broken(reference.code))
        passing, failing = await asyncio.gather(sandbox.run(right), sandbox.run(wrong))
        if passing.passed and failing.passed is False:
            return mode
        told.append(f"{mode}: {_objection(passing, failing)}")
    raise BadData(
        f"The tests of {task} cannot judge programs: its own solution is told from a wrong one in neither mode.",
        detail="\n".join(told),
    )


def broken(code: str) -> str:
    """The code with every function of its top level, methods too, giving back what cannot be right."""
    tree = parsed(code)
    places: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for node in (node for place in places for node in place.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != "__init__":
            node.body = [ast.Return(ast.parse(_NOT_AN_ANSWER, mode="eval").body)]
    return ast.unparse(ast.fix_missing_locations(tree))


def _objection(passing: Execution, failing: Execution) -> str:
    if passing.passed:
        return f"a wrong solution was not seen to fail ({failing.verdict})"
    return f"the solution did not pass ({passing.verdict}: {passing.detail})"
