"""Metrics that say whether an answer is right: letter by letter, as a number or a formula, or as calls of functions."""

import json
import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, MetricUse, Problem, ToolCall
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers import own_answers
from model_accuracy_eval.scoring.answers.stated_numbers import as_number
from model_accuracy_eval.scoring.answers.tools import FunctionCall, NoCalls, function_calls, native_name, written
from model_accuracy_eval.scoring.figures.groups import GroupedValue
from model_accuracy_eval.scoring.metrics.metric_type import Metric, in_problem, of_best


def same_text(answer: str, right: str, *, ignore_case: bool = False, ignore_blanks: bool = False) -> bool:
    """1 if the answer is one of the references, letter by letter: é is one letter, whether it is written as one sign or
    as two. Signs that nobody sees are blanks."""

    def plain(text: str) -> str:
        text = text if text.isascii() else unicodedata.normalize("NFC", text)
        text = text.casefold() if ignore_case else text
        return _without_blanks(text) if ignore_blanks else text

    return plain(answer) == plain(right)


def _without_blanks(text: str) -> str:
    """With one blank where there are several, and none around it."""
    return re.sub(r"\s+", " ", text if text.isascii() else own_answers.UNSEEN.sub("", text)).strip()


def exact_match(
    answer: str,
    right: str,
    *,
    regexes_to_ignore: Sequence[str] | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
    ignore_spaces: bool = False,
) -> bool:
    """1 if the answer equals a reference after everything to be ignored is removed from both, in lm-eval's order."""
    unwanted = string.punctuation * ignore_punctuation + string.digits * ignore_numbers + " " * ignore_spaces
    table = str.maketrans("", "", unwanted)

    def plain(text: str) -> str:
        for pattern in regexes_to_ignore or ():
            text = re.sub(pattern, "", text)
        return (text.lower() if ignore_case else text).translate(table)

    return plain(answer) == plain(right)


def same_number(answer: str, right: str) -> bool:
    """1 if the answer is the same number as a reference: 1,234 = 1234.0 = $1234."""
    value = as_number(answer)
    return value is not None and value == as_number(right)


def same_formula(answer: str, right: str) -> bool:
    r"""1 if the answer is the same mathematics as a reference: \frac{1}{2} = 0.5, {1, 2} = {2, 1}, x = 5 is 5.

    Of an answer and of a reference with a \boxed{…}, what the last box holds counts.
    """
    return maths.equal(answer, right)


def contains(answer: str, right: str, *, ignore_case: bool = False) -> bool:
    """1 if a reference occurs in the answer."""
    return (right.lower() in answer.lower()) if ignore_case else right in answer


def contains_words(answer: str, right: str) -> bool:
    """1 if a reference occurs in the answer as whole words, without regard to case and blanks. What the answer says of
    it, such as "not Paris", makes no difference."""

    def plain(text: str) -> str:
        return _without_blanks(unicodedata.normalize("NFC", text)).casefold()

    return re.search(rf"(?<!\w){re.escape(plain(right))}(?!\w)", plain(answer)) is not None


def contains_all(answer: str, references: Sequence[str]) -> float:
    """The share of the references that occur in the answer, whatever their case."""
    text = answer.lower()
    return sum(right.lower() in text for right in references) / max(1, len(references))


# (answer, problem) → whether it is right, and the group of rows that counts only as a whole.


def whole_group(answer: str, problem: Problem, *, group: str = "group") -> GroupedValue:
    """1 if the answer is one of the references. `group`: the column that says which rows belong together, and how many
    they are, as `tasks.row_groups` writes it."""
    found = problem.extras.get(group)
    if not isinstance(found, dict):
        raise BadData(f"whole_group needs the group of every row, but problem {problem.id} has none in '{group}'.")
    return GroupedValue(
        float(any(same_text(answer, right) for right in problem.references)), str(found["name"]), int(found["rows"])
    )


# (answer, problem) → whether it is right in the way in which answers of its row's kind are compared.


def equal_in_kind(answer: str, problem: Problem, *, contains: bool = False, rounded: str = "") -> float:
    """1 if the answer equals a right one as a number, a formula, a letter or a text: what the row's `kind` says.

    `contains`: answers that are texts need only contain it. `rounded`: the column that says to how many decimals a
    number is rounded before it is compared; where it says nothing, the number is compared as it is.
    """
    kind = problem.extras["kind"]
    decimals = problem.extras.get(rounded) if kind == "number" else None
    if decimals is not None and (number := as_number(answer)) is not None:
        answer = str(round(float(number), int(decimals)))
    use = own_answers.KINDS[kind].metric
    if contains and kind == "text":
        use = MetricUse(name="contains_words")
    return float(EXACT_METRICS[use.name].score(answer, problem.references, **use.args))


