"""An answer and its row → a program and what judges it, for benchmarks that bring cases or other languages.

Preambles are what the benchmarks' own runners put in front of every program: models leave these imports out.
"""

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import CaseProgram, Limits, Program, TextRule, ValueRule
from model_accuracy_eval.scoring.code import contest_checkers, solutions
from model_accuracy_eval.scoring.code.file_assembly import (
    LANGUAGES,
    Language,
    blank_out,
    complete_file,
    functions,
    requested_function,
    split_opening,
    top_level,
    without,
    without_java_file_marks,
)
from model_accuracy_eval.scoring.code.solutions import after_head, solution
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


# MultiPL-E: a reply in one of its languages → the complete file; the file and its row → what is run.
#
# Its authors join prompt, completion and tests. A reply to a chat has the whole function instead, perhaps with helpers
# and imports of its own; it takes the prompt's place then.


_LIMITS = Limits(wall_seconds=15.0, memory_mb=2048, processes=128, file_mb=64)
"""Its own runner gives 15 s to a compiler and to a program; a compiler has more here."""


def multipl_e_code(text: str, problem: Problem, *, language: str, continues: bool = False) -> str | None:
    """The complete file, without its tests. `continues`: the text goes on where the prompt ends, as its authors ask."""
    row = problem.extras
    text = text.replace("\r\n", "\n")
    if continues:
        return _continued(text, row)
    name = _wanted(language, str(row["prompt"]))
    blocks = [block.text for block in solutions.fenced_blocks(text)]
    defining = [block for block in blocks if _defines(language, block, name)]
    source = defining[-1] if defining else max(blocks, key=len) if blocks else text
    if not source.strip():
        return None
    if not _defines(language, source, name):
        return _continued(source, row)
    return _WHOLE.get(language, _assembled)(language, source, row)


def _continued(text: str, row: JSONObject) -> str:
    """The prompt with the text as far as it goes on with it, closed where the tests would close it."""
    ends = [place for stop in row["stop_tokens"] if (place := text.find(stop)) >= 0]
    completed = f"{row['prompt']}{text[: min(ends, default=len(text))]}"
    # With a brace, the tests close the function that the prompt has opened; without one, completions do.
    return f"{completed}\n{'}' if str(row['tests']).lstrip().startswith('}') else ''}"


def _tests_alone(row: JSONObject) -> str:
    return str(row["tests"]).lstrip().removeprefix("}")


_DEFINITION = {
    "bash": r"^(?:function[ \t]+)?{name}[ \t]*(?:\(\))?[ \t]*\n?[ \t]*\{{",
    "perl": r"^sub[ \t]+{name}\b",
}


def _wanted(language: str, prompt: str) -> str:
    """The name of the function that the prompt's end has opened."""
    if language in LANGUAGES:
        return functions(LANGUAGES[language], prompt)[-1].name
    return str(re.findall(r"^(?:sub[ \t]+)?(\w+)[ \t]*(?:\(\))?[ \t]*\{", prompt, re.MULTILINE)[-1])


def _defines(language: str, source: str, name: str) -> bool:
    if language in LANGUAGES:
        return name in {definition.name for definition in functions(LANGUAGES[language], source)}
    return re.search(_DEFINITION[language].format(name=re.escape(name)), source, re.MULTILINE) is not None


def _assembled(language: str, source: str, row: JSONObject) -> str:
    """As the files of HumanEval-X, whose columns are these."""
    prompt = str(row["prompt"])
    columns = {"prompt": prompt, "declaration": prompt, "test": _tests_alone(row), "test_setup": ""}
    return complete_file(language, source, columns)


