"""The tools that a task may offer."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Counts, TaskSpec, ToolCall
from model_accuracy_eval.scoring.answers import tools

TASK = find("gsm8k_tools")


def said(arguments: str, name: str = "calculator") -> str:
    return tools.use(ToolCall(id="a", name=name, arguments=arguments), TASK.tools)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("12/60", "0.2"), ("1,000*2", "2000"), ("12/4", "3"), ("0.1+0.2", "0.3"), ("9" * 400 + "+0", "9" * 400),
        ("'strawberry'.count('r')", "3"), ("(3+4)*-2", "-14"), ("7//2", "3"), (".5+.25", "0.75"),
    ],
)  # fmt: skip
def test_n11_the_calculator_tells_what_an_expression_comes_to(expression: str, result: str) -> None:
    """As people write numbers: without what binary fractions add, and whole ones without a point."""
    assert said(json.dumps({"expression": expression})) == result


@pytest.mark.parametrize(
    "expression",
    [
        "1/0", "2**3", "", "__import__('os')", "1e308*10", "1e308*10-1e308*10", "'a'.upper()", "'a'.count('a', 1)", "'a'*9",
        "1+", "abc", "True+1", "(1).real", "[1]", "1 if 1 else 2", "1<2", "7%2", "1e400-1e400j", "(" * 300 + ")" * 300,
        "1+" * 600 + "1",
    ],
)  # fmt: skip
def test_n11_what_cannot_be_worked_out_is_said(expression: str) -> None:
    """The model hears what a calculator takes, and may try again; nothing is run."""
    answer = said(json.dumps({"expression": expression}))
    assert answer.startswith(f"'{expression[:100]}' cannot be worked out: write numbers")


@pytest.mark.parametrize(
    "arguments", ["", "12/60", '{"expression": "1+', "[]", "null", '{"expr": "1"}', '{"expression": 1}']
)
def test_malformed_arguments_are_said_back(arguments: str) -> None:
    """What came and what is wanted stand in the tool's message."""
    assert said(arguments) == (
        f"The arguments of calculator are a JSON object with texts for expression, but these came: {arguments}"
    )


def test_a_tool_that_is_not_offered_is_no_tool() -> None:
    """Its name is said back with those that there are."""
    assert said("{}", name="python") == "There is no tool 'python'; there is calculator."


@given(st.text(max_size=80), st.sampled_from(["calculator", "other"]))
def test_any_call_is_answered(arguments: str, name: str) -> None:
    """A tool never fails, whatever the model writes."""
    assert said(arguments, name)
    assert said(json.dumps({"expression": arguments}), name)


def test_what_is_offered_is_what_is_worked() -> None:
    """Every definition names the arguments that the tool takes, all required."""
    for definition in tools.offered([*tools.TOOLS]):
        function = definition["function"]
        tool = tools.TOOLS[function["name"]]
        assert function["parameters"]["required"] == [*tool.arguments]
        assert tool.work(*("1" for _ in tool.arguments)) == "1"


@pytest.mark.parametrize("change", [{"kind": "choice"}, {"mode": "text"}, {"tool_rounds": 0}])
def test_tools_that_cannot_be_offered_are_refused(change: dict[str, Any]) -> None:
    """Options are weighed and texts continued without tools, and no round is no tool."""
    with pytest.raises(BadValue, match="gsm8k_tools: tool"):
        tools.check(msgspec.structs.replace(TASK, **change))


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (Counts(answered=8, used_tools=6), ["6 of 8 answers used the tools on offer (calculator)."]),
        (Counts(answered=8), ["None of the 8 answers used the tools on offer"]),
        (
            Counts(answered=8, used_tools=8, unfinished=2),
            ["8 of 8 answers", "2 of 8 samples still called tools after 8"],
        ),
        (Counts(), []),
    ],
)
def test_the_report_tells_how_much_tools_were_used(counts: Counts, told: list[str]) -> None:
    """A service that keeps tools from its model, and a model that never comes to an end, are told."""
    notes = [*tools.notes([TASK], counts)]
    assert len(notes) == len(told)
    assert all(note.startswith(begin) for note, begin in zip(notes, told, strict=True))


def test_a_task_without_tools_says_nothing_of_them() -> None:
    """Nor does a mixture in which no part offers any."""
    plain: TaskSpec = find("gsm8k")
    assert [*tools.notes([plain], Counts(answered=8))] == []
