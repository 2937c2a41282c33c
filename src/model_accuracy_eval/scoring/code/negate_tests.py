"""Makes checks wrong: each of them in one of two versions of the tests, drawn by lot, and right in the other one.

Each check that can be made wrong reports its outcome and goes on, and a right program fails exactly the wrong ones. To
answer as it does, a program must tell wrong expectations from right ones: an object that equals everything, a patched
assertion or a test that does not run give themselves away.
"""

import ast
import copy
import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from model_accuracy_eval.scoring.code.code_syntax import parse_expression, parse_source

_COMPARING = {"assertEqual", "assertEquals", "assertAlmostEqual", "assertListEqual", "assertDictEqual"} | {
    "assertTupleEqual", "assertSetEqual", "assertMultiLineEqual", "assertSequenceEqual", "assertCountEqual",
}  # fmt: skip
"""Methods of unittest whose first two arguments must be equal."""

_PAIRS = (
    ("assertTrue", "assertFalse"),
    ("assertEqual", "assertNotEqual"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
)
_OPPOSITES = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
"""Methods of unittest of which one holds when the other does not, for the same arguments."""

_EQUALITIES = frozenset(
    {"equals", "array_equal", "array_equiv", "allclose", "isclose", "almost_equals", "identical", "assert_frame_equal"}
    | {"assert_series_equal", "assert_index_equal", "assert_array_equal", "assert_array_almost_equal", "assert_equal"}
    | {"assert_almost_equal", "assert_allclose", "eq"}
)
"""Functions and methods of numpy, pandas and math that say whether two values are equal."""
_DISTANCES = frozenset({"abs", "fabs"})
_EXPECTED = re.compile(r"expect|want|correct|reference|truth|original|target", re.IGNORECASE)


class Control(NamedTuple):
    """Tests of which a part is wrong."""

    tests: str
    expected: dict[int, bool]
    """For every check, by its number: whether it must hold."""


def negate_tests(tests: str, report: str, generator: random.Random | None = None) -> tuple[Control, Control] | None:
    """Returns None when no check can be made wrong. The lot, the wrong values and the numbers differ each time.

    `report` is the function that checks tell their numbers and outcomes.
    """
    generator = generator or random.SystemRandom()
    try:
        tree = parse_source(tests)
        negater = _Negater(generator)
        negater.visit(tree)
        lot = [generator.random() < 0.5 for _ in negater.checks]
        first = _control(tree, negater.checks, report, generator, lot)
        second = _control(tree, negater.checks, report, generator, [not it for it in lot])
    except (SyntaxError, ValueError, RecursionError):
        return None
    return (first, second) if lot else None


def _control(
    tree: ast.Module, checks: Sequence["_Check"], report: str, generator: random.Random, wrong: Sequence[bool]
) -> Control:
    numbers = [generator.getrandbits(52) for _ in checks]
    for check, number, is_wrong in zip(checks, numbers, wrong, strict=True):
        check.draw(number, report, wrong=is_wrong)
    tests = ast.unparse(ast.fix_missing_locations(tree))
    return Control(tests, {number: not is_wrong for number, is_wrong in zip(numbers, wrong, strict=True)})


class _Check(NamedTuple):
    """A check in the tree, which holds its place in `statement`."""

    statement: ast.Try
    right: ast.stmt
    negated: ast.stmt

    def draw(self, number: int, report: str, *, wrong: bool) -> None:
        """Makes it report under that number and go on after a failure; a wrong list may raise a TypeError."""
        failed, held = (f"{report}({number}, {outcome})" for outcome in (False, True))
        reporting = parse_source(f"try: pass\nexcept Exception: {failed}\nelse: {held}").body[0]
        assert isinstance(reporting, ast.Try)
        self.statement.body = [self.negated if wrong else self.right]
        self.statement.handlers, self.statement.orelse = reporting.handlers, reporting.orelse


class _Negater(ast.NodeTransformer):
    def __init__(self, generator: random.Random) -> None:
        self._generator = generator
        self.checks: list[_Check] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """A check that must fail is left as it is: a report in its place would end the test otherwise."""
        must_fail = any("expectedFailure" in ast.unparse(decorator) for decorator in node.decorator_list)
        return node if must_fail else self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self.visit_FunctionDef(node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        test = self._other_expectation(node.test) or ast.UnaryOp(ast.Not(), node.test)
        return self._check(node, ast.Assert(test=test, msg=None))

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if not isinstance(call, ast.Call):
            return node
        is_equality = _name(call).startswith("assert_") and _name(call) in _EQUALITIES
        if is_equality and (other := self._other_expectation(call)):
            return self._check(node, ast.Expr(other))
        if not (isinstance(call.func, ast.Attribute) and call.args):
            return node
        if (args := self._negated_args(call.func.attr, call.args)) is not None:
            return self._check(node, ast.Expr(ast.Call(call.func, args, call.keywords)))
        if (opposite := _OPPOSITES.get(call.func.attr)) is not None:
            function = ast.Attribute(call.func.value, opposite, ast.Load())
            return self._check(node, ast.Expr(ast.Call(function, call.args, call.keywords)))
        return node

    def _negated_args(self, method: str, args: list[ast.expr]) -> list[ast.expr] | None:
        """The arguments of a check with another expectation; None where it has none."""
        if method == "assertTrue" and (test := self._other_expectation(args[0])):
            return [test, *args[1:]]
        if method not in _COMPARING or len(args) < 2:
            return None
        compared = ast.Compare(copy.deepcopy(args[0]), [ast.Eq()], [copy.deepcopy(args[1])])
        self._replace(compared)
        return [compared.left, *compared.comparators, *args[2:]]

    def _other_expectation(self, check: ast.expr) -> ast.expr | None:
        """A copy with another expectation: a wrong value where one is written out, else an object that nothing equals;
        None where the expression is not known to be true for equal values alone.

        `found.equals(wanted)` becomes `found.equals(object())`: to turn the check round would not do, as an object that
        claims to equal everything fails that just as a right program does.
        """
        changed = copy.deepcopy(check)
        return changed if self._replace(changed) else None

    def _replace(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._replace_in_comparison(node, node.ops[0])
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return any(map(self._replace, node.values))
        return isinstance(node, ast.Call) and self._replace_in_call(node)

    def _replace_in_comparison(self, node: ast.Compare, operator: ast.cmpop) -> bool:
        left, right = node.left, node.comparators[0]
        if isinstance(operator, ast.Eq):
            wrong = [self._wrong_value(side) for side in (left, right)]
            if (wrong[0] is None) == (wrong[1] is None):  # a comparison of two written values tests nothing
                wrong = [None, None]
                wrong[_expected([left, right])] = _nothing()
            node.left, node.comparators = wrong[0] or left, [wrong[1] or right]
            return True
        if isinstance(operator, ast.In):
            if isinstance(right, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
                node.comparators[0] = ast.List([_nothing()], ast.Load())
            else:
                node.left = _nothing()
            return True
        if isinstance(operator, (ast.Lt, ast.LtE)) and isinstance(left, ast.Call) and _name(left) in _DISTANCES:
            difference = left.args[0] if left.args else None
            if isinstance(difference, ast.BinOp) and isinstance(difference.op, ast.Sub):
                if isinstance(difference.left, ast.Constant) or not _expected([difference.left, difference.right]):
                    difference.left = _nothing()
                else:
                    difference.right = _nothing()
                return True
        return False

    def _replace_in_call(self, call: ast.Call) -> bool:
        name = _name(call)
        if name in _EQUALITIES and call.args and not any(isinstance(it, ast.Starred) for it in call.args):
            place = _expected(call.args[:2]) if len(call.args) > 1 else 0
            call.args[place] = _nothing()
            return True
        if name in {"all", "bool"}:
            inner = call.args[0] if call.args else call.func.value if isinstance(call.func, ast.Attribute) else None
            return inner is not None and self._replace(inner.elt if isinstance(inner, ast.GeneratorExp) else inner)
        return False

    def _wrong_value(self, side: ast.expr) -> ast.expr | None:
        try:
            value = ast.literal_eval(side)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        wrong = repr(self._other_value(value))
        return None if "inf" in wrong or "nan" in wrong else parse_expression(wrong).body

    def _other_value(self, value: object) -> object:
        """A value far from the true one, of the same type where possible."""
        far = self._generator.randrange(10**6, 10**7)
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

    def _check(self, right: ast.stmt, negated: ast.stmt) -> ast.stmt:
        self.checks.append(_Check(ast.Try(body=[], handlers=[], orelse=[], finalbody=[]), right, negated))
        return self.checks[-1].statement


def _expected(sides: list[ast.expr]) -> int:
    """The place of the expectation: the one that is called so, else the second."""
    return 0 if _EXPECTED.search(ast.unparse(sides[0])) and not _EXPECTED.search(ast.unparse(sides[1])) else 1


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _nothing() -> ast.expr:
    return ast.Call(ast.Name("object", ast.Load()), [], [])
