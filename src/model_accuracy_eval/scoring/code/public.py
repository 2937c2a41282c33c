"""What a question itself shows of its tests: the examples in a docstring, as asserts.

They are for choosing among samples, as a user would who has nothing else to go by; the score stays with the tests.
"""

import ast
import doctest

from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.records.code import Program


def program(code: str, row: JSONObject) -> Program | None:
    """None where the prompt has no example whose result is written out as a value."""
    lines = [line for line in map(_assertion, _examples(str(row["prompt"]))) if line]
    if not lines:
        return None
    return Program(code=code, tests="\n".join(lines) + "\n", entry_points=(str(row["entry_point"]),))


def _examples(prompt: str) -> list[doctest.Example]:
    try:
        return doctest.DocTestParser().get_examples(prompt)
    except ValueError:  # an indentation that doctest does not take; the question stays as good as it is
        return []


def _assertion(example: doctest.Example) -> str:
    source, want = example.source.strip(), example.want.strip()
    try:
        ast.parse(source, mode="eval")
        ast.literal_eval(want)
    except (SyntaxError, ValueError):
        return ""
    return f"assert ({source}) == ({want})"
