"""Templates of code tasks: what is a column, what is code, and what was meant as a column and is none."""

import pytest

from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.scoring.code.code_task_trials import objections

PROBLEM = Problem(id=0, messages=(), references=("r",), extras={"checks": "assert f()", "solution": "def f(): ..."})


@pytest.mark.parametrize(
    "args",
    [
        {"tests": "{checks}", "solution": "{solution}", "entry_points": ["f"]},
        {"tests": "{reference}", "code": "import math\n{answer}"},
        {"code": "", "tests": "{answer}\n{checks}"},
        {"tests": "x = f()\nassert f'{x}' == '3'"},
        {"tests": "for key in f():\n    assert {key} <= {1, 2}"},
        {"tests": 'want=3; [ "$(f)" = "${want}" ] && [ -n "${HOME}" ]', "language": "bash"},
        {"tests": '"{0}".format(f())'},
        {"tests": "{checks}", "files": {"data.json": '{"a": {"b": 1}}', "one.txt": "{solution}"}},
        {"stdin": [{"input": "{a}[b]", "output": "{yes}"}]},
        {"stdin": "checks", "checker": "def check(given, expected, output):\n    return {given} == {expected}"},
    ],
)  # fmt: skip
def test_what_means_what_it_says(args: JSONObject) -> None:
    """Columns, code in braces, shell variables, and the data of cases."""
    assert objections(args, PROBLEM) == []


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"tests": "{chekcs}"}, "'tests' says {chekcs}, which is no column that scoring gets (`extras` names these); did you"),
        ({"tests": "{checks}", "solution": "{xyz}"}, "known are checks, reference, solution."),
        ({"tests": "{{ checks }}"}, "here a column is written {checks}"),
        ({"tests": "{{checks}}"}, "here a column is written {checks}"),
        ({"tests": "{checks}", "files": {"main.py": "{answer}"}}, "'files, main.py' says {answer}, which would stay"),
        ({"tests": "{checks}", "files": {"{checks}.py": "x"}}, "the name of the file '{checks}.py' is no template"),
        ({"tests": "{checks}", "solution": "{answer}"}, "'solution' says {answer}"),
        ({"tests": "{checks}", "code": "def f(): return 1"}, "'code' has no {answer}"),
        ({"tests": "{checks}", "entry_points": ["{nmae}"]}, "'entry_points' says {nmae}"),
    ],
)  # fmt: skip
def test_what_was_meant_otherwise(args: JSONObject, told: str) -> None:
    """With the nearest column, or all of them."""
    assert told in "; ".join(objections(args, PROBLEM))
