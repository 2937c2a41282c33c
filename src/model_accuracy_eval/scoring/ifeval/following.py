"""Which of its instructions a reply follows, and whether an instruction is one that can be checked."""

from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.ifeval import CHECKERS


def instruction(name: str, arguments: Mapping[str, Any]) -> JSONObject:
    """One with what its checker takes. Hubs name every argument in every row: what is null is not meant."""
    if name not in CHECKERS:
        raise UnknownName("instruction", name, CHECKERS)
    given = {argument: value for argument, value in arguments.items() if value is not None}
    paths.check_arguments("instruction", name, CHECKERS[name], given)
    for argument, value in given.items():
        _check(name, argument, value)
    return {"name": name, "arguments": given}


def _check(name: str, argument: str, value: Any) -> None:
    try:
        msgspec.convert(value, get_type_hints(CHECKERS[name])[argument])
    except msgspec.ValidationError as error:
        raise BadValue(f"The instruction '{name}' cannot have {value!r} as its {argument}: {error}.") from error


def followed(reply: str, instructions: Sequence[JSONObject], *, loose: bool = False) -> list[bool]:
    """One verdict for each instruction; a reply without a word follows none."""
    said = [form for form in (forms(reply) if loose else [reply]) if form.strip()]
    return [any(CHECKERS[one["name"]](form, **one["arguments"]) for form in said) for one in instructions]


def forms(reply: str) -> list[str]:
    """What the reply may be meant to be: with and without its first and its last line, which introduce and take leave,
    and each of these with and without its asterisks."""
    lines = reply.split("\n")
    shorter = [lines[1:], lines[:-1], lines[1:-1]]
    found = [reply, *("\n".join(rest).strip() for rest in shorter)]
    return list(dict.fromkeys([*found, *(form.replace("*", "") for form in found)]))
