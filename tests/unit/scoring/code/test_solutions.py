"""Replies → programs: fences, talk, thoughts, bodies, lost indentation, runaway continuations."""

import ast
import textwrap

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from model_accuracy_eval.records import Problem, Step
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
    "other languages": f"```bash\npip install x\n```\n```python\n{WHOLE}\n```\n```json\n[]\n```",
    "uses the prompt's import and helper": "```python\ndef twice(x):\n    return math.floor(helper(2 * x - 1))\n```",
    "talk that uses the function": f"For example:\nresult = twice(2)\ncomes to 4.\n\n{WHOLE}\n",
    "a constant behind talk": "Here:\n\nTWO = 2\ndef twice(x):\n    return TWO * x\n",
    "lambda": "```python\ntwice = lambda x: 2 * x\n```",
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
