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
    """CRUXEval's answers: the text between [ANSWER] and [/ANSWER], else in the last block, else on the last line.

    `compared` takes the right side of `assert f(…) == …`, `calls` the arguments of the call of that function.
    """
    tagged = _TAGGED.findall(text)
    blocks = [block.text for block in markdown_blocks.blocks(text)]
    source = (tagged or blocks or text.strip().rsplit("\n", 1)[-1:])[-1].strip().strip("`").strip()
    source = source.removeprefix("assert ").strip()
    left, right = _sides(source)
    source = right if compared else _arguments(left, calls)
    return source if parse(f"_(\n{source}\n)") else None


def _sides(source: str) -> tuple[str, str]:
    """Both sides of a comparison; the whole source twice if it is no comparison."""
    tree = parse(source)
    statement = tree.body[0] if tree and len(tree.body) == 1 else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Compare):
        compare = statement.value
        sides = [ast.get_source_segment(source, side) for side in (compare.left, compare.comparators[-1])]
        return sides[0] or source, sides[1] or source
    return source, source


def _arguments(source: str, name: str) -> str:
    """The text between the parentheses of the call, if it is one."""
    return source[len(name) + 1 : -1] if source.startswith(f"{name}(") and source.endswith(")") else source


CODE_EXTRACTORS: dict[str, Callable[..., str | None]] = {
    "python_code": python_code,
    "foreign_code": foreign_code,
    "expression": expression,
}
