"""Replies → programs: fences, talk, thoughts, bodies, lost indentation, runaway continuations."""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests import real_data

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.records import DataRow, Pipeline, Problem, Step
from model_accuracy_eval.scoring.code.code_syntax import parse
from model_accuracy_eval.scoring.code.solutions import solution
from model_accuracy_eval.scoring.filters import filters

PROMPT = 'import math\n\n\ndef helper(x):\n    return x + 1\n\n\ndef twice(x):\n    """Two times x."""\n'
WHOLE = "def twice(x):\n    return 2 * x"


def result(reply: str, prompt: str = PROMPT, name: str = "twice", argument: int = 21) -> object:
    """What the program in the reply gives."""
    code = solution(reply, name, prompt)
    assert code is not None
    names: dict[str, object] = {}
    exec(code, names)
    function = names[name]
    assert callable(function)
    return function(argument)


WRITTEN = {
    "bare": WHOLE,
    "fence": f"```python\n{WHOLE}\n```",
    "fence without a word": f"```\n{WHOLE}\n```",
    "fence with another word": f"```py title=answer.py\n{WHOLE}\n```",
    "tildes": f"~~~python\n{WHOLE}\n~~~",
    "fence in a list": "1. So:\n   ```python\n" + textwrap.indent(WHOLE, "   ") + "\n   ```\n2. Done.",
    "fence that is never closed": f"Sure.\n```python\n{WHOLE}\n",
    "fence that is never opened": f"{WHOLE}\n```\nThat is all.",
    "carriage returns": f"Sure.\r\n```python\r\n{WHOLE}\r\n```\r\n".replace("\n", "\r\n").replace("\r\r", "\r"),
    "talk around": f"Here is the code:\n\n{WHOLE}\n\nExplanation: it doubles.\nIt's simple.",
    "body": "    return 2 * x\n",
    "body that lost its first indentation": "y = x\n    return 2 * y\n",
    "body that lost all indentation": "y = x\nreturn 2 * y",
    "body in a fence": "```python\n    return 2 * x\n```",
    "body that begins with a block": "if x:\n        return 2 * x\n    return 0",
    "body that begins with a block, at the margin": "if x:\n    return 2 * x\nreturn 0",
    "base model that runs on": '    return 2 * x\n\n\nprint(twice(input()))\n\n\ndef next_task(y):\n    """Half',
    "base model with a helper behind": "    return double(x)\n\n\ndef double(y):\n    return 2 * y\n\n\nassert twice(1)",
    "future import": f"```python\nfrom __future__ import annotations\n\n{WHOLE}\n```",
    "prompt repeated": f"```python\n{PROMPT}    return 2 * x\n```",
    "bytes in a body": '    table = b"""\n"""\n    return 2 * x',
    "several blocks": f"```python\ndef twice(x):\n    return 0\n```\nNo, better:\n```python\n{WHOLE}\n```\n```python\nprint(1)\n```",
    "built up": "First\n```python\ndef two():\n    return 2\n```\nthen\n```python\ndef twice(x):\n    return two() * x\n```",
    "a declaration that shares its line": f"```python\nTWO = 2; raise SystemExit\n```\n```python\n{WHOLE}\n```",
    "the last of several heads": "@one way\n" * 4 + f"def twice(x:\n\ndef twice(x):\n    return 0\nNo:\n\n{WHOLE}",
    "other languages": f"```bash\npip install x\n```\n```python\n{WHOLE}\n```\n```json\n[]\n```",
    "uses the prompt's import and helper": "```python\ndef twice(x):\n    return math.floor(helper(2 * x - 1))\n```",
    "talk that uses the function": f"For example:\nresult = twice(2)\ncomes to 4.\n\n{WHOLE}\n",
    "a constant behind talk": "Here:\n\nTWO = 2\ndef twice(x):\n    return TWO * x\n",
    "lambda": "```python\ntwice = lambda x: 2 * x\n```",
    "lambda alone": "twice = lambda x: 2 * x",
    "helper under another name": "def double(x):\n    return 2 * x\n\n\ntwice = double",
    "made by a call": "from functools import partial\nfrom operator import mul\n\ntwice = partial(mul, 2)",
    "assigned, then defined": "twice = None\n\n\ndef twice(x):\n    return 2 * x",
    "a body with a function of the same name": "    def twice(y):\n        return y + y\n    return twice(x)\n",
    "a body, and a use of the name behind it": "    return 2 * x\n\n\ntwice = twice(1)\nprint(twice)\n",
}  # fmt: skip


