"""An answer and its row → a program with the cases that judge it, for benchmarks of programming contests.

Preambles are what the benchmarks' own runners put in front of every program: models leave these imports out.
"""

import ast
import builtins
import json
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import CaseProgram, Limits, Program, TextRule, ValueRule
from model_accuracy_eval.scoring.code.code_syntax import call_arguments, parse, restore_types
from model_accuracy_eval.scoring.code.solutions import after_head
from model_accuracy_eval.scoring.metrics.metric_type import fill_template

_STAR_IMPORTS = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics", "itertools",
    "functools", "operator", "io", "sys", "json", "builtins", "typing",
)  # fmt: skip
_LIVECODEBENCH = "\n".join(
    [
        *(f"from {name} import *" for name in _STAR_IMPORTS),
        *(f"import {name}" for name in _STAR_IMPORTS if name not in ("builtins", "typing")),
        "sys.setrecursionlimit(50000)",
        "getattr(sys, 'set_int_max_str_digits', id)(50000)",
    ]
)
_APPS = """import sys
import time
import itertools
from itertools import accumulate, product, permutations, combinations
import collections
from collections import Counter, OrderedDict, deque, defaultdict, ChainMap
from functools import lru_cache
import math
from math import sqrt, sin, cos, tan, ceil, fabs, floor, gcd, exp, log, log2
import fractions
from typing import List, Tuple
import random
import heapq
from heapq import *
try:
    import numpy as np
except ImportError:
    pass
stdin = sys.stdin
stdout = sys.stdout
"""

_LIVECODEBENCH_LIMITS = Limits(wall_seconds=6.0, memory_mb=4096)
_APPS_LIMITS = Limits(wall_seconds=4.0, memory_mb=4096)
_CODECONTESTS_LIMITS = Limits(wall_seconds=10.0)


def livecodebench(code: str, row: JSONObject) -> CaseProgram:
    """LiveCodeBench: public and private cases; `metadata` names the function where one is called."""
    function = json.loads(row["metadata"] or "{}").get("func_name") or ""
    return CaseProgram(
        code=after_head(_LIVECODEBENCH, code),
        tests=_tests(
            [row["public_test_cases"], row["private_test_cases"]], "equal" if function else "livecodebench", function
        ),
        kind="calls" if function else "stdin",
        limits=_LIVECODEBENCH_LIMITS,
    )


def apps(code: str, row: JSONObject) -> CaseProgram:
    """APPS: all cases are run, because their share is a figure of its own."""
    # Whole numbers of many thousand digits are the judge's concern alone.
    function = json.loads(row["input_output"], parse_int=str).get("fn_name") or ""
    return CaseProgram(
        code=after_head(_APPS, code),
        tests=_tests([row["input_output"]], "apps", function),
        kind="calls" if function else "stdin",
        all_cases=True,
        limits=_APPS_LIMITS,
    )


def codecontests(code: str, row: JSONObject, *, language: str = "python") -> CaseProgram:
    """CodeContests: the cases of the contest, and those made from them."""
    lists = [row[column] for column in ("public_tests", "private_tests", "generated_tests")]
    return CaseProgram(
        code=code,
        tests=_tests([part for part in lists if part], "codecontests"),
        language=language,
        limits=_CODECONTESTS_LIMITS,
    )


def _tests(cases: list[Any], checker: str, function: str = "") -> str:
    return msgspec.json.encode({"cases": cases, "checker": checker, "function": function, "compared": True}).decode()


# The cases of a task file: written there, or in a column of the rows.


WrittenCases = Sequence[dict[str, str]]
"""Templates over the columns: {"input": …, "output": …}."""


class CaseRules(NamedTuple):
    """How cases are run and compared."""

    function: str
    """What is called; empty for programs that read their input."""
    checker: str
    """The name of a rule, or Python that defines check(given, expected, output)."""
    tolerance: float = 0.0
    all_cases: bool = False


def case_program(
    program: Program, cases: WrittenCases | str, rules: CaseRules, problem: Problem, row: Mapping[str, str]
) -> CaseProgram:
    """The program with the problem's cases in place of tests; `row` has its columns as texts."""
    data = {"cases": [_cases(cases, problem, row)], "function": rules.function, "compared": True}
    tests = json.dumps({**data, "tolerance": rules.tolerance, **_checker(rules)})
    fields = {**msgspec.structs.asdict(program), "tests": tests}
    return CaseProgram(**fields, kind="calls" if rules.function else "stdin", all_cases=rules.all_cases)


def _cases(cases: WrittenCases | str, problem: Problem, row: Mapping[str, str]) -> Any:
    if not isinstance(cases, str):
        return [{name: fill_template(text, row) for name, text in case.items()} for case in cases]
    if cases not in problem.extras:
        raise BadData(f"Problem {problem.id} has no column '{cases}' with cases; name it under extras.")
    if not problem.extras[cases]:
        raise BadData(f"The column '{cases}' of problem {problem.id} is empty: there is no case to judge it by.")
    return problem.extras[cases]


def _checker(rules: CaseRules) -> dict[str, str]:
    names = typing.get_args(ValueRule if rules.function else TextRule)
    name = rules.checker or names[0]
    if "\n" in name or "def check" in name:
        return {"checker_source": name}
    if name not in names:
        raise UnknownName("checker", name, names)
    return {"checker": name}


