"""BFCL's rules for function calls: one by one on made-up rows, and on all of the real ones."""

import json
from typing import Any

import pytest
from tests.real_data import built

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Problem, ToolCall
from model_accuracy_eval.scoring.answers.tools import NoCalls, function_calls, written
from model_accuracy_eval.scoring.metrics.exact import expected_calls, no_call
from model_accuracy_eval.scoring.metrics.metric_table import METRICS

TYPES: dict[str, Any] = {
    "n": {"type": "integer"},
    "x": {"type": "float"},
    "s": {"type": "string"},
    "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "string"}},
    "f": {"type": "array", "items": {"type": "float"}},
    "t": {"type": "tuple", "items": {"type": "integer"}},
    "d": {"type": "dict", "properties": {}},
    "ds": {"type": "array", "items": {"type": "dict"}},
}


def right(reply: str, *expected: dict[str, dict[str, list[Any]]], required: tuple[str, ...] = ()) -> bool:
    functions = [
        {"name": name, "parameters": {"properties": TYPES, "required": list(required)}} for name in ("f", "a.g")
    ]
    row = {"function": functions, "ground_truth": list(expected)}
    value = expected_calls(reply, Problem(id=0, messages=(), references=("",), extras=row))
    assert value in {0.0, 1.0}
    return value == 1.0


@pytest.mark.parametrize(
    ("value", "name", "allowed", "verdict"),
    [
        ("3", "n", [3], True), ("3.0", "n", [3], False), ("True", "n", [1], False), ("'3'", "n", [3], False),
        ("3", "x", [3.0], True), ("3.5", "x", [3.0, 3.5], True), ("1/2", "x", [0.5], True), ("-2**2", "n", [-4], True),
        ("'May 1, 2024'", "s", ["may 1 2024"], True), ("\"it's\"", "s", ['it"s'], True), ("'June'", "s", ["May"], False),
        ("ABC", "s", ["abc"], True), ("true", "b", [True], False), ("True", "b", [True], True),
        ("['A b', 'c']", "l", [["ab", "C"]], True), ("['c', 'ab']", "l", [["ab", "c"]], False), ("[]", "l", [""], True),
        ("['a', 1]", "l", [["a", "b"]], False), ("[1, 2]", "f", [[1.0, 2.0]], False), ("[1.0, 2.0]", "f", [[1, 2]], True),
        ("(1, 2)", "t", [[1, 2]], True), ("[1, 2]", "t", [[1, 2]], True), ("size", "n", ["size"], True),
        ("'size'", "n", ["size"], True), ("5", "n", ["size"], False),
        ("{'k': 'One'}", "d", [{"k": ["one"], "j": ["", 2]}], True), ("{'k': 1}", "d", [{"k": ["one"]}], False),
        ("{}", "d", [{"k": ["one"]}], False), ("{'z': 1}", "d", [{"k": ["", 1]}], False),
        ("[{'k': 1}, {'k': 2}]", "ds", [[{"k": [1]}, {"k": [2]}]], True), ("[{'k': 1}]", "ds", [[{"k": [2]}]], False),
        ("[3]", "ds", [[{"k": [1]}]], False),
    ],
)  # fmt: skip
def test_a_value_has_its_type_and_is_allowed(value: str, name: str, allowed: list[Any], verdict: bool) -> None:
    """Whole numbers stand for decimals but not in lists; of texts, case and some marks do not count."""
    assert right(f"[f({name}={value})]", {"f": {name: allowed}}) is verdict


def test_parameters_are_those_that_are_expected() -> None:
    """Required ones are there, whatever may be left out; unknown ones are not."""
    expected: dict[str, dict[str, list[Any]]] = {"f": {"n": [1], "s": ["", "x"]}}
    least, most = METRICS["expected_calls"].right(
        Problem(id=0, messages=(), references=(), extras={"ground_truth": [expected]})
    )
    assert [[*map(tuple, function_calls(each))] for each in (least, most)] == [
        [("f", {"n": 1})],
        [("f", {"n": 1, "s": "x"})],
    ]
    assert right(least, expected)
    assert right(most, expected)
    assert right("f(n=1, s='X')", expected)
    assert not right("f(n=1)", expected, required=("s",))
    assert not right("f(s='x')", expected)
    assert not right("f(n=1, b=True)", expected)
    assert not right("f(1)", expected)


