"""Filters that read code from replies; `extract` has them in its table."""

import ast
import re
from collections.abc import Callable

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code import solutions
from model_accuracy_eval.scoring.code.code_syntax import called_function, is_talk, parse
from model_accuracy_eval.scoring.code.multipl_e_programs import foreign_code, multipl_e_code
from model_accuracy_eval.scoring.code.solutions import solution

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
    parts = _TAGGED.findall(text) or [block.text for block in solutions.fenced_blocks(text)]
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


_ALIASES = {
    "python": {"py", "python3", "py3", "pypy", "pypy3"},
    "cpp": {"c++", "cc", "cxx", "cpp17", "c++17"},
    "javascript": {"js", "node", "nodejs"},
    "go": {"golang"},
    "rust": {"rs"},
    "bash": {"sh", "shell"},
}


def script(text: str, _problem: Problem, *, language: str = "python") -> str | None:
    """The program in the last block of the language, else in the last one that names no other; without a block, the
    whole reply, which must be Python if that is the language."""
    names = {language, *_ALIASES.get(language, ())}
    blocks = solutions.fenced_blocks(text.replace("\r\n", "\n"))
    named = [block.text for block in blocks if block.language in names]
    unnamed = [block.text for block in blocks if not block.language]
    if blocks:
        return next((code for code in reversed(named or unnamed) if code.strip()), None)
    if language == "python":
        return text if (tree := parse(text)) and tree.body and not all(map(is_talk, tree.body)) else None
    return text if text.strip() else None


def last_fence(text: str, _problem: Problem) -> str | None:
    """LiveCodeBench's rule: what is between the last two lines with a fence."""
    lines = text.split("\n")
    fences = [place for place, line in enumerate(lines) if "```" in line]
    code = "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else ""
    return code if code.strip() else None


CODE_EXTRACTORS: dict[str, Callable[..., str | None]] = {
    "python_code": python_code,
    "foreign_code": foreign_code,
    "multipl_e_code": multipl_e_code,
    "expression": expression,
    "script": script,
    "last_fence": last_fence,
}
