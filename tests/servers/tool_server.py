"""A chat server whose model calls tools, and which tells its calls in any way that real servers do.

    with ToolServer(sums, habit="repeated") as server:
        ... server.url ... server.chats ...

`model(request_json)` says what comes next in a conversation. What a client sends back is held against what the
strictest servers ask for; a breach fails the test that uses the server.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.servers.fault_server import Style, chunk, deliver, encode
from tests.servers.http import Exchange, HttpServer

JSON = dict[str, Any]
Call = tuple[str, str, str]
"""Id, name, arguments."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """One turn of the model."""

    text: str = ""
    reasoning: str = ""
    calls: Sequence[Call] = ()
    reason: str = ""
    """Empty: what fits."""


Model = Callable[[JSON], Said]


def calculation(*expressions: str, **more: Any) -> Said:
    """A turn that asks for the value of some expressions, in one go."""
    calls = [(f"id{at:07}", "calculator", json.dumps({"expression": one})) for at, one in enumerate(expressions)]
    return Said(calls=calls, **more)


def sums(request: JSON) -> Said:
    """Has what is asked worked out, and says what it is told; without tools it has no idea."""
    last = request["messages"][-1]
    if last["role"] == "tool":
        return Said(text=f"So it is\n#### {last['content']}", reasoning="That was told to me.")
    if "tools" not in request:
        return Said(text="#### 0")
    asked = re.search(r"What is (.+)\?", last["content"])
    assert asked is not None
    return calculation(asked[1], text="Let me see.", reasoning="I had better not guess.")


def _pieces(call: Call, size: int) -> list[str]:
    return [call[2][start : start + size] for start in range(0, len(call[2]), size)]


def _as_defined(at: int, call: Call, size: int) -> list[JSON]:
    identity, name, _ = call
    begin = {"index": at, "id": identity, "type": "function", "function": {"name": name, "arguments": ""}}
    return [begin, *({"index": at, "function": {"arguments": piece}} for piece in _pieces(call, size))]


def _repeated(at: int, call: Call, size: int) -> list[JSON]:
    identity, name, _ = call
    return [
        {"index": at, "id": identity, "type": "function", "function": {"name": name, "arguments": piece}}
        for piece in [*_pieces(call, size), ""]
    ]


def _fresh_ids(at: int, call: Call, size: int) -> list[JSON]:
    begin, *rest = _as_defined(at, call, size)
    return [begin, *({**one, "id": f"{call[0]}-{number}"} for number, one in enumerate(rest))]


def _without_ids(at: int, call: Call, size: int) -> list[JSON]:
    return [{key: value for key, value in one.items() if key != "id"} for one in _as_defined(at, call, size)]


def _nulls(at: int, call: Call, size: int) -> list[JSON]:
    begin, *rest = _as_defined(at, call, size)
    return [begin, *({**one, "id": None, "function": {"name": None, **one["function"]}} for one in rest)]


def _whole(at: int, call: Call, _: int) -> list[JSON]:
    identity, name, arguments = call
    return [{"index": at, "id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}]


def _whole_under_0(_: int, call: Call, size: int) -> list[JSON]:
    return _whole(0, call, size)


def _bare(_: int, call: Call, __: int) -> list[JSON]:
    return [{"function": {"name": call[1], "arguments": call[2]}}]


def _objects(at: int, call: Call, _: int) -> list[JSON]:
    identity, name, arguments = call
    return [{"index": at, "id": identity, "function": {"name": name, "arguments": json.loads(arguments)}}]


Habit = Callable[[int, Call, int], list[JSON]]
HABITS: dict[str, Habit] = {
    "as defined": _as_defined,
    "repeated": _repeated,
    "a fresh id for every piece": _fresh_ids,
    "without ids": _without_ids,
    "nulls": _nulls,
    "whole": _whole,
    "whole, all under index 0": _whole_under_0,
    "whole, without index and id": _bare,
    "objects": _objects,
}
"""How servers tell the call at a place: its fragments, with arguments in pieces of a size."""

NO_IDS = ("without ids", "whole, without index and id")
IN_TURNS = ("as defined", "repeated", "a fresh id for every piece", "without ids", "nulls")
"""Habits whose calls may come in turns, because each fragment says which call it is of."""


class ToolServer(HttpServer):
    def __init__(
        self, model: Model = sums, *, habit: str = "as defined", piece: int = 3, style: Style | None = None
    ) -> None:
        super().__init__(self._handle)
        self._model = model
        self._habit = HABITS[habit]
        self._piece = piece
        self._style = style or Style()

    def __enter__(self) -> "ToolServer":
        super().__enter__()
        return self

    @property
    def chats(self) -> list[JSON]:
        """The requests that offered tools."""
        return [exchange.json for exchange in self.requests if "tools" in exchange.json]

    async def _handle(self, exchange: Exchange) -> None:
        if exchange.method == "GET":
            exchange.reply(200, {"data": [{"id": "m"}]})
            return
        check(exchange.json)
        said = self._model(exchange.json)
        if self._style.stream:
            await deliver(exchange, encode(self._events(said), self._style), self._style)
        else:
            exchange.reply(200, self._in_one(said))

    def _fragments(self, said: Said) -> list[JSON]:
        return [one for at, call in enumerate(said.calls) for one in self._habit(at, call, self._piece)]

    def _events(self, said: Said) -> list[JSON]:
        deltas: list[JSON] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": said.reasoning}, {"content": said.text}]
        deltas += [{"tool_calls": [one]} for one in self._fragments(said)]
        events = [chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
        return [*events, chunk([{"index": 0, "delta": {}, "finish_reason": _reason(said)}]), chunk([], usage=USAGE)]

    def _in_one(self, said: Said) -> JSON:
        message: JSON = {"role": "assistant", "content": said.text, "reasoning_content": said.reasoning}
        message["tool_calls"] = self._fragments(said)
        return {"choices": [{"index": 0, "message": message, "finish_reason": _reason(said)}], "usage": USAGE}


USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
"""Of every request."""


def _reason(said: Said) -> str:
    return said.reason or ("tool_calls" if said.calls else "stop")


def check(request: JSON) -> None:
    """What servers refuse, or fail over in their chat templates."""
    waiting: list[str] = []
    for message in request["messages"]:
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0), "a result that no call waits for"
            continue
        assert not waiting, "a call without its result"
        for call in message.get("tool_calls", ()):
            assert call["type"] == "function"
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
    assert not waiting, "a call without its result"
    for tool in request.get("tools", ()):
        assert tool["type"] == "function"
        assert tool["function"]["parameters"]["type"] == "object"
