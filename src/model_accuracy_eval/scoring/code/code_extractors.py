"""Filters that read Python code from replies; `extract` has them in its table."""

import ast
import re
from collections.abc import Callable

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code import markdown_blocks
from model_accuracy_eval.scoring.code.humaneval_x_programs import foreign_code
from model_accuracy_eval.scoring.code.solutions import solution
from model_accuracy_eval.scoring.code.syntax import called_function, parse

_TAGGED = re.compile(r"\[ANSWER\]([^\[]*(?:\[(?!/ANSWER\])[^\[]*)*)(?:\[/ANSWER\]|\Z)")


def python_code(
    text: str, problem: Problem, *, prompt: str = "", entry_point: str = "", asserts: str = ""
) -> str | None:
    """The program in the reply. The arguments name columns: the head that the reply may continue, the name that the
    tests call, or the asserts that show this name."""
    row = problem.extras
    name = called_function(row[asserts]) if asserts else str(row[entry_point]) if entry_point else ""
    return solution(text, name, str(row[prompt]) if prompt else "")


def expression(text: str, problem: Problem, *, calls: str = "", compared: bool = False) -> str | None:
    """CRUXEval's answers: the text between [ANSWER] and [/ANSWER], else in the last block, else all of the reply, else
    its last line.

    `compared` takes the right side of `assert f(…) == …`, `calls` the arguments of the call of that function.
    """
    parts = _TAGGED.findall(text) or [block.text for block in markdown_blocks.blocks(text)]
    if not parts:
        reply = text.strip()
        parts = [reply if _single_expression(reply) else reply.rpartition("\n")[2]]
    return _answer(parts[-1].strip().strip("`").strip(), calls, compared=compared)


def _answer(source: str, function: str, *, compared: bool) -> str | None:
    """The arguments or the value in an assert, in a comparison, or alone; None if the source is nothing of the kind."""
    node = _single_expression(source)
    if isinstance(node, ast.Compare):
        node = node.comparators[-1] if compared else node.left
    segment = (ast.get_source_segment(source, node) if node else None) or source.removeprefix("assert ")
    if not compared and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
        segment = segment.partition("(")[2].removesuffix(")")
    return segment if _is_argument_list(segment) else None


def _single_expression(source: str) -> ast.expr | None:
    """The expression that is all of the source, or what its only assert tests."""
    tree = parse(source)
    statement = tree.body[0] if tree and len(tree.body) == 1 else None
    if isinstance(statement, ast.Assert):
        return statement.test
    return statement.value if isinstance(statement, ast.Expr) else None


def _is_argument_list(source: str) -> bool:
    """`1) + (2` is none, although it may stand between parentheses."""
    wrapped = f"_(\n{source}\n)"
    call = _single_expression(wrapped)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "_"


CODE_EXTRACTORS: dict[str, Callable[..., str | None]] = {
    "python_code": python_code,
    "foreign_code": foreign_code,
    "expression": expression,
}
