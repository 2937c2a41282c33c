"""The published solution of every problem, as the replies of base models and chats write it, is read as that solution.

The sandbox runs them in `tests/e2e/test_code_references.py`; here their syntax trees are compared, in every spelling.
"""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator

import pytest
from tests import real_data

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.records import DataRow, Pipeline, Problem
from model_accuracy_eval.scoring.code.code_syntax import parse
from model_accuracy_eval.scoring.code.solutions import solution
from model_accuracy_eval.scoring.filters import filters

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda body: body,
    "without the first indentation": lambda body: body.lstrip(),
    "at the margin": textwrap.dedent,
    "in a fence": lambda body: f"```python\n{body.rstrip()}\n```",
    "at the margin, in a fence": lambda body: f"```python\n{textwrap.dedent(body).rstrip()}\n```",
    "with what a base model adds": lambda body: f"{body}\n\nif __name__ == '__main__':\n    print(input())\n",
}


def trees(name: str, spelling: Callable[[str], str], *, named: bool) -> Iterator[tuple[str, str | None, str]]:
    """Problem, the program that is read, and the program that is meant."""
    for row in real_data.rows(tasks.find(name)):
        head, body, entry_point = str(row["prompt"]), str(row["canonical_solution"]), str(row["entry_point"])
        if named:
            local = own_variable(head + body, entry_point)
            if not local:
                continue
            body = re.sub(rf"\b{local}\b", entry_point, body)
        yield str(row["task_id"]), solution(spelling(body), entry_point, head), head + body


def own_variable(source: str, entry_point: str) -> str:
    """A variable of the function that can bear the function's name; empty if there is none or the name is in use."""
    function = next(
        node for node in syntax_tree(source).body if isinstance(node, ast.FunctionDef) and node.name == entry_point
    )
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    targets = [node.targets[0] for node in function.body if isinstance(node, ast.Assign)]
    assigned = [target.id for target in targets if isinstance(target, ast.Name)]
    return assigned[0] if assigned and entry_point not in names else ""


def syntax_tree(source: str) -> ast.Module:
    """Without the warnings about escapes that some published solutions have."""
    tree = parse(source)
    assert tree
    return tree


def function_tree(source: str, entry_point: str) -> str:
    functions = [node for node in syntax_tree(source).body if isinstance(node, ast.FunctionDef)]
    return ast.dump(next(node for node in functions if node.name == entry_point))


@pytest.mark.parametrize(
    "name",
    ["humaneval_base", *(pytest.param(name, marks=pytest.mark.slow) for name in ("humaneval_plus", "bigcodebench"))],
)
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_every_published_body_is_read_as_it_is_meant(name: str, spelling: Callable[[str], str]) -> None:
    """Whatever the indentation, the fence, and the text behind it: the same syntax tree."""
    different = [
        problem
        for problem, read, meant in trees(name, spelling, named=False)
        if read is None or not same_function(read, meant)
    ]
    assert different == []


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_body_may_use_the_functions_own_name(spelling: Callable[[str], str]) -> None:
    """`common = set()` in the body of `common` assigns a variable and is no program of its own."""
    found = list(trees("humaneval_base", spelling, named=True))
    assert len(found) > 60
    assert [problem for problem, read, meant in found if read is None or not same_function(read, meant)] == []


def same_function(read: str, meant: str) -> bool:
    """Whether the last function of the meant program is the same in both."""
    name = [node for node in syntax_tree(meant).body if isinstance(node, ast.FunctionDef)][-1].name
    return function_tree(read, name) == function_tree(meant, name)


@pytest.mark.parametrize(
    "name", ["mbpp", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mbpp_sanitized", "mbpp_plus"))]
)
@pytest.mark.parametrize("form", ["{}", "```python\n{}\n```", "Here it is.\n\n{}\n", "{}\n\nHuman\nThank you."])
def test_every_published_program_is_read_as_it_is_meant(name: str, form: str) -> None:
    """Through the filters of its task, from a reply of code alone, in a fence, or with talk around."""
    task = tasks.find(name)
    wrong = []
    for row in real_data.rows(task):
        program = str(row.get("code") or row["canonical_solution"])
        read = read_answer(form.format(program.replace("\r\n", "\n").strip("\n")), task.pipelines[0], row)
        meant = program.replace("\r\n", "\n")
        if read is None or ast.dump(syntax_tree(read)) != ast.dump(syntax_tree(meant)):
            wrong.append(row["task_id"])
    assert wrong == []


def read_answer(reply: str, pipeline: Pipeline, row: DataRow) -> str | None:
    problem = Problem(id=0, messages=(), references=(), extras=dict(row))
    return filters.run(pipeline.filters, [reply], problem)[0]


DEFINITIONS = {
    "lambda": "twice = lambda x: 2 * x",
    "helper under another name": "def double(x):\n    return 2 * x\n\n\ntwice = double",
    "made by a call": "from functools import partial\nfrom operator import mul\n\ntwice = partial(mul, 2)",
    "assigned, then defined": "twice = None\n\n\ndef twice(x):\n    return 2 * x",
    "a lambda in a fence": "```python\ntwice = lambda x: 2 * x\n```",
    "a body with a function of the same name": "    def twice(y):\n        return y + y\n    return twice(x)\n",
    "a body, and a use of the name behind it": "    return 2 * x\n\n\ntwice = twice(1)\nprint(twice)\n",
}


@pytest.mark.parametrize("reply", DEFINITIONS.values(), ids=DEFINITIONS)
def test_what_is_assigned_may_be_the_function_and_what_returns_is_a_body(reply: str) -> None:
    """A program returns nothing at its top level; a body does, whatever names it uses."""
    code = solution(reply, "twice", 'def twice(x):\n    """Two times x."""\n')
    names: dict[str, object] = {}
    exec(str(code), names)
    function = names["twice"]
    assert callable(function)
    assert function(21) == 42
