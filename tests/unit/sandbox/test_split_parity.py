"""The same checks of the same values, with the program in this process and in one of its own."""

from datetime import datetime, time
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any
from uuid import UUID

from tests.unit.sandbox.apart import program_apart

from model_accuracy_eval.sandbox.inside import tests_process

PROGRAM = """
import copy
kept = []
def same(x): return x
def flat(x): return copy.copy(x)
def deep(x): return copy.deepcopy(x)
def twice(x): return [x, x]
def pair(x): return (x, [x])
def keyed(*, x): return {"x": x}
def first(*xs): return xs[0]
def keep(x):
    kept.append(x)
    return kept
def clear(x):
    x.clear()
    return x
def touch(x):
    if isinstance(x, list): x.append(x[:1])
    elif isinstance(x, dict): x["new"] = [len(x)]
    elif isinstance(x, set): x.add(3)
    elif hasattr(x, "append"): x.append(65)
    else: raise TypeError(type(x).__name__)
def deepest(x):
    while isinstance(x, (list, tuple)) and x: x = x[0]
    touch(x)
"""
NAMES = ["same", "flat", "deep", "twice", "pair", "keyed", "first", "keep", "clear", "touch", "deepest"]

VALUES = [
    "0", "True", "None", "'a'", "1.5", "-0.0", "float('inf')", "2 ** 100", "1j", "b'x'", "()", "(1, [2])", "((), ([],))", "[]",
    "[1, 'a', None]", "[[1], [2]]", "[[[]], ([3],)]", "{}", "{'a': [1]}", "{(1, 2): {3: {4}}}", "set()", "{1, 2}",
    "frozenset({1})", "bytearray(b'ab')", "range(3)", "deque([1, 2], maxlen=3)", "OrderedDict(b=1, a=2)", "Counter('aab')",
    "defaultdict(list, a=[1])", "Decimal('1.50')", "Fraction(1, 3)", "datetime(2020, 1, 1, tzinfo=timezone.utc)", "time(1, 2)",
    "UUID(int=7)", "PurePosixPath('a/b')", "array('i', [1, 2])", "ValueError('a', 1)", "int", "[float('nan')]",
]  # fmt: skip
CHECKS = [
    "same(v) is v", "same(v) == v", "type(same(v)) is type(v)", "repr(same(v)) == repr(v)", "flat(v) is v", "flat(v) == v",
    "deep(v) is v", "deep(v) == v", "type(deep(v)) is type(v)", "repr(deep(v))", "twice(v)[0] is twice(v)[1]",
    "(lambda r: r[0] is r[1] and r[0] is v)(twice(v))", "(lambda r: r[0] is r[1])(twice(deep(v)))", "pair(v)[1][0] is pair(v)[0]",
    "keyed(x=v)['x'] is v", "keyed(x=v) == {'x': v}", "first(v, v) is v", "[same(v)] == [v]", "{'k': v} == {'k': same(v)}",
    "keep(v) is keep(v)", "any(x is v for x in keep(v))", "len(v)", "same([v])[0] is v", "same((v,))[0] is v", "same([v]) is not [v]",
    "touch(v)", "(touch(v), repr(v))[1]", "(deepest((v,)), repr(v))[1]", "(deepest([[v]]), repr(v))[1]", "clear(v) is v and not v",
    "(clear(v), v == type(v)())[1]",
    "(lambda r: (r.append(1), repr(keep(0)[:1]), r.pop())[2])(keep(v))", "sorted([v, v]) == [v, v]", "hash(same(v)) == hash(v)",
    "bool(same(v)) == bool(v)", "same(v).nothing",
]  # fmt: skip

MODULES = (
    "from array import array\nfrom collections import Counter, OrderedDict, defaultdict, deque\nfrom datetime import datetime, time, timezone\n"
    "from decimal import Decimal\nfrom fractions import Fraction\nfrom pathlib import PurePosixPath\nfrom uuid import UUID\n"
)
EVERYTHING: dict[str, Any] = {}
exec(MODULES, EVERYTHING)
Outcomes = dict[tuple[str, str], str]


def outcomes(names: dict[str, Any]) -> Outcomes:
    """What comes of each check of each value, which is made anew for it."""
    exec(MODULES, names)
    return {(value, check): outcome(names, value, check) for value in VALUES for check in CHECKS}


def outcome(names: dict[str, Any], value: str, check: str) -> str:
    names["v"] = eval(value, names)
    try:
        return repr(eval(check, names))
    except Exception as error:
        return type(error).__name__


def is_kept(value: str, check: str) -> bool:
    """Whether one process is the measure: which number or text is the same object is nobody's promise."""
    single = isinstance(
        eval(value, dict(EVERYTHING)),
        (str, float, complex, int, range, Decimal, Fraction, datetime, time, UUID, PurePath),
    )
    of_one = " is " in check and "type(" not in check
    return not (single and of_one) and not (value == "[float('nan')]" and check in ("flat(v) == v", "deep(v) == v"))


def test_every_check_of_every_value_comes_out_as_in_one_process() -> None:
    """More than a thousand: identity, equality, types, texts, changes in place, exceptions."""
    names: dict[str, Any] = {"__name__": "program"}
    exec(PROGRAM, names)
    together = outcomes(names)
    with program_apart(PROGRAM) as connection:
        apart = outcomes(tests_process.Namespace(connection, tests_process.Tests("", NAMES)))
    assert len(together) > 1000
    differing = {key: (text, apart[key]) for key, text in together.items() if apart[key] != text}
    assert {key: texts for key, texts in differing.items() if is_kept(*key)} == {}
