"""An answer and its row → the program that shows whether the answer is right: one function for each way of testing.

`row` has the columns of the task's `extras`, under the names of the published data.
"""

import ast
import doctest
from collections.abc import Callable, Sequence
from typing import Any

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.records.code import Limits, Mode, Program
from model_accuracy_eval.scoring.code.code_syntax import (
    call_arguments,
    called_function,
    is_declaration,
    names_of,
    parse,
    parse_expression,
    restore_types,
)
from model_accuracy_eval.scoring.code.contest_programs import apps, codecontests, livecodebench
from model_accuracy_eval.scoring.code.multipl_e_programs import foreign, multipl_e

# Tests that compare a program with the reference solution, input by input, as source for the sandbox.
#
# The rules are those of EvalPlus: equality, with a tolerance where floats are expected, and exceptions for a few
# functions with several right answers. The reference runs with the tests, out of the program's reach.


_UNORDERED = {
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
    "find_dissimilar", "Diff",
}  # fmt: skip
_MATCH_OR_NONE = {"check_str", "text_match_three", "text_starta_endb"}
"""Functions that may return any object for yes, and None for no."""
_RULES = {
    "are_equivalent": "True",
    "sum_div": "_got == _expected or _got == 0",
    "find_zero": "abs(_reference['poly'](*_arguments, _got)) <= _TOLERANCE",
    **dict.fromkeys(_UNORDERED, "set(_got) == set(_expected)"),
    **dict.fromkeys(
        _MATCH_OR_NONE, "(_got if isinstance(_got, bool) else _got is not None) == (_expected not in (None, False))"
    ),
}

_TESTS = """
from copy import deepcopy as _copy
from math import inf, nan

_TOLERANCE = {tolerance!r}
_reference = {{"__name__": "reference"}}
exec(compile({reference!r}, "<reference>", "exec"), _reference)

def _floats(value):
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(one, float) for one in value)
    return isinstance(value, float)

def _close(got, expected, tolerance):
    if isinstance(expected, (list, tuple)):
        return type(got) == type(expected) and len(got) == len(expected) and all(
            _close(*pair, tolerance) for pair in zip(got, expected))
    if isinstance(expected, (bool, int, float, complex)) and isinstance(got, (bool, int, float, complex)):
        return got == expected or abs(got - expected) <= tolerance + 1e-7 * abs(expected)
    return got == expected

def _agrees(_got, _expected, _arguments):
    if {agree}:
        return True
    tolerance = _TOLERANCE or (1e-6 if _floats(_expected) else 0)
    return bool(tolerance) and type(_got) == type(_expected) and _close(_got, _expected, tolerance)

for _number, _arguments in enumerate({inputs!r}):
    _expected = _reference[{name!r}](*_copy(_arguments))
    _got = {name}(*_copy(_arguments))
    assert _agrees(_got, _expected, _arguments), (
        f"input {{_number}}: {{repr(_got)[:200]}} is not {{repr(_expected)[:200]}}")
"""


def comparison_tests(*, entry_point: str, reference: str, inputs: Sequence[list[Any]], tolerance: float) -> str:
    """Source that raises unless the program agrees with the reference on all inputs."""
    return _TESTS.format(
        tolerance=tolerance,
        reference=reference,
        agree=_RULES.get(entry_point, "_got == _expected"),
        inputs=list(inputs),
        name=entry_point,
    )


Suite = Callable[..., Program]

_EVALPLUS_LIMITS = Limits(wall_seconds=30.0, memory_mb=4096)
_LARGE_RESULTS = {"combinations_colors"}
"""Functions whose result (128 million texts) fits into one process, but not a second time into another one."""
_LIBRARY_LIMITS = Limits(wall_seconds=240.0, memory_mb=4096, processes=64)
"""Plotting and data libraries take long to load, and start threads."""


def humaneval(code: str, row: JSONObject) -> Program:
    """HumanEval: `test` defines check(candidate)."""
    name = row["entry_point"]
    helpers = prompt_helpers(row["prompt"], name)
    return Program(code=code, tests=f"{helpers}{row['test']}\n\ncheck({name})\n", entry_points=(name,))


def prompt_helpers(prompt: str, entry_point: str) -> str:
    """What the prompt defines beside the function that it asks for, with its imports: tests call some of it, and a
    program is not to supply what it is judged by."""
    given = _given(prompt, entry_point)
    if all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in given):
        return ""
    return "".join(f"{ast.unparse(node)}\n" for node in given) + "\n"


