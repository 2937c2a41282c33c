"""Whether answers that must have a form have it, streamed as in one piece: JSON by a schema, and calls of a tool."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, short
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, JSONObject, ScoredReply

_ANSWERS, _KEYS = ["yes", "no", "unknown"], ["answer", "sure"]
_SCHEMA: JSONObject = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": _ANSWERS}, "sure": {"type": "boolean"}},
    "required": _KEYS,
    "additionalProperties": False,
}
_TOOL = {"type": "function", "function": {"name": "reply", "description": "Give the answer.", "parameters": _SCHEMA}}
_JSON = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": _SCHEMA}}
_FREE = "answers beside a tool"
_FORMS: Mapping[str, JSONObject] = {
    "JSON by a schema": {"response_format": _JSON},
    "calls of a required tool": {"tools": [_TOOL], "tool_choice": "required"},
    _FREE: {"tools": [_TOOL]},
}
"""What is asked for; of all but the last, the service has to hold the model to the schema."""
_QUESTIONS = 12
_FEWEST = 2
"""Answers that are wrong each time, from which on they are a fault."""


async def structured(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Each form twice in one piece, which shows the noise, and twice streamed."""
    told: dict[str, int] = {}
    for words, fields in _FORMS.items():
        streamed = [replace(needle.request, max_tokens=160, extra=fields) for needle in needles[:_QUESTIONS]]
        whole = [replace(request, extra={**fields, "logprobs": False}) for request in streamed]
        asked = [(request, requests is streamed) for requests in (whole, streamed) * 2 for request in requests]
        said = [_said(reply) for reply in await subject.answered(asked, at_once=4)]
        count = len(streamed)
        rounds = zip(*(said[begin : begin + count] for begin in range(0, len(said), count)), strict=True)
        pairs = [(one, two) for one, two, again, later in rounds if one and two and (one, two) == (again, later)]
        unfit = [one for one, _ in pairs if not _fits(one)]
        if not pairs or (words != _FREE and len(unfit) == len(pairs)):
            continue
        others = [f"{short(one)} in one piece, {short(two)} streamed" for one, two in pairs if one != two]
        unfit = [] if words == _FREE else [*map(short, unfit)]
        for wrong, how in ((others, "differ when streamed"), (unfit, "do not fit it")):
            if len(wrong) >= _FEWEST:
                return ProbeResult(
                    "FAIL",
                    f"Of {len(pairs)} {words}, {len(wrong)} {how}: {wrong[0]}.",
                    "look at the server's tool parser and its guided decoding, with stream true and false",
                )
        told[words] = len(pairs)
    if not {*told} - {_FREE}:
        return ProbeResult("SKIP", "The service takes neither a schema nor tools, or holds no answer to them.")
    as_asked = ", ".join(f"{count} {words}" for words, count in told.items())
    return ProbeResult("PASS", f"The same streamed, and as the schema says: {as_asked}.")


def _said(reply: ScoredReply | Fault) -> str:
    """What the answer comes to, whatever its pieces and ids were; empty where there is none, or its end is missing."""
    if isinstance(reply, Fault) or reply.finish_reason == "length":
        return ""
    calls = "".join(f"{call.name}({''.join(call.arguments.split())})" for call in reply.calls)
    return f"{reply.finish_reason}: {reply.text.strip()}{calls}"


def _fits(said: str) -> bool:
    source = said.partition(": ")[2].removeprefix("reply(").removesuffix(")")
    try:
        value = msgspec.json.decode(source)
    except msgspec.DecodeError:
        return False
    is_whole = isinstance(value, dict) and [*value] == _KEYS
    return is_whole and value["answer"] in _ANSWERS and isinstance(value["sure"], bool)
