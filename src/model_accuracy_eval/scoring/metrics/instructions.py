"""(answer, problem) → which of its problem's instructions an answer follows, as IFEval counts them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.scoring.answers.tools import FunctionCall, NoCalls, function_calls, native_name
from model_accuracy_eval.scoring.ifeval.ifeval_instructions import followed
from model_accuracy_eval.scoring.metrics.metric_type import Metric, none_to_all

Edition = Literal["ifeval", "multi_if"]
"""Multi-IF counts words and sentences as the reply's language does."""


def every(answer: str, problem: Problem, *, loose: bool = False, edition: Edition = "ifeval") -> float:
    """1 if the answer follows all instructions."""
    return float(all(followed(answer, _instructions(problem), loose=loose, edition=edition)))


def each(answer: str, problem: Problem, *, loose: bool = False, edition: Edition = "ifeval") -> tuple[int, int]:
    """How many instructions the answer follows, and of how many: the figure is of all instructions together."""
    verdicts = followed(answer, _instructions(problem), loose=loose, edition=edition)
    return sum(verdicts), len(verdicts)


def _instructions(problem: Problem) -> Sequence[JSONObject]:
    instructions: Sequence[JSONObject] = problem.extras.get("instructions", ())
    if not instructions:
        raise BadData(
            f"Problem {problem.id} has no instructions: the task needs the view 'instructions' "
            "and the extra column of that name."
        )
    return instructions


_NEEDS = ("emoji", "langdetect", "nltk", "punkt")

INSTRUCTION_METRICS = {
    "every_instruction": Metric(score=every, reads="answers in their problem", yes_or_no=True, needs=_NEEDS),
    "each_instruction": Metric(
        score=each,
        reads="answers in their problem",
        aggregation="pooled",
        needs=_NEEDS,
        limits=lambda problem: none_to_all(len(_instructions(problem))),
    ),
}


# (answer, problem) → whether the answer calls the functions that the row expects, as BFCL's checker says.
#
# A row has `function` (definitions) and `ground_truth`: for every expected call {name: {parameter: [allowed values]}},
# where "" among the values means that the parameter may be left out. Several calls may come in any order. Native calls
# have names without dots, because services refuse those, so a name counts in both forms.


_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_LEFT_OUT = ""
"""Among the allowed values."""
_IGNORED = re.compile(r"[ ,./\-_*^]")


def expected_calls(answer: str, problem: Problem) -> float:
    """1 if the answer makes the expected calls and no other."""
    definitions = {definition["name"]: definition for definition in _list(problem, "function")}
    expected = _list(problem, "ground_truth")
    try:
        calls = function_calls(answer)
    except NoCalls:
        return 0.0
    if len(calls) != len(expected):
        return 0.0
    for ((name, allowed),) in (one.items() for one in expected):
        if name not in definitions:
            raise BadData(f"Problem {problem.id} expects a call of '{name}', which its row does not define.")
        found = next((call for call in calls if _is_expected(call, definitions[name], allowed)), None)
        if found is None:
            return 0.0
        calls.remove(found)
    return 1.0


def no_call(answer: str, problem: Problem) -> float:
    """1 if the answer calls nothing."""
    try:
        function_calls(answer)
    except NoCalls:
        return 1.0
    return 0.0


def _list(problem: Problem, column: str) -> Sequence[JSONObject]:
    value = problem.extras.get(column)
    if not isinstance(value, list):
        raise BadData(f"expected_calls needs a list in '{column}', but problem {problem.id} has none.")
    return value


def _is_expected(call: FunctionCall, definition: JSONObject, allowed: Mapping[str, list[Any]]) -> bool:
    name, parameters = definition["name"], definition["parameters"]
    if call.name not in {name, native_name(name)}:
        return False
    if any(required not in call.arguments for required in parameters["required"]):
        return False
    known = parameters["properties"].keys() & allowed.keys()
    return all(
        parameter in known and _is_allowed(value, parameters["properties"][parameter], allowed[parameter])
        for parameter, value in call.arguments.items()
    ) and all(parameter in call.arguments or _LEFT_OUT in values for parameter, values in allowed.items())


def _is_allowed(value: Any, details: JSONObject, allowed: list[Any]) -> bool:
    kind: Any = _TYPES[details["type"]]
    inner = _TYPES[details["items"]["type"]] if details["type"] in {"array", "tuple"} else None
    if details["type"] == "tuple" and isinstance(value, tuple):
        value = list(value)
    if details["type"] == "float" and type(value) is int:
        value = float(value)
    if not _has_type(value, kind, inner, allowed):
        return False
    # Where other values than those of the type are allowed, they are names of variables.
    if type(value) is not kind or _type_of(allowed) not in {kind, None}:
        return value in allowed
    if kind is list:
        if inner is dict:
            return any(len(value) == len(one) and all(map(_equal_dicts, value, one)) for one in allowed)
        # A list may be empty where it may be left out.
        return any([_plain(item) for item in value] == [_plain(item) for item in one] for one in allowed)
    if kind is dict:
        return any(_equal_dicts(value, one) for one in allowed if one != _LEFT_OUT)
    return _plain(value) in [_plain(one) for one in allowed]


def _has_type(value: Any, kind: Any, inner: type | None, allowed: Any) -> bool:
    if type(value) is not kind:
        return type(value) is _type_of(allowed)
    return inner is None or any(
        not isinstance(one, list) or all(_has_type(item, inner, None, one) for item in value) for one in allowed
    )


def _type_of(allowed: Any) -> type | None:
    """That of the first allowed value."""
    return next((type(value) for value in allowed if value != _LEFT_OUT), None)


def _plain(value: Any) -> Any:
    """Texts without case, blanks and some marks, so that "April 1, 2024" is "april 1 2024"."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value


def _equal_dicts(value: Any, allowed: Any) -> bool:
    """Every key has one of its allowed values, and none is missing that may not be."""
    return (
        isinstance(value, dict)
        and all(key in allowed and _plain(one) in [_plain(item) for item in allowed[key]] for key, one in value.items())
        and all(key in value or _LEFT_OUT in values for key, values in allowed.items())
    )


FUNCTION_CALL_METRICS = {
    "expected_calls": Metric(score=expected_calls, reads="answers in their problem", yes_or_no=True),
    "no_call": Metric(score=no_call, reads="answers in their problem", yes_or_no=True),
}
