"""Python as the parser sees it: how much of a text is code, and which names it defines."""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

_GUIDED = 24
"""So many times the parser's own word is taken for where code ends; then cuts double, so that no text takes long."""


class Code(NamedTuple):
    """Source and its tree."""

    source: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return self.source.count("\n") + 1

    def defines(self, name: str) -> bool:
        return any(name in names_of(node) for node in self.tree.body)

    def upto(self, node: ast.stmt) -> "Code":
        """What stands before a statement of it."""
        kept = "\n".join(self.source.split("\n")[: first_line(node) - 1])
        return Code(kept, ast.Module(self.tree.body[: self.tree.body.index(node)], []))


EMPTY = Code("", ast.Module([], []))
_DECLARING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parse(source: str) -> ast.Module | None:
    """None where it is no Python, or nested too deep to say."""
    try:
        return _parsed(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _parsed(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # strange escapes are the model's business
        return ast.parse(source)


def longest_prefix(text: str) -> Code:
    """The longest run of whole lines from the start that is Python; talk behind code is none."""
    lines = text.replace("\r\n", "\n").split("\n")
    end, cut = len(lines), 1
    for tried in range(_GUIDED + 64):
        source = "\n".join(lines[:end])
        try:
            return Code(source, _parsed(source))
        except SyntaxError as error:
            fault = (error.lineno or end) - 1
        except (ValueError, MemoryError, RecursionError):
            fault = end - 1
        if tried >= _GUIDED:
            cut *= 2
        end = max(0, min(fault, end - cut))
    return EMPTY


def first_line(node: ast.stmt) -> int:
    """Decorators stand above their function."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def names_of(node: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement binds."""
    if isinstance(node, _DECLARING):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def is_declaration(node: ast.stmt) -> bool:
    """A function, a class, an import or a value: what others may need, and what does nothing by itself."""
    return isinstance(node, (*_DECLARING, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign))


def is_talk(node: ast.stmt) -> bool:
    """Words that happen to be Python: "Human", "- item", "Note: this". Run, they would raise or do nothing."""
    if isinstance(node, ast.AnnAssign):
        return node.value is None
    calls = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
    return (
        isinstance(node, ast.Expr)
        and not isinstance(node.value, ast.Constant)
        and not any(isinstance(one, calls) for one in ast.walk(node))
    )


_STARTS = re.compile(
    r"^(?:(?:async[ ]+)?def[ ]+\w+[ ]*\(|class[ ]+\w+[ ]*[(:]|@\w"
    r"|from[ ]+[\w.]+[ ]+import\b|import[ ]+[\w.]+(?:[ ]+as[ ]+\w+)?[ ]*(?:[,#;]|$))"
)


def starts(text: str, entry_point: str) -> Iterator[str]:
    """The text from where code may begin, behind talk: its first line of code, the entry point's first and last."""
    lines = text.split("\n")
    code = [place for place, line in enumerate(lines) if _STARTS.match(line)]
    heads = (f"def {entry_point}(", f"async def {entry_point}(")
    own = [place for place in code if lines[place].startswith(heads)]
    for place in dict.fromkeys([*code[:1], *own[:1], *own[-1:]]):
        yield "\n".join(lines[place:])