def _java(language: str, source: str, row: JSONObject) -> str:
    """The tests are the rest of the class Problem, so what the reply has in a class of its own moves there."""
    known = LANGUAGES[language]
    given, _ = split_opening(known, str(row["prompt"]))
    more, rest = split_opening(known, source)
    rest = without_java_file_marks(rest)
    target = next(one for one in functions(known, rest) if one.name == _wanted(language, str(row["prompt"])))
    types = top_level(known, rest)
    around = [one for one in types if one.body < target.start < one.end]
    beside = "\n".join(rest[one.start : one.end] for one in types if one not in around)
    members = rest[around[0].body + 1 : around[0].end - 1] if around else without(rest, types)
    members = without(members, [one for one in functions(known, members) if one.name == "main"])
    imports = "\n".join(dict.fromkeys([*given, *more]))
    return f"{imports}\n{beside}\nclass Problem {{\n{members}\n"


_WHOLE: dict[str, Callable[[str, str, JSONObject], str]] = {
    "java": _java,
    "bash": lambda language, source, row: source,
    "perl": lambda language, source, row: source,
}
_RECIPES = {"go": "go_test", "java": "java_problem"}
"""Language → the sandbox's name for how its files are run, if that is another one."""


def multipl_e(code: str, row: JSONObject, *, language: str) -> Program:
    """One file whose exit code decides."""
    return Program(code=code, tests=_tests_alone(row), language=_RECIPES.get(language, language), limits=_LIMITS)


# HumanEval-X: a reply in one of its languages → its program; the program and its row → what is run.


_HUMANEVAL_X_LIMITS = Limits(wall_seconds=30.0, memory_mb=2048, processes=128, file_mb=64)
"""Compilers and virtual machines need far more than the programs they make."""
_SETUP = {"javascript": "console.assert = (holds, ...said) => { if (!holds) throw new Error(said.join(' ')); };\n"}
"""JavaScript only prints a failed assertion; this makes it an error."""
_WRONG_SOLUTIONS = {"JavaScript/112", "JavaScript/155"}
"""Published solutions that rightly fail their tests, so they say nothing about the place where programs run."""


def foreign_code(text: str, problem: Problem, *, language: str) -> str | None:
    """The complete file in the reply, without its tests."""
    row = problem.extras
    if language == "python":
        return solution(text, entry_point(row), str(row["prompt"]))
    known = LANGUAGES[language]
    source = _source_in(known, text.replace("\r\n", "\n"), requested_function(known, row).name)
    return complete_file(language, source, row) if source.strip() else None


def entry_point(row: JSONObject) -> str:
    """The Python function that the task asks for: the last one of the head."""
    return str(re.findall(r"^def (\w+)", str(row["declaration"]), re.MULTILINE)[-1])


def _source_in(known: Language, text: str, name: str) -> str:
    """The last block that defines the function, else the longest block; without blocks, the code within the text."""
    blocks = [block.text for block in solutions.fenced_blocks(text) if block.language in {"", *known.fences}]
    defining = [source for source in blocks if name in {function.name for function in functions(known, source)}]
    if defining:
        return defining[-1]
    return max(blocks, key=len) if blocks else _unfenced(known, solutions.before(text), name)


def _unfenced(known: Language, text: str, name: str) -> str:
    """The text without the talk before a whole function and after the last brace."""
    blanked = blank_out(text, known.hidden)
    starts = [function.start for function in functions(known, text) if function.name == name]
    first = re.search(rf"^(?:{known.opening})", blanked, re.MULTILINE)
    start = min([*starts, first.start()] if first else starts) if starts else 0
    end = blanked.rfind("}") + 1 or len(text)
    return text[start:end] + (";" if text.startswith(";", end) else "")


def foreign(code: str, row: JSONObject, *, language: str) -> Program:
    """One file whose exit code decides; only Python's tests can be kept apart from the program."""
    if language == "python":
        return Program(code=code, tests=row["test"], entry_points=(entry_point(row),))
    correct = row["task_id"] not in _WRONG_SOLUTIONS
    return Program(
        code=code,
        tests=_SETUP.get(language, "") + row["test"],
        language=LANGUAGES[language].recipe or language,
        reference=complete_file(language, row["canonical_solution"], row) if correct else "",
        limits=_HUMANEVAL_X_LIMITS,
    )
