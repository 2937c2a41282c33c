"""A chat server that answers deterministically, in any style seen in the wild, and fails on request.

    with FaultServer(answer, plan=faults_at({0: "reset_mid_stream"}), style=Style(usage="finish")) as server:
        ... server.url ... server.requests ...

`answer(request_json)` gives one text, or one for every choice; without it the text is a function of the prompt
and of seed + choice index. `plan(number, request_json)` names the fault of a request, None for a good answer.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tests.servers.http import Exchange, HttpServer

JSON = dict[str, Any]
Answer = Callable[[JSON], str | Sequence[str]]
Plan = Callable[[int, JSON], str | None]

WORDS = [
    "amber", "bottle", "copper", "dune", "ember", "forest", "garden", "harbour", "island", "jungle", "kettle",
    "lantern", "数学", "żółw", "😀", "é",
]  # fmt: skip


def default_answer(request: JSON) -> list[str]:
    """One text a choice: some words that only prompt, seed and index decide."""
    prompt = json.dumps(request.get("messages"), ensure_ascii=False)
    texts = []
    for index in range(request.get("n", 1)):
        digest = hashlib.sha256(f"{prompt}|{(request.get('seed') or 0) + index}".encode()).digest()
        texts.append(" ".join(WORDS[byte % len(WORDS)] for byte in digest[:9]) + f" = {digest[0]}")
    return texts


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a good answer looks; every field is a habit of some real server."""

    usage: Literal["own", "finish", "every", "choice", "none"] = "own"
    done: bool = True
    finish: Literal["with_text", "separate", "at_end", "twice", "last_only", "none"] = "separate"
    reason: str = "stop"
    ignore_n: bool = False
    role_each: bool = False
    null_fields: bool = False
    reasoning: str | None = None
    """Name of the field that the whole answer goes into, instead of `content`."""
    eol: bytes = b"\n"
    field: bytes = b"data: "
    ascii: bool = False
    bom: bool = False
    comments: bool = False
    lines: int = 1
    """`data:` lines that every event is spread over."""
    last_blank: bool = True
    stream: bool = True
    piece: int = 4
    """Characters a chunk."""
    cut: int | None = None
    """Bytes a write; None: one event a write."""
    delay: float = 0.0
    """Seconds after every write."""
    framing: Literal["chunked", "length", "close"] = "chunked"
    version: str = "1.1"
    close: bool = False


def chunk(choices: list[JSON], **more: Any) -> JSON:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        **more,
    }


def usage_of(texts: Sequence[str]) -> JSON:
    total = sum(len(text) for text in texts)
    return {"prompt_tokens": 7, "completion_tokens": total, "total_tokens": 7 + total}


def chunks_of(texts: Sequence[str], style: Style) -> list[JSON]:
    """The events of one reply as JSON, choices interleaved."""
    field = style.reasoning or "content"
    nulls = {"logprobs": None, "finish_reason": None} if style.null_fields else {}
    role = {"role": "assistant"}
    events = [chunk([{"index": i, "delta": {**role, "content": ""}, **nulls}]) for i in range(len(texts))]
    finishes = []
    longest = max(len(text) for text in texts)
    for start in range(0, max(longest, 1), style.piece):
        for index, text in enumerate(texts):
            if start >= len(text) and start:
                continue
            delta = {**(role if style.role_each else {}), field: text[start : start + style.piece]}
            event: JSON = {"index": index, "delta": delta, **nulls}
            events.append(chunk([event]))
            if start + style.piece >= len(text):
                finish = chunk([{"index": index, "delta": {}, "finish_reason": style.reason}])
                finishes.append(finish)
                if style.finish == "with_text":
                    event["finish_reason"] = style.reason
                elif style.finish in ("separate", "twice"):
                    events.append(finish)
    if style.finish in ("at_end", "twice"):
        events += finishes
    elif style.finish == "last_only":
        events.append(finishes[-1])
    return with_usage(events, usage_of(texts), style.usage)


def with_usage(events: list[JSON], usage: JSON, where: str) -> list[JSON]:
    if where == "own":
        return [*events, chunk([], usage=usage)]
    if where == "finish":
        return [*events[:-1], {**events[-1], "usage": usage}]
    if where == "choice":
        last = events[-1]
        return [*events[:-1], {**last, "choices": [{**last["choices"][0], "usage": usage}]}]
    if where == "every":
        growing = [{**usage, "completion_tokens": step} for step in range(len(events))]
        return [{**event, "usage": part} for event, part in zip(events, [*growing[1:], usage], strict=True)]
    return events