def test_several_calls_may_come_in_any_order() -> None:
    """Each serves once, and none is left over. A name may be the dotted or the native one."""
    two = ({"a.g": {"n": [1]}}, {"a.g": {"n": [2]}})
    assert right("[a.g(n=2), a_g(n=1)]", *two)
    assert not right("[a.g(n=1), a.g(n=1)]", *two)
    assert not right("[a.g(n=2), a.g(n=1), f()]", *two)
    assert not right("[a.h(n=2), a.g(n=1)]", *two)


@pytest.mark.parametrize(
    "text",
    ["None fits.", "", "17", "[f, g]", "f(x=)", "[f(x=lambda: 1)]", "f(x=9**9**9)", "f(x=1/0)", "f(**{'x': [1])", "(" * 5000,
     "<tool_call>{}</tool_call>", '<tool_call>{"name": "f", "arguments": "x"}</tool_call>', "f(x=-'a')"],
)  # fmt: skip
def test_what_is_no_list_of_calls(text: str) -> None:
    """Words, other Python, computations without end, and calls whose arguments nobody can read."""
    with pytest.raises(NoCalls):
        function_calls(text)
    assert no_call(text, Problem(id=0, messages=(), references=("",))) == 1.0


def test_native_calls_are_written_into_the_text() -> None:
    """And read out of it, also after words; arguments that are no JSON object stay what they were."""
    calls = (ToolCall(id="1", name="f", arguments='{"s": "é", "n": 1}'), ToolCall(id="2", name="f", arguments=""))
    text = written("Sure.", calls)
    assert [tuple(call) for call in function_calls(text)] == [("f", {"s": "é", "n": 1}), ("f", {})]
    assert written("Sure.", ()) == "Sure."
    broken = written("", (ToolCall(id="1", name="f", arguments='{"n": '),))
    assert '"{\\"n\\": "' in broken
    assert no_call(broken, Problem(id=0, messages=(), references=("",))) == 1.0


def gold(problem: Problem) -> list[tuple[str, dict[str, Any]]]:
    """The expected calls with the first allowed values; what may be left out is, unless it is required."""
    required = {one["name"]: one["parameters"]["required"] for one in problem.extras["function"]}
    return [
        (name, {key: _given(values) for key, values in allowed.items() if "" not in values or key in required[name]})
        for one in problem.extras["ground_truth"]
        for name, allowed in one.items()
    ]


def _given(values: list[Any]) -> Any:
    value = next(value for value in values if value != "")
    if isinstance(value, dict):
        return {key: _given(inner) for key, inner in value.items() if "" not in inner}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_given([item]) for item in value]
    return value


@pytest.mark.parametrize("category", ["simple", "multiple", "parallel", "parallel_multiple"])
def test_the_expected_calls_of_every_real_row_are_right(category: str) -> None:
    """In Python and as native calls; without the first of them, and as the next row's, they are wrong."""
    problems = built(find(f"bfcl_{category}")).problems
    assert len(problems) == {"simple": 400}.get(category, 200)
    for problem, other in zip(problems, [*problems[1:], problems[0]], strict=True):
        calls = gold(problem)
        python = ", ".join(
            f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})" for name, args in calls
        )
        native = [ToolCall(id="", name=name.replace(".", "_"), arguments=json.dumps(args)) for name, args in calls]
        assert expected_calls(f"[{python}]", problem) == 1.0, (python, problem.extras["ground_truth"])
        assert expected_calls(written("", native), problem) == 1.0
        assert expected_calls(written("", native[1:]), problem) == 0.0
        if problem.extras["ground_truth"] != other.extras["ground_truth"]:
            assert expected_calls(f"[{python}]", other) == 0.0 or gold(other) == calls


def test_functions_are_offered_in_the_form_that_services_take() -> None:
    """Every one of 1,240 rows: names without dots, JSON Schema's types at any depth."""
    known = {"string", "integer", "number", "boolean", "array", "object"}

    def types(schema: Any) -> set[str]:
        inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
        return {schema["type"]}.union(*map(types, inner))

    for category in ("simple", "multiple", "parallel", "parallel_multiple", "irrelevance"):
        for problem in built(find(f"bfcl_{category}")).problems:
            for one in problem.functions:
                assert one["type"] == "function"
                assert "." not in one["function"]["name"]
                assert types(one["function"]["parameters"]) <= known
