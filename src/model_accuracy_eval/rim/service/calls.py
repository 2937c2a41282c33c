"""Calls of tools: put together from the fragments of a stream, and told back with what came of them.

Most servers send id and name once and the arguments piece by piece, told apart by an index. Some repeat id and name
with every piece, some make up a new id for every piece, some send whole calls, all under index 0 or without one, and
some send the arguments as an object instead of its text.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from model_accuracy_eval.records import JSONObject, ToolCall, ToolRound


class _Call:
    """One call while its fragments come in."""

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = self.name = self.arguments = ""

    def take(self, identity: str, name: str, arguments: Any) -> None:
        self.id = self.id or identity
        self.name = self.name or name
        if arguments is not None:
            self.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    def ended_by(self, identity: str, name: str) -> bool:
        """Whether such a fragment begins another call: one that names a tool again, and not only repeats itself."""
        return bool(name and self.name) and (identity != self.id or _is_object(self.arguments))


def gathered(fragments: Iterable[msgspec.Raw]) -> tuple[ToolCall, ...]:
    """The calls of one choice, in the order in which they began. `fragments`: what its events held as `tool_calls`."""
    calls: list[_Call] = []
    for raw in fragments:
        tree = json.loads(bytes(raw))
        for fragment in tree if isinstance(tree, list) else [tree]:
            if isinstance(fragment, dict):
                _take(calls, fragment)
    told = [call for call in calls if call.name or call.arguments]
    # The strictest chat templates want ids of nine letters and digits.
    return tuple(
        ToolCall(id=call.id or f"call{number:05}", name=call.name, arguments=call.arguments)
        for number, call in enumerate(told)
    )


def _take(calls: list[_Call], fragment: JSONObject) -> None:
    function = fragment.get("function")
    inner = function if isinstance(function, dict) else {}
    identity, name = _text(fragment.get("id")), _text(inner.get("name"))
    index = fragment.get("index")
    index = index if isinstance(index, int) else None
    near = [call for call in calls if index is None or call.index in (None, index)]
    call = next((one for one in near if identity and one.id == identity), None)
    if call is None and near and not near[-1].ended_by(identity, name):
        call = near[-1]
    if call is None:
        call = _Call(index)
        calls.append(call)
    call.take(identity, name, inner.get("arguments"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def turns(rounds: Iterable[ToolRound]) -> Iterator[JSONObject]:
    """What was said and used, as messages."""
    for one in rounds:
        yield {"role": "assistant", "content": one.text, "tool_calls": [_sent(use.call) for use in one.uses]}
        for use in one.uses:
            yield {"role": "tool", "tool_call_id": use.call.id, "content": use.result}


def _sent(call: ToolCall) -> JSONObject:
    # Servers read the arguments of earlier turns for their templates, and refuse the request if they cannot.
    arguments = call.arguments if _is_object(call.arguments) else "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