@pytest.mark.parametrize("reply", WRITTEN.values(), ids=WRITTEN)
def test_a9_code_is_found_however_it_is_written(reply: str) -> None:
    """Every way of writing the same function gives a program in which it doubles."""
    assert result(reply) == 42


def test_a10_turns_of_a_conversation_end_the_code() -> None:
    """`Human` alone on a line is Python by chance, and what follows it is another conversation."""
    code = solution(f"{WHOLE}\nHuman\nhi", "twice")
    assert code is not None
    assert code.rstrip() == WHOLE
    code = solution(f"{WHOLE}\nUser\ndef twice(x):\n    return 0", "twice")
    assert code is not None
    assert code.rstrip() == WHOLE


@pytest.mark.parametrize(
    "talk", ["**Explanation**", "---\nfoo bar", "### Why it works\nIt's easy.", "Note: this", "- fast"]
)
def test_a10_markdown_behind_the_code_is_cut(talk: str) -> None:
    """Bold words, rules, headings and lists do not stand in the program, or stand there as comments."""
    assert result(f"{WHOLE}\n{talk}", prompt="") == 42


def test_a10_a_comment_of_three_hashes_cuts_nothing() -> None:
    """`### helper` is a comment, and the function behind it is needed."""
    code = "### helper\ndef two():\n    return 2\n\n### the function\ndef twice(x):\n    return two() * x\n"
    assert result(code, prompt="") == 42


def test_a11_thoughts_are_stripped_at_their_mark() -> None:
    """What stands on the line of </think> is kept, as a program that a thought only mentions is not."""
    steps = (Step(name="strip_thoughts"), Step(name="python_code", args={"entry_point": "entry_point"}))
    problem = Problem(id=0, messages=(), references=(), extras={"entry_point": "twice"})
    reply = f"<think>```python\ndef twice(x):\n    return 0\n```</think>{WHOLE}"
    assert filters.run(steps, [reply], problem) == [WHOLE]


@pytest.mark.parametrize("reply", ["I cannot help with that.", "", "```\n```", "    \n"])
def test_no_code_is_no_answer(reply: str) -> None:
    """Where there is no code, nothing is made up: neither the prompt alone nor talk is an answer."""
    assert solution(reply, "twice") is None
    assert solution(reply, "twice", PROMPT) is None


@given(st.text())
def test_whatever_is_said_the_answer_is_python_or_nothing(reply: str) -> None:
    """No reply raises, and what comes out is always a program that parses."""
    for prompt in ("", PROMPT):
        code = solution(reply, "twice", prompt)
        assert code is None or ast.parse(code)


@given(st.text(), st.text())
def test_talk_around_a_fence_changes_nothing(before: str, behind: str) -> None:
    """Whatever stands outside of the one block that defines the function, it is found."""
    assume(not any(mark in before + behind for mark in ("```", "~~~", "\r")))
    assert result(f"{before}\n```python\n{WHOLE}\n```\n{behind}") == 42


HOSTILE = {
    "parentheses": "(" * 100_000,
    "signs": "-" * 100_000 + "1",
    "attributes": "a" + ".b" * 50_000,
    "errors in every line": "x y\n" * 20_000,
    "fences": "```\n" * 20_000,
    "heads": "def twice(x):\n" * 10_000,
    "quotes": '"""\n' * 10_001,
    "blocks": "```python\nx y\n```\n" * 5_000,
    "null": "def twice(x):\n return '\0'\n",
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE)
def test_hostile_replies_end(reply: str) -> None:
    """Replies made to make reading slow or deep are read to their end, and give no false program."""
    code = solution(reply, "twice", PROMPT)
    assert code is None or ast.parse(code)


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
