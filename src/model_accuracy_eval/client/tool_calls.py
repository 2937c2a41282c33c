"""Tool calls: assembled from the fragments of a stream, and sent back as messages together with their results.

Most servers send id and name once and the arguments in pieces; an index says which call a piece belongs to. Some
repeat id and name with every piece, some make up a new id for every piece, some send complete calls, all under index 0
or without one, and some send the arguments as an object instead of a string.
"""

import json
from collections.abc import Iterable, Iterator

import msgspec

from model_accuracy_eval.records import JSONObject, ToolCall, ToolRound


class _CallBuilder:
    """One call while its fragments arrive."""

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = self.name = self.arguments = ""

    def add(self, call_id: str, name: str, arguments: object) -> None:
        self.id = self.id or call_id
        self.name = self.name or name
        if arguments is not None:
            self.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    def ended_by(self, call_id: str, name: str) -> bool:
        """Whether a fragment begins another call: it names a tool again, and does not just repeat this call's name."""
        return bool(name and self.name) and (call_id != self.id or _is_object(self.arguments))


def assemble_calls(fragments: Iterable[msgspec.Raw]) -> tuple[ToolCall, ...]:
    """The calls of one choice, in the order in which they began. `fragments`: the `tool_calls` of its events."""
    calls: list[_CallBuilder] = []
    for raw in fragments:
        tree = json.loads(bytes(raw))
        for fragment in tree if isinstance(tree, list) else [tree]:
            if isinstance(fragment, dict):
                _add(calls, fragment)
    complete = [call for call in calls if call.name or call.arguments]
    # The strictest chat templates want ids of nine letters and digits.
    return tuple(
        ToolCall(id=call.id or f"call{number:05}", name=call.name, arguments=call.arguments)
        for number, call in enumerate(complete)
    )


def _add(calls: list[_CallBuilder], fragment: JSONObject) -> None:
    function = fragment.get("function")
    inner = function if isinstance(function, dict) else {}
    call_id, name = _text(fragment.get("id")), _text(inner.get("name"))
    index = fragment.get("index")
    index = index if isinstance(index, int) else None
    candidates = [call for call in calls if index is None or call.index in (None, index)]
    call = next((call for call in candidates if call_id and call.id == call_id), None)
    if call is None and candidates and not candidates[-1].ended_by(call_id, name):
        call = candidates[-1]
    if call is None:
        call = _CallBuilder(index)
        calls.append(call)
    call.add(call_id, name, inner.get("arguments"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def tool_messages(rounds: Iterable[ToolRound]) -> Iterator[JSONObject]:
    """Earlier rounds as messages: the assistant's calls, and a result for each."""
    for tool_round in rounds:
        calls = [_encode_call(use.call) for use in tool_round.uses]
        yield {"role": "assistant", "content": tool_round.text, "tool_calls": calls}
        for use in tool_round.uses:
            yield {"role": "tool", "tool_call_id": use.call.id, "content": use.result}


def _encode_call(call: ToolCall) -> JSONObject:
    # vLLM and llama.cpp parse the arguments of earlier calls for their chat templates, and refuse what is no object.
    arguments = call.arguments if _is_object(call.arguments) else "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
