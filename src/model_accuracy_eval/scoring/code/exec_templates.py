"""Whether the templates of a code task say what their author meant: `{name}` is a column, or `{answer}`."""

import difflib
import re
from collections.abc import Iterator
from typing import Any

from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.scoring.asks import PLACE
from model_accuracy_eval.scoring.metrics.judge_metrics import columns

_WITH_ANSWER = ("code", "tests", "entry_points")
"""The fields in which `{answer}` is the model's code: the others must not depend on it."""
_DATA = ("stdin", "calls", "checker")
"""The fields in which braces are likely to be data."""
_JINJA = re.compile(r"\{\{-?\s*(\w+)[^{}]*\}\}")


def objections(args: JSONObject, problem: Problem) -> list[str]:
    """One sentence for each place that is no column, and one if the answer is nowhere."""
    known = {*columns(problem)}
    found = [
        objection
        for name, value in args.items()
        if name not in _DATA
        for field, template in _texts(name, value)
        for objection in _objections(field, template, known | ({"answer"} if name in _WITH_ANSWER else set()))
    ]
    found += [f"the name of the file '{name}' is no template" for name in args.get("files", {}) if PLACE.search(name)]
    places = "".join(str(args.get(name, default)) for name, default in (("code", "{answer}"), ("tests", "")))
    if "{answer}" not in places:
        found.append("'code' has no {answer}, so that no reply would be run")
    return found


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(f"{name}, {key}", inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(name, inner)


def _objections(field: str, template: str, known: set[str]) -> Iterator[str]:
    for name in dict.fromkeys(_JINJA.findall(template)):
        if name in known:
            yield f"'{field}' says {{{{ {name} }}}}; here a column is written {{{name}}}"
    for name in dict.fromkeys(PLACE.findall(template)):
        if name == "answer" and name not in known:
            yield f"'{field}' says {{answer}}, which would stay as it is: the model's code stands in 'code' alone"
        elif name not in known and _is_meant(name, template):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"known are {', '.join(sorted(known))}."
            yield f"'{field}' says {{{name}}}, which is no column that scoring gets (`extras` names these); {hint}"


def _is_meant(name: str, template: str) -> bool:
    """Whether a name in braces was meant as a column, and is not code: f-strings, sets and `${…}` name what the text
    has elsewhere too, or what a shell has."""
    if name.isdigit() or re.search(rf"[$\\]\{{{name}\}}", template):
        return False
    return not re.search(rf"\b{name}\b", template.replace(f"{{{name}}}", ""))
