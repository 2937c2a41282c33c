"""An answer and its row → the program that shows whether the answer is right: one function for each way of testing.

`row` has the columns of the task's `extras`, under the names of the published data.
"""

import ast
import doctest
import re
from collections.abc import Callable

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.scoring.code.case_programs import apps, codecontests, livecodebench
from model_accuracy_eval.scoring.code.code_syntax import (
    called_function,
    is_declaration,
    is_talk,
    names_of,
    parse,
    parse_expression,
)
from model_accuracy_eval.scoring.code.evalplus import agreement
from model_accuracy_eval.scoring.code.foreign_programs import foreign, foreign_code, multipl_e, multipl_e_code
from model_accuracy_eval.scoring.code.solutions import FENCES, fenced_blocks, solution

Suite = Callable[..., Program]

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


_SUITES: tuple[Suite, ...] = (
    humaneval, asserts, agreement, unit_tests, predicted_output, predicted_input, foreign, multipl_e, livecodebench,
    apps, codecontests,
)  # fmt: skip
SUITES = {suite.__name__: suite for suite in _SUITES}


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


# Filters that read code from replies; `extract` has them in its table.


_TAGGED = re.compile(r"\[ANSWER\]([^\[]*(?:\[(?!/ANSWER\])[^\[]*)*)(?:\[/ANSWER\]|\Z)")


def python_code(
    text: str, problem: Problem, *, prompt: str = "", entry_point: str = "", asserts: str = ""
) -> str | None:
    """The program in the reply. The arguments name columns: the head that the reply may continue, the name that the
    tests call, or the asserts that show this name."""
    row = problem.extras
    name = called_function(row[asserts]) if asserts else str(row[entry_point]) if entry_point else ""
    return solution(text, name, str(row[prompt]) if prompt else "")


def expression(text: str, problem: Problem, *, calls: str = "", compared: bool = False) -> str | None:
    """CRUXEval's answers: the text between [ANSWER] and [/ANSWER], else in the last block, else all of the reply, else
    its last line.

    `compared` takes the right side of `assert f(…) == …`, `calls` the arguments of the call of that function.
    """
    parts = _TAGGED.findall(text) or [block.text for block in fenced_blocks(text)]
    if not parts:
        reply = text.strip()
        parts = [reply if _single_expression(reply) else reply.rpartition("\n")[2]]
    return _answer(parts[-1].strip().strip("`").strip(), calls, compared=compared)


def _answer(source: str, function: str, *, compared: bool) -> str | None:
    """The arguments or the value in an assert, in a comparison, or alone; None if the source is nothing of the kind."""
    node = _single_expression(source)
    if isinstance(node, ast.Compare):
        node = node.comparators[-1] if compared else node.left
    segment = (ast.get_source_segment(source, node) if node else None) or source.removeprefix("assert ")
    if not compared and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
        segment = segment.partition("(")[2].removesuffix(")")
    return segment if _is_argument_list(segment) else None


def _single_expression(source: str) -> ast.expr | None:
    """The expression that is all of the source, or what its only assert tests."""
    tree = parse(source)
    statement = tree.body[0] if tree and len(tree.body) == 1 else None
    if isinstance(statement, ast.Assert):
        return statement.test
    return statement.value if isinstance(statement, ast.Expr) else None


def _is_argument_list(source: str) -> bool:
    """`1) + (2` is none, although it may stand between parentheses."""
    wrapped = f"_(\n{source}\n)"
    call = _single_expression(wrapped)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "_"


def script(text: str, _problem: Problem, *, language: str = "python") -> str | None:
    """The program in the last block of the language, else in the last one that names no other; without a block, the
    whole reply, which must be Python if that is the language."""
    names = FENCES.get(language, (language,))
    blocks = fenced_blocks(text.replace("\r\n", "\n"))
    named = [block.text for block in blocks if block.language in names]
    unnamed = [block.text for block in blocks if not block.language]
    if blocks:
        return next((code for code in reversed(named or unnamed) if code.strip()), None)
    if language == "python":
        return text if (tree := parse(text)) and tree.body and not all(map(is_talk, tree.body)) else None
    return text if text.strip() else None


def last_fence(text: str, _problem: Problem) -> str | None:
    """LiveCodeBench's rule: what is between the last two lines with a fence."""
    lines = text.split("\n")
    fences = [place for place, line in enumerate(lines) if "```" in line]
    code = "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else ""
    return code if code.strip() else None


_EXTRACTORS: tuple[Callable[..., str | None], ...] = (
    python_code, foreign_code, multipl_e_code, expression, script, last_fence,
)  # fmt: skip
CODE_EXTRACTORS = {extractor.__name__: extractor for extractor in _EXTRACTORS}