def _given(prompt: str, entry_point: str) -> list[ast.stmt]:
    tree = parse(prompt)
    return [node for node in tree.body if is_declaration(node) and entry_point not in names_of(node)] if tree else []


def asserts(code: str, row: JSONObject) -> Program:
    """MBPP: a list of asserts. Their set-up may use the program's classes, so it follows the code."""
    lines = [*row.get("test_imports", ()), row.get("test_setup_code", ""), *row["test_list"]]
    name = called_function(row["test_list"])
    return Program(code=code, tests="\n".join(lines) + "\n", entry_points=(name,), reference=row.get("code", ""))


def agreement(code: str, row: JSONObject, *, inputs: Sequence[str] = ("base_input", "plus_input")) -> Program:
    """HumanEval+ and MBPP+: the reference solution says what is right for every input."""
    name = row["entry_point"]
    arguments = [values for column in inputs for values in row[column]]
    if "assertion" in row:
        arguments = restore_types(arguments, call_arguments(row["assertion"], name))
        reference = row["canonical_solution"]
    else:
        reference = row["prompt"] + row["canonical_solution"]
    tests = comparison_tests(entry_point=name, reference=reference, inputs=arguments, tolerance=row["atol"])
    mode: Mode = "shared" if name in _LARGE_RESULTS else "split"
    return Program(code=code, tests=tests, entry_points=(name,), mode=mode, limits=_EVALPLUS_LIMITS)


def unit_tests(code: str, row: JSONObject) -> Program:
    """BigCodeBench: a unittest class that inspects the program's objects and replaces some of them."""
    given = _given(row["prompt"], row["entry_point"])
    return Program(
        code=code,
        tests=row["test"],
        helpers="\n".join(map(ast.unparse, given)),
        entry_points=(row["entry_point"],),
        mode="shared",
        reference=row["prompt"] + row["canonical_solution"],
        limits=_LIBRARY_LIMITS,
    )


def predicted_output(code: str, row: JSONObject) -> Program:
    """CRUXEval: the answer is an expression, compared with what the task's function returns."""
    program = f"def predicted():\n    return (\n{code}\n    )\n"
    return Program(
        code=program, tests=f"{row['code']}\n\nassert predicted() == f({row['input']})\n", entry_points=("predicted",)
    )


def predicted_input(code: str, row: JSONObject) -> Program:
    """CRUXEval: the answer is a list of arguments; any that give the output are right.

    They are read among the names of the task's own source, because that is where the published tests call it.
    """
    arguments = f"(lambda *args, **kwargs: (args, kwargs))(\n{code}\n    )"
    program = f"{row['code']}\n\ndef predicted():\n    return {arguments}\n"
    tests = f"{row['code']}\n\n_args, _kwargs = predicted()\nassert f(*_args, **_kwargs) == {row['output']}\n"
    return Program(code=program, tests=tests, entry_points=("predicted",))


SUITES: dict[str, Suite] = {
    "humaneval": humaneval,
    "asserts": asserts,
    "agreement": agreement,
    "unit_tests": unit_tests,
    "predicted_output": predicted_output,
    "predicted_input": predicted_input,
    "foreign": foreign,
    "multipl_e": multipl_e,
    "livecodebench": livecodebench,
    "apps": apps,
    "codecontests": codecontests,
}


def find_suite(name: str) -> Suite:
    """The suite with this name; an unknown name is refused with the nearest."""
    if name not in SUITES:
        raise UnknownName("way of testing code", name, SUITES)
    return SUITES[name]


def shown_tests(code: str, row: JSONObject) -> Program | None:
    """The examples in the question's docstring as asserts, or its public cases; None if no example has its result
    written out as a value.

    They serve to choose among samples, as a user without the tests would; the score stays with the tests.
    """
    if "public_test_cases" in row:
        return livecodebench(code, {**row, "private_test_cases": "[]"})
    prompt, name = str(row["prompt"]), str(row["entry_point"])
    lines = [line for line in map(_assertion, _examples(prompt)) if line]
    if not lines:
        return None
    return Program(code=code, tests=prompt_helpers(prompt, name) + "\n".join(lines) + "\n", entry_points=(name,))


def _examples(prompt: str) -> list[doctest.Example]:
    try:
        return doctest.DocTestParser().get_examples(prompt)
    except ValueError:  # an indentation that doctest refuses; the question itself is still good
        return []


def _assertion(example: doctest.Example) -> str:
    source, result = example.source.strip(), example.want.strip()
    try:
        parse_expression(source)
        ast.literal_eval(parse_expression(result))
    except (SyntaxError, ValueError):
        return ""
    return f"assert ({source}) == ({result})"
