"""IFEval: which of its instructions a reply follows, and whether an instruction can be checked at all."""

from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.scoring.ifeval.checkers import CHECKERS, EDITIONS
from model_accuracy_eval.scoring.metrics import user_functions

__all__ = ["CHECKERS", "EDITIONS", "followed", "instruction", "loose_forms"]


def instruction(name: str, arguments: Mapping[str, Any]) -> JSONObject:
    """A checked instruction. Hubs name every argument in every row, so null arguments are left out."""
    if name not in CHECKERS:
        raise UnknownName("instruction", name, CHECKERS)
    values = {argument: value for argument, value in arguments.items() if value is not None}
    user_functions.check_arguments("instruction", name, CHECKERS[name], values)
    for argument, value in values.items():
        _check_type(name, argument, value)
    return {"name": name, "arguments": values}


def _check_type(name: str, argument: str, value: Any) -> None:
    try:
        msgspec.convert(value, get_type_hints(CHECKERS[name])[argument])
    except msgspec.ValidationError as error:
        raise BadValue(f"The instruction '{name}' cannot have {value!r} as its {argument}: {error}.") from error


def followed(
    reply: str, instructions: Sequence[JSONObject], *, loose: bool = False, edition: str = "ifeval"
) -> list[bool]:
    """One verdict for each instruction; an empty reply follows none."""
    texts = [form for form in (loose_forms(reply) if loose else [reply]) if form.strip()]
    checkers = EDITIONS[edition]
    return [
        any(checkers[instruction["name"]](text, **instruction["arguments"]) for text in texts)
        for instruction in instructions
    ]


def loose_forms(reply: str) -> list[str]:
    """The reply with and without its first and its last line, which may be mere politeness, and each of these forms
    with and without its asterisks."""
    lines = reply.split("\n")
    trimmed = [lines[1:], lines[:-1], lines[1:-1]]
    forms = [reply, *("\n".join(rest).strip() for rest in trimmed)]
    return list(dict.fromkeys([*forms, *(form.replace("*", "") for form in forms)]))
