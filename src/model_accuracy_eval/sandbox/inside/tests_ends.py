"""What is written into tests: at their ends a report that they were reached, and names for what each check compares.

At its end, and wherever it returns, a test reports a number that the host has drawn.
A test that was skipped, replaced or never run reports none, whatever its outcome is said to be.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, cast

CHECKED = "__checked__"
"""The function that tests report to: a number, and whether what it stands for was met."""
WITHIN = "__within__"
"""The function that tests give a limit in core time, what gives the seconds that the values take to cross, a function
of the program and its arguments: it returns what that returns, and the time that it used."""

_CLASS = re.compile(r"^class\s", re.MULTILINE)

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def names_of_tests(tests: str, parse: Callable[[str], ast.Module]) -> list[str]:
    """The test methods in their order, or the tests as a whole where they are plain statements."""
    return [method.name for method in _methods(tests, parse)[0]] or ["the tests"]


def compile_tests(tests: str, ends: Sequence[int]) -> CodeType:
    """The tests with a report at each end; one number for each of `names_of_tests`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods, tree = _methods(tests, ast.parse)
        if not methods:
            marked = "\n".join([tests, *(f"{CHECKED}({number}, True)" for number in ends[:1])])
            is_long = len(tests) > LONGEST_SOURCE
            return compile(marked if is_long else keep_sides(ast.parse(marked)), "<tests>", "exec")
        for method, number in zip(methods, ends, strict=False):
            marker = _Marker(number)
            method.body = [*(found for statement in method.body for found in marker.marked(statement)), marker.mark()]
        return compile(keep_sides(tree), "<tests>", "exec")


class _Marker(ast.NodeTransformer):
    """Puts the report before every `return` of one function, and of none within it."""

    def __init__(self, number: int) -> None:
        self._number = number

    def mark(self) -> ast.stmt:
        return ast.parse(f"{CHECKED}({self._number}, True)").body[0]

    def marked(self, statement: ast.stmt) -> list[ast.stmt]:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return [self.mark(), node]

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, _SCOPES) else super().visit(node)


def _methods(tests: str, parse: Callable[[str], ast.Module]) -> tuple[list[Function], ast.Module]:
    """Those of classes that are made of another (without a base they are no TestCases), and the tree that they are in.

    Plain tests may hold megabytes of expected values, which are not made into a tree.
    """
    tree = parse(tests) if _CLASS.search(tests) else ast.Module([], [])
    methods = [
        statement
        for case in tree.body
        if isinstance(case, ast.ClassDef) and case.bases
        for statement in case.body
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
        and statement.name.startswith("test")
        and not must_fail(statement)
    ]
    return methods, tree


def must_fail(function: Function) -> bool:
    """Whether the test passes by an exception, which keeps it from its end."""
    return any("expectedFailure" in ast.unparse(decorator) for decorator in function.decorator_list)


# What a failing check compared. Its sides are kept in names of the tests until the next one: `assert f(2) == 4` becomes
# `assert (__left__ := f(2)) == (__right__ := 4)`. No value is asked for its text unless it is plain data: that may be a
# program's own doing.


LONGEST_SOURCE = 200_000
"""Longer tests are mostly expected values, and stay as they are."""
_SIDES = ("__left__", "__right__")
_MAX_TEXT = 300
_PLAIN = (bool, int, float, complex, str, bytes, type(None))

_INNER = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements, and of their parts, that hold statements."""


def keep_sides(tree: ast.Module) -> ast.Module:
    for check in _checks(tree):
        if isinstance(check.test, ast.Compare):
            check.test.left = _kept(_SIDES[0], check.test.left)
            check.test.comparators = [_kept(_SIDES[1], check.test.comparators[0])]
        else:
            check.test = _kept(_SIDES[0], check.test)
    return tree


def failed_check(error: BaseException, tests: str) -> tuple[int, str]:
    """The line of the tests that the error comes from, 0 if from elsewhere; and what a check of it compared."""
    frame, line, trace = None, 0, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            frame, line = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    check = _check_at(tests, line) if isinstance(error, AssertionError) else None
    if frame is None or check is None:
        return line, ""
    names = {**frame.f_globals, **frame.f_locals} if frame.f_locals is not frame.f_globals else frame.f_locals
    sides = [_text(names[name]) for name in _SIDES if name in names]
    if not isinstance(check.test, ast.Compare):
        sides = sides[:1]
    elif _is_written_out(check.test.left) and not _is_written_out(check.test.comparators[0]):
        sides.reverse()
    said = f"{_cut(ast.unparse(check))}: got {sides[0]}" if sides else _cut(ast.unparse(check))
    return line, said + "".join(f", expected {side}" for side in sides[1:])


def _check_at(tests: str, line: int) -> ast.Assert | None:
    if not line or len(tests) > LONGEST_SOURCE:
        return None
    spans = [it for it in _checks(ast.parse(tests)) if it.lineno <= line <= (it.end_lineno or it.lineno)]
    return spans[-1] if spans else None


def _checks(tree: ast.Module) -> list[ast.Assert]:
    """Those that compare two values, or look at one. A method of unittest says itself what it compared."""
    found = [it for it in _statements(tree) if isinstance(it, ast.Assert)]
    return [it for it in found if not (isinstance(it.test, ast.Compare) and len(it.test.ops) > 1)]


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements within it. (`ast.walk` looks at every part of every expression, too.)"""
    for field in _INNER:
        for inner in getattr(node, field, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


def _is_written_out(side: ast.expr) -> bool:
    try:
        ast.literal_eval(side)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _kept(name: str, side: ast.expr) -> ast.expr:
    place = {"lineno": side.lineno, "col_offset": side.col_offset}
    return ast.NamedExpr(ast.Name(name, ast.Store(), **place), side, **place)


def _text(value: object) -> str:
    if not _is_plain([value], 0):
        return f"an object of type {type(value).__name__}"
    try:
        return _cut(repr(value))
    except ValueError:  # more digits than Python writes out
        return "a number of very many digits"


def _is_plain(values: Iterable[object], depth: int) -> bool:
    """Whether the values and what they hold are of Python's own types."""
    return depth < 5 and all(
        type(value) in _PLAIN
        or (type(value) in (list, tuple, set, frozenset) and _is_plain(cast("Any", value), depth + 1))
        or (type(value) is dict and _is_plain([*value, *value.values()], depth + 1))
        for value in values
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
