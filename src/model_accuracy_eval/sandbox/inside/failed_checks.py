"""What a failing check compared. The sides of each check are kept in names of the tests until the next one.

`assert f(2) == 4` becomes `assert (__left__ := f(2)) == (__right__ := 4)`, and a method of unittest gets its first two
arguments in the same way. No value is asked for its text unless it is plain data: that may be a program's own doing.
"""

import ast
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, cast

from model_accuracy_eval.sandbox.inside.messages import ComparedSides

LONGEST_SOURCE = 200_000
"""Longer tests are mostly expected values, and stay as they are."""
_SIDES = ("__left__", "__right__")
_MAX_TEXT = 300
_PLAIN = (bool, int, float, complex, str, bytes, type(None))

_OF_ONE = {"assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"}
"""Their second argument is what they say when they fail."""

_INNER = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements, and of their parts, that hold statements."""

Check = ast.Assert | ast.Expr


def keep_sides(tree: ast.Module) -> ast.Module:
    for check in _checks(tree):
        if isinstance(check, ast.Assert) and not isinstance(check.test, ast.Compare):
            check.test = _kept(_SIDES[0], check.test)
        elif isinstance(check, ast.Assert):
            compared = cast("ast.Compare", check.test)
            compared.left, compared.comparators = (
                _kept(_SIDES[0], compared.left),
                [_kept(_SIDES[1], compared.comparators[0])],
            )
        else:
            call = cast("ast.Call", check.value)
            sides = _sides(check)
            call.args[: len(sides)] = [_kept(name, side) for name, side in zip(_SIDES, sides, strict=False)]
    return tree


def failed_check(error: BaseException, tests: str) -> ComparedSides | None:
    """The check of the tests that the error comes from; None if it comes from elsewhere."""
    test = str(vars(error).get("unit_test", ""))
    found = None
    for frame, line in _frames(error):
        found = frame, line
    if found is None:
        return None
    frame, line = found
    check = _check_at(tests, line) if isinstance(error, AssertionError) else None
    if check is None:
        return ComparedSides(test, line, "", "", "")
    names = {**frame.f_globals, **frame.f_locals} if frame.f_locals is not frame.f_globals else frame.f_locals
    sides = [_text(names[name]) if name in names else "" for name in _SIDES[: len(_sides(check))]]
    if len(sides) == 2 and _is_written_out(_sides(check)[0]) and not _is_written_out(_sides(check)[1]):
        sides.reverse()
    got, expected = (*sides, "")[:2]
    return ComparedSides(test, line, _cut(ast.unparse(check)), got, expected)


def explained(text: str, check: ComparedSides | None) -> str:
    """The text of an error, which is empty for a plain assert, with the check that failed."""
    if check is None or not check.check or not text.endswith(": "):
        return text
    return f"{text}{check.check}: got {check.got}" + (f", expected {check.expected}" if check.expected else "")


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _check_at(tests: str, line: int) -> Check | None:
    if len(tests) > LONGEST_SOURCE:
        return None
    spans = [it for it in _checks(ast.parse(tests)) if it.lineno <= line <= (it.end_lineno or it.lineno)]
    return spans[-1] if spans else None


def _checks(tree: ast.Module) -> list[Check]:
    return [it for it in _statements(tree) if isinstance(it, (ast.Assert, ast.Expr)) and _sides(it)]


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements within it. (`ast.walk` looks at every part of every expression, too.)"""
    for field in _INNER:
        for inner in getattr(node, field, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


def _sides(check: Check) -> list[ast.expr]:
    """The values that a check is about: one or two; none for what is no check, or has others."""
    if isinstance(check, ast.Assert):
        test = check.test
        if isinstance(test, ast.Compare):
            return [test.left, *test.comparators] if len(test.ops) == 1 else []
        return [test]
    call = check.value
    name = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
    if not isinstance(call, ast.Call) or not name.startswith("assert") or "Raises" in name:
        return []
    values = call.args[: 1 if name in _OF_ONE else 2]
    return [] if any(isinstance(it, (ast.Starred, ast.Lambda, ast.GeneratorExp)) for it in values) else values


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
