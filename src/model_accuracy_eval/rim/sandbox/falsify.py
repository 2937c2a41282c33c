"""Tests made wrong on purpose: every check that can be given a wrong expectation gets one, and reports how it went;
in the end they fail.

A right program fails all of these. One that passes by objects that equal everything, by patched assertions or by a
`run` that runs nothing gives itself away, as it cannot know which of the two kinds of tests it is in.
"""

import ast
import random
from typing import NamedTuple

from model_accuracy_eval.rim.sandbox.inside.together import CHECKED
from model_accuracy_eval.rim.sandbox.parsing import parsed

_COMPARING = {"assertEqual", "assertEquals", "assertAlmostEqual", "assertListEqual", "assertDictEqual"} | {
    "assertTupleEqual", "assertSetEqual", "assertMultiLineEqual", "assertSequenceEqual", "assertCountEqual",
}  # fmt: skip
"""Methods of unittest whose first two arguments must be equal."""


class Control(NamedTuple):
    """Falsified tests, which fail as a whole and in each of their checks."""

    tests: str
    checks: int


def falsify(tests: str, chance: random.Random | None = None) -> Control | None:
    """None when no expectation is written out as a value. The wrong values are drawn anew each time."""
    try:
        tree = parsed(tests)
    except (SyntaxError, ValueError, RecursionError):
        return None
    falsifier = _Falsifier(chance or random.SystemRandom())
    changed: ast.Module = falsifier.visit(tree)
    if not falsifier.methods:
        changed.body.append(_failure())
    ast.fix_missing_locations(changed)
    return Control(ast.unparse(changed), falsifier.checks) if falsifier.checks else None


class _Falsifier(ast.NodeTransformer):
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.checks = 0
        self.methods = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A test method must fail in the end, so that whoever drops failures is noticed, too."""
        self.generic_visit(node)
        if node.name.startswith("test"):
            self.methods += 1
            node.body.append(_failure())
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        test = self._compared(node.test)
        return self._watched(ast.Assert(test=test, msg=None)) if test else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return node
        if call.func.attr == "assertTrue" and call.args:
            test = self._compared(call.args[0])
            return self._watched(_call(call, [test, *call.args[1:]])) if test else node
        if call.func.attr in _COMPARING and len(call.args) >= 2:
            pair = self._pair(call.args[0], call.args[1])
            return self._watched(_call(call, [*pair, *call.args[2:]])) if pair else node
        return node

    def _compared(self, test: ast.expr) -> ast.expr | None:
        """`a == 3` with another 3; None for all that is not of this form."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            pair = self._pair(test.left, test.comparators[0])
            return ast.Compare(left=pair[0], ops=test.ops, comparators=[pair[1]]) if pair else None
        return None

    def _pair(self, left: ast.expr, right: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """The side that is written out as a value is the expectation; two values would test nothing."""
        wrong = [self._wrong(side) for side in (left, right)]
        if (wrong[0] is None) == (wrong[1] is None):
            return None
        return wrong[0] or left, wrong[1] or right

    def _wrong(self, side: ast.expr) -> ast.expr | None:
        try:
            value = ast.literal_eval(side)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        wrong = repr(self._other(value))
        return None if "inf" in wrong or "nan" in wrong else ast.parse(wrong, mode="eval").body

    def _other(self, value: object) -> object:
        """A value of the same type where that says something, far from the true one."""
        far = self._chance.randrange(10**6, 10**7)
        if isinstance(value, bool) or value is None:
            return not value
        if isinstance(value, (int, float, complex)):
            return value + far if abs(value) < 10**12 else -value
        if isinstance(value, str):
            return f"{value}{far}"
        if isinstance(value, bytes):
            return value + b"%d" % far
        if isinstance(value, (list, tuple)):
            return type(value)([*value, far])
        return {**value, far: far} if isinstance(value, dict) else {far, *value}  # type: ignore[misc]

    def _watched(self, check: ast.stmt) -> ast.stmt:
        """Goes on after a failure, and reports both outcomes; a wrong list may end a comparison by a TypeError."""
        self.checks += 1
        failed, held = (f"{CHECKED}({self.checks}, {outcome})" for outcome in (False, True))
        frame = ast.parse(f"try: pass\nexcept Exception: {failed}\nelse: {held}").body[0]
        assert isinstance(frame, ast.Try)
        frame.body = [check]
        return frame


def _failure() -> ast.stmt:
    return ast.parse("raise AssertionError").body[0]


def _call(call: ast.Call, args: list[ast.expr]) -> ast.Expr:
    return ast.Expr(value=ast.Call(func=call.func, args=args, keywords=call.keywords))
