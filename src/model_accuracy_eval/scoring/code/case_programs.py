"""An answer and its row → a program and the cases that judge it, of contests and of task files.

Preambles are what the benchmarks' own runners put in front of every program: models leave these imports out.
"""

import inspect
import json
import typing
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import CaseProgram, Limits, Program, TextRule, ValueRule
from model_accuracy_eval.scoring.code import contest_checkers
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
    data = {"cases": cases, "function": function, **_named_checker(checker, is_call=bool(function))}
    return msgspec.json.encode(data).decode()


def _named_checker(name: str, *, is_call: bool) -> JSONObject:
    """The sandbox knows the general rules by their names, and those of benchmarks by their source."""
    if not hasattr(contest_checkers, name):
        return {"checker": name}
    function = f"{name}_values" if is_call else name
    source = f"{inspect.getsource(contest_checkers)}\ncheck = {function}\n"
    return {"checker_source": source, "whole_keys": function == "apps_values"}


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
    data = {"cases": [_cases(cases, problem, row)], "function": rules.function}
    tests = json.dumps({**data, "tolerance": rules.tolerance, **checker_of(rules)})
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


def checker_of(rules: CaseRules) -> JSONObject:
    names = typing.get_args(ValueRule if rules.function else TextRule)
    name = rules.checker or names[0]
    if "\n" in name or "def check" in name:
        return {"checker_source": name}
    if name not in names:
        raise UnknownName("checker", name, names)
    return _named_checker(name, is_call=bool(rules.function))


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
    checker_of(CaseRules(str(fields.get("function", "")), str(fields.get("checker", ""))))