def check_rules(where: str, fields: dict[str, Any]) -> None:
    """Refuses rules of a task file that contradict each other."""
    if fields.get("stdin") and fields.get("calls"):
        raise BadValue(f"{where}: cases are on standard input (stdin) or calls of a function (calls), not both.")
    if bool(fields.get("calls")) != bool(fields.get("function")):
        raise BadValue(f"{where}: calls and function belong together: the cases, and the name of what is called.")
    if (fields.get("stdin") or fields.get("calls")) and fields.get("tests"):
        raise BadValue(f"{where}: tests are Python source, and cases replace them: give one of the two.")
    for cases in (fields.get("stdin"), fields.get("calls")):
        for case in cases if isinstance(cases, list) else ():
            if not (isinstance(case, dict) and case.keys() == {"input", "output"}):
                raise BadValue(f"{where}: a case is an object with 'input' and 'output', and nothing else.")
            if not all(isinstance(text, str) for text in case.values()):
                raise BadValue(f"{where}: the input and the output of a case are texts; put numbers in quotes.")
    _checker(CaseRules(str(fields.get("function", "")), str(fields.get("checker", ""))))


# A program and its task → the same program on the task's inputs alone, where it is seen what it puts out.
#
# Whoever chooses among programs by what they agree on knows the inputs, and never what is expected for them.


_MOST_CALLS = 64
"""Of one function; more tell no more."""
_BUILTINS = frozenset(dir(builtins))
_SET_UP = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
_OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
_HAPPENING = (ast.Await, ast.Yield, ast.YieldFrom)


def output_program(program: Program, row: JSONObject) -> Program | None:
    """None where the task has no inputs without their tests: other languages, and unit tests.

    Of the cases of a contest, those that the question shows count. A program that runs through all its cases anyway
    is its own: its outputs are known from there.
    """
    if isinstance(program, CaseProgram):
        if program.all_cases:
            return program
        data = json.loads(program.tests)
        shown = [row[column] for column in ("public_test_cases", "public_tests") if _has_cases(row.get(column))]
        tests = json.dumps({**data, "cases": shown or data["cases"], "compared": False})
        return msgspec.structs.replace(program, tests=tests, reference="")
    if program.language != "python" or not program.entry_points or program.mode == "shared":
        return None
    name = program.entry_points[0]
    expressions, setup = (
        _given_inputs(name, row) if {"base_input", "atol"} <= row.keys() else _written_calls(program, name)
    )
    if not expressions:
        return None
    calls = json.dumps({"expressions": expressions, "setup": setup, "function": name})
    fields = {**msgspec.structs.asdict(program), "tests": calls, "mode": "split", "reference": ""}
    return CaseProgram(**fields, kind="calls")


def _has_cases(written: object) -> bool:
    """LiveCodeBench has a text, CodeContests an object of two lists."""
    cases = json.loads(written) if isinstance(written, str) else written
    return bool(cases.get("input") if isinstance(cases, dict) else cases)


def _given_inputs(name: str, row: JSONObject) -> tuple[list[str], str]:
    """EvalPlus: the original inputs, each a list of arguments."""
    inputs = row["base_input"]
    if "assertion" in row:
        inputs = restore_types(inputs, call_arguments(row["assertion"], name))
    calls = [f"{name}({', '.join(map(repr, arguments))})" for arguments in inputs]
    return list(dict.fromkeys(calls))[:_MOST_CALLS], "from math import inf, nan"


def _written_calls(program: Program, name: str) -> tuple[list[str], str]:
    """The calls in the tests that can be made by themselves, and what they need."""
    tree = parse(program.tests)
    if tree is None:
        return [], ""
    setup = [node for node in tree.body if isinstance(node, _SET_UP) or _is_plain_value(node)]
    setup = [node for node in setup if not _names_read([node]) & {name} and getattr(node, "name", "") != "check"]
    known = _BUILTINS | {name} | {bound for node in setup for bound in _names_bound(node)}
    found = [call for called in _aliases(tree, name) for call in _calls(tree, called, name, known)]
    return list(dict.fromkeys(found))[:_MOST_CALLS], "\n".join(map(ast.unparse, setup))


def _aliases(tree: ast.Module, name: str) -> Iterator[str]:
    """The function's own name, and what HumanEval's check() calls it."""
    yield name
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check" and len(node.args.args) == 1:
            yield node.args.args[0].arg


def _calls(tree: ast.Module, called: str, name: str, known: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == called):
            continue
        inner = list(ast.walk(node))
        if _names_read([node]) - {called} <= known and not any(
            isinstance(one, _OWN_NAMES + _HAPPENING) for one in inner
        ):
            for one in inner:
                if isinstance(one, ast.Name) and one.id == called:
                    one.id = name
            yield ast.unparse(node)


def _names_read(nodes: Iterable[ast.AST]) -> set[str]:
    return {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}


def _names_bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_plain_value(node: ast.stmt) -> bool:
    """Such as `numbers = [1, 2]`: what is assigned calls nothing."""
    return isinstance(node, ast.Assign) and not any(isinstance(one, (ast.Call, *_HAPPENING)) for one in ast.walk(node))