def encode(events: Sequence[JSON], style: Style) -> list[bytes]:
    """The events as bytes, each with its line ends."""
    out = []
    for number, event in enumerate(events):
        # An indented text gives an event as many lines as one wants: JSON does not mind line breaks.
        text = json.dumps(event, ensure_ascii=style.ascii, indent=0 if style.lines > 1 else None).encode()
        lines = [style.field + line for line in text.split(b"\n")]
        if style.comments:
            lines[:0] = [b": ping", b"event: message", b"id: %d" % number, b"retry: 3000"]
        out.append(style.eol.join([*lines, b"", b""]))
    if style.done:
        out.append(style.field + b"[DONE]" + style.eol * 2)
    if style.bom:
        out[0] = b"\xef\xbb\xbf" + out[0]
    if not style.last_blank:
        out[-1] = out[-1].rstrip(b"\r\n")
    return out


def whole(texts: Sequence[str], style: Style) -> JSON:
    """The answer of a server that does not stream."""
    return {
        "object": "chat.completion",
        "choices": [
            {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": style.reason}
            for i, text in enumerate(texts)
        ],
        "usage": usage_of(texts),
    }


async def deliver(exchange: Exchange, pieces: Sequence[bytes], style: Style, *, end: bool = True) -> None:
    """Sends a body in the style's framing and cutting; `end=False` leaves it open."""
    if style.cut:
        body = b"".join(pieces)
        pieces = [body[start : start + style.cut] for start in range(0, len(body), style.cut)]
    exchange.head(
        length=sum(map(len, pieces)) if style.framing == "length" else None,
        chunked=style.framing == "chunked" and style.version == "1.1",
        version=style.version,
        close=style.close,
    )
    for piece in pieces:
        exchange.send(piece)
        await exchange.pause(style.delay)
    if end:
        exchange.end()


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a fault has to work with: the good answer that it spoils."""

    texts: Sequence[str]
    style: Style

    @property
    def pieces(self) -> list[bytes]:
        return encode(chunks_of(self.texts, self.style), self.style)

    @property
    def half(self) -> list[bytes]:
        return self.pieces[: len(self.pieces) // 2]


Fault = Callable[[Exchange, Case], Awaitable[None]]
FAULTS: dict[str, Fault] = {}


def fault(function: Fault) -> Fault:
    FAULTS[function.__name__] = function
    return function


def status_fault(name: str, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
    async def answer(exchange: Exchange, _: Case) -> None:
        exchange.reply(status, body, headers)

    FAULTS[name] = answer


for _status in (400, 403, 408, 422, 500, 501, 503):
    status_fault(f"status_{_status}", _status, {"error": {"message": f"trouble {_status}", "code": _status}})
status_fault("status_401", 401, {"error": "Unauthorized"})
status_fault("status_429", 429, {"error": {"message": "slow down"}}, {"retry-after": "0.05"})
status_fault("status_302", 302, "", {"location": "https://login.example/"})
status_fault("detail_422", 422, {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]})
status_fault("flat_400", 400, {"object": "error", "message": "flat trouble", "code": 400})
status_fault("plain_500", 500, "Internal Server Error")
status_fault("huge_503", 503, "x" * 300_000)


@fault
async def reset_at_once(exchange: Exchange, case: Case) -> None:
    exchange.reset()


@fault
async def reset_mid_stream(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, case.half, case.style, end=False)
    await exchange.pause(0.02)
    exchange.reset()


@fault
async def truncated_chunks(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, case.half, replace(case.style, framing="chunked"), end=False)
    exchange.close()


@fault
async def truncated_length(exchange: Exchange, case: Case) -> None:
    exchange.head(length=sum(map(len, case.pieces)))
    for piece in case.half:
        exchange.send(piece)
    exchange.close()


@fault
async def stalled_before_head(exchange: Exchange, case: Case) -> None:
    await exchange.stall()


@fault
async def stalled_before_first_token(exchange: Exchange, case: Case) -> None:
    """Head, role chunk and pings come, but no text."""
    exchange.head()
    exchange.send(case.pieces[0])
    while True:
        exchange.send(b": ping\n\n")
        await exchange.pause(0.02)


@fault
async def stalled_mid_stream(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, case.half, case.style, end=False)
    while True:
        exchange.send(b": ping\n\n")
        await exchange.pause(0.02)


@fault
async def endless(exchange: Exchange, case: Case) -> None:
    exchange.head()
    while True:
        exchange.send(case.pieces[1])
        await exchange.pause(0.02)


@fault
async def malformed_event(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, [*case.half, b'data: {"choices": [\n\n', *case.pieces[-1:]], case.style)


@fault
async def error_event(exchange: Exchange, case: Case) -> None:
    error = {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500}}
    done = b"data: [DONE]\n\n"
    await deliver(exchange, [*case.half, b"data: " + json.dumps(error).encode() + b"\n\n", done], case.style)


@fault
async def error_event_400(exchange: Exchange, case: Case) -> None:
    error = {"error": {"message": "top_p must be positive", "code": 400}}
    await deliver(exchange, [b"data: " + json.dumps(error).encode() + b"\n\n"], case.style)


@fault
async def error_event_string(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, [*case.half, b'data: {"error": "out of memory"}\n\n'], case.style)


@fault
async def error_body_200(exchange: Exchange, case: Case) -> None:
    exchange.reply(200, {"error": {"message": "busy"}})


@fault
async def empty_body(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, [], case.style)


@fault
async def only_done(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, [b"data: [DONE]\n\n"], case.style)


@fault
async def only_roles(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, case.pieces[: len(case.texts)], case.style)


@fault
async def done_without_finish(exchange: Exchange, case: Case) -> None:
    await deliver(exchange, [*case.half, b"data: [DONE]\n\n"], case.style)


@fault
async def ended_without_finish(exchange: Exchange, case: Case) -> None:
    """Half an answer whose HTTP chunks end cleanly, as behind a proxy that hides a crash."""
    await deliver(exchange, case.half, case.style)


@fault
async def ended_inside_event(exchange: Exchange, case: Case) -> None:
    """The same, in the middle of an event's line."""
    await deliver(exchange, [*case.half, case.pieces[0][:40]], case.style)


@fault
async def finish_abort(exchange: Exchange, case: Case) -> None:
    pieces = encode(chunks_of(case.texts, replace(case.style, reason="abort")), case.style)
    await deliver(exchange, pieces, case.style)


@fault
async def html_page(exchange: Exchange, case: Case) -> None:
    exchange.reply(200, "<!doctype html><title>Please log in</title>", kind="text/html")


@fault
async def not_http(exchange: Exchange, case: Case) -> None:
    exchange.raw(b"SSH-2.0-OpenSSH_9.6\r\n")
    await exchange.stall()


@fault
async def open_after_done(exchange: Exchange, case: Case) -> None:
    """A complete answer, but the body never ends."""
    await deliver(exchange, case.pieces, case.style, end=False)
    await exchange.stall()


@fault
async def late_end(exchange: Exchange, case: Case) -> None:
    """The last HTTP chunk comes some time after [DONE]."""
    await deliver(exchange, case.pieces, case.style, end=False)
    await exchange.pause(0.03)
    exchange.end()


def faults_at(faults: Mapping[int, str]) -> Plan:
    """A plan by request number."""
    return lambda number, _: faults.get(number)


def always(name: str) -> Plan:
    return lambda _, __: name


class FaultServer(HttpServer):
    """Answers `/v1/chat/completions` and `/v1/models`; anything else is a 404."""

    def __init__(
        self, answer: Answer = default_answer, *, plan: Plan | None = None, style: Style | None = None, **more: Any
    ) -> None:
        super().__init__(self._handle, **more)
        self.answer = answer
        self.plan = plan or faults_at({})
        self.style = style or Style()
        self.models: Any = {"object": "list", "data": [{"id": "m", "object": "model"}]}

    def __enter__(self) -> "FaultServer":
        super().__enter__()
        return self

    @property
    def chats(self) -> list[JSON]:
        """The chat requests so far."""
        return [exchange.json for exchange in self.requests if exchange.path.endswith("/chat/completions")]

    async def _handle(self, exchange: Exchange) -> None:
        if exchange.path == "/v1/models" and exchange.method == "GET":
            exchange.reply(200, self.models)
        elif exchange.path == "/v1/chat/completions" and exchange.method == "POST":
            await self._chat(exchange)
        else:
            exchange.reply(404, {"detail": "Not Found"})

    async def _chat(self, exchange: Exchange) -> None:
        request, style = exchange.json, self.style
        texts = self.answer(request)
        texts = [texts] if isinstance(texts, str) else list(texts)
        texts = (texts * request.get("n", 1))[: 1 if style.ignore_n else request.get("n", 1)]
        name = self.plan(exchange.number, request)
        if name is not None:
            await FAULTS[name](exchange, Case(texts=texts, style=style))
        elif style.stream:
            await deliver(exchange, encode(chunks_of(texts, style), style), style)
        else:
            exchange.reply(200, whole(texts, style))