def own_equal(answer: str, problem: Problem, *, match: str = "auto") -> float:
    """1 if the answer means the same as a right one: as a letter, number, formula or text, or as its row's `kind` says,
    `contains`, `regex` or `exact`. Marks of emphasis, quotes, a final period and case make no difference to a text.

    A row may have a `tolerance` for its number (0.5, or 5% of it), and answers that are `wrong` whatever else they are.
    """
    extras, kind = problem.extras, own_answers.kind_of(problem, match)
    tolerance = extras.get("tolerance") if kind == "number" else ""
    is_right = _within(tolerance) if tolerance else _OWN[kind]
    is_wrong = holds if kind == "regex" else _OWN[kind]
    return float(
        any(is_right(answer, right) for right in problem.references)
        and not any(is_wrong(answer, wrong) for wrong in extras.get("wrong", ()))
    )


def _right_texts(problem: Problem, *, match: str = "auto") -> Sequence[str]:
    """A pattern is no answer itself."""
    return () if own_answers.kind_of(problem, match) == "regex" else problem.references


def _within(tolerance: str) -> Callable[[str, str], bool]:
    allowed = Decimal(tolerance.removesuffix("%"))

    def is_near(answer: str, right: str) -> bool:
        value, wanted = as_number(answer), as_number(right)
        if value is None or wanted is None:
            return False
        return abs(value - wanted) <= (abs(wanted) * allowed / 100 if tolerance.endswith("%") else allowed)

    return is_near


_NUMBERS = re.compile(r"(?<![\w.,])[-−]?[$€£]?\d[\d,]*(?:\.\d+)?(?!\w)")


def holds(answer: str, right: str) -> bool:
    """Whether an answer contains a text as whole words; a number as the same number."""
    if (wanted := as_number(right)) is not None:
        return any(as_number(found.rstrip(",")) == wanted for found in _NUMBERS.findall(answer))
    return contains_words(answer, right)


_OWN: Mapping[str, Callable[[str, str], bool]] = {
    "letter": lambda answer, right: answer == right,
    "number": same_number,
    "formula": same_formula,
    "text": own_answers.means,
    "exact": lambda answer, right: same_text(answer.strip(), right.strip()),
    "contains": holds,
    "regex": lambda answer, right: own_answers.pattern_of(right).search(answer) is not None,
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


def _right_calls(problem: Problem) -> tuple[str, ...]:
    """The expected calls without what may be left out, and with the first allowed value of everything."""
    named = [call for expected in _list(problem, "ground_truth") for call in expected.items()]
    return tuple(
        written("", [ToolCall(id="", name=name, arguments=json.dumps(_first(of, short=short))) for name, of in named])
        for short in (True, False)
    )


def _first(allowed: Any, *, short: bool) -> Any:
    """The first allowed value of each parameter, in lists and dictionaries, too."""
    if isinstance(allowed, list):
        return [_first(item, short=short) for item in allowed]
    if not isinstance(allowed, dict):
        return allowed
    return {
        name: _first(next((value for value in values if value != _LEFT_OUT), _LEFT_OUT), short=short)
        for name, values in allowed.items()
        if not (short and _LEFT_OUT in values)
    }


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
    if kind is list:  # it may be empty where it may be left out
        return any(len(value) == len(one) and all(map(_is_equal, value, one)) for one in allowed)
    return any(_is_equal(value, one) for one in allowed)


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


def _is_equal(value: Any, allowed: Any) -> bool:
    """Of dictionaries, every key has one of its allowed values, and none is missing that may not be."""
    if not isinstance(value, dict):
        return bool(_plain(value) == _plain(allowed))
    return (
        isinstance(allowed, dict)
        and all(key in allowed and _plain(one) in [_plain(item) for item in allowed[key]] for key, one in value.items())
        and all(key in value or _LEFT_OUT in values for key, values in allowed.items())
    )


EXACT_METRICS = {
    "exact": of_best(same_text, yes_or_no=True),
    "exact_match": of_best(exact_match, yes_or_no=True),
    "number": of_best(same_number, yes_or_no=True),
    "math_equal": of_best(same_formula, yes_or_no=True),
    "prefix_match": of_best(
        lambda answer, right: answer.strip().startswith(right.strip()),
        yes_or_no=True,
        about="1 if the answer begins with a reference",
    ),
    "in_match": of_best(
        lambda answer, right: answer.lower().strip() == right,
        yes_or_no=True,
        about="1 if the answer in small letters is one of the references, which stay as they are",
    ),
    "contains": of_best(contains, yes_or_no=True),
    "contains_all": Metric(score=contains_all),
    "contains_words": of_best(contains_words, yes_or_no=True),
    "equal_in_kind": in_problem(score=equal_in_kind, yes_or_no=True),
    "own_equal": in_problem(score=own_equal, yes_or_no=True, right=_right_texts),
    "whole_group": in_problem(score=whole_group, aggregation="whole_groups"),
    "expected_calls": in_problem(score=expected_calls, yes_or_no=True, right=_right_calls),
    "no_call": in_problem(score=no_call, yes_or_no=True),
}
