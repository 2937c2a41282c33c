"""What goes over the wire: requests as OpenAI defines them, and the many shapes servers answer in."""

import json
from typing import Any

import msgspec

from model_accuracy_eval.records import JSONObject, Request, Usage
from model_accuracy_eval.rim.service.calls import turns
from model_accuracy_eval.rim.service.stops import SENT

UNFIT = frozenset({"error", "abort", "parse_error", "insufficient_system_resource"})
"""Finish reasons that say the server gave up: no answer, whatever text came before."""

_EXCERPT = 300
_NOTHING = msgspec.Raw()


class Delta(msgspec.Struct, gc=False):
    """What one event adds to a choice. Only what is needed is decoded, so that nothing else can be wrong."""

    content: str | list[Any] | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: msgspec.Raw = _NOTHING
    function_call: msgspec.Raw = _NOTHING


class Part(msgspec.Struct, gc=False):
    """One choice inside an event, or inside a whole answer (then it has a `message`); completions have a `text`."""

    index: int = 0
    delta: Delta | None = None
    message: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None
    usage: msgspec.Raw = _NOTHING


class Chunk(msgspec.Struct, gc=False):
    """One event of a stream, or a whole answer from a server that does not stream."""

    choices: list[Part] | None = None
    usage: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING


decode_chunk = msgspec.json.Decoder(Chunk).decode
"""The usual shapes only, fast; raises `ValueError` on anything else, for `decode_odd` to look at."""


def decode_odd(data: bytes) -> Chunk:
    """A chunk with wrong types, broken UTF-8, half surrogates or NaN: whatever is sound in it is kept.

    Raises `ValueError` when it is no JSON object at all.
    """
    tree = json.loads(data.decode("utf-8", "replace"))
    if not isinstance(tree, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 – for the caller this is data, not a type
    choices = tree.get("choices")
    items = [item for item in choices if isinstance(item, dict)] if isinstance(choices, list) else None
    parts = None if items is None else [_odd_part(item) for item in items]
    return Chunk(choices=parts, usage=_raw(tree.get("usage")), error=_raw(tree.get("error")))


def _odd_part(item: JSONObject) -> Part:
    reason, text = item.get("finish_reason"), item.get("text")
    return Part(
        index=_index(item.get("index")),
        delta=_odd_delta(item.get("delta")),
        message=_odd_delta(item.get("message")),
        text=text if isinstance(text, str) else None,
        finish_reason=None if reason is None else str(reason),
        usage=_raw(item.get("usage")),
    )


def _index(value: Any) -> int:
    try:
        return max(0, int(value))
    except (TypeError, ValueError, OverflowError):
        return 0


def _odd_delta(tree: Any) -> Delta | None:
    if not isinstance(tree, dict):
        return None
    content, thought, thinking = (tree.get(name) for name in ("content", "reasoning", "reasoning_content"))
    return Delta(
        content=content if isinstance(content, (str, list)) else None,
        reasoning=thought if isinstance(thought, str) else None,
        reasoning_content=thinking if isinstance(thinking, str) else None,
        tool_calls=_raw(tree.get("tool_calls")),
        function_call=_raw(tree.get("function_call")),
    )


def _raw(tree: Any) -> msgspec.Raw:
    return _NOTHING if tree is None else msgspec.Raw(json.dumps(tree).encode())


def is_something(raw: msgspec.Raw) -> bool:
    """Whether a raw field is there and says anything."""
    return bool(raw) and bytes(raw) not in (b"null", b"false", b"[]", b"{}", b'""')


def is_object(body: bytes) -> bool:
    """Whether a body is JSON with names and values."""
    try:
        return isinstance(json.loads(body.decode("utf-8", "replace")), dict)
    except (ValueError, RecursionError):
        return False


def is_error(chunk: Chunk, event: bytes) -> bool:
    """An `error` that says something, or one of the flat shapes that some servers use instead."""
    if is_something(chunk.error):
        return True
    if chunk.choices is not None or is_something(chunk.usage):
        return False
    tree = json.loads(event.decode("utf-8", "replace"))
    return tree.get("object") == "error" or "detail" in tree or "message" in tree


def tree_of(raw: msgspec.Raw) -> Any:
    """What a raw field holds; None when it is missing or null."""
    return json.loads(bytes(raw)) if raw else None


def text_of(content: list[Any]) -> str:
    """The text of a content that came as a list of parts."""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def mend(text: str) -> str:
    """Joins the two halves of a character that a server sent in two events; a lone half becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def read_usage(raw: msgspec.Raw) -> Usage | None:
    """Token counts; whatever is missing or no whole number stays unknown."""
    tree = tree_of(raw)
    if not isinstance(tree, dict):
        return None
    details = tree.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return Usage(
        prompt_tokens=_count(tree.get("prompt_tokens")),
        completion_tokens=_count(tree.get("completion_tokens")),
        reasoning_tokens=_count(tree.get("reasoning_tokens") if reasoning is None else reasoning),
    )


def _count(value: Any) -> int | None:
    sound = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if sound else None


def read_error(body: bytes) -> tuple[str, int | None]:
    """The server's own message and code, wherever it put them; else the body itself, cut."""
    try:
        tree = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        tree = None
    error = tree.get("error") if isinstance(tree, dict) and tree.get("error") else tree
    message = _message(error)
    if message is None:
        message = body.decode("utf-8", "replace")
    return excerpt(message), _code(error)


def _message(error: Any) -> str | None:
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return None
    for name in ("message", "detail", "msg"):
        value = error.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return "; ".join(_complaint(item) for item in value)
        if isinstance(value, dict) and value:
            return _message(value) or json.dumps(value, ensure_ascii=False)
    return None


def _complaint(item: Any) -> str:
    """One entry of a validation error's list: `body.messages: Field required`."""
    if isinstance(item, dict) and "msg" in item:
        place = item.get("loc")
        where = ".".join(str(step) for step in place) if isinstance(place, list) else ""
        return f"{where}: {item['msg']}" if where else str(item["msg"])
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def _code(error: Any) -> int | None:
    """An HTTP status inside an error object; other codes are the server's own business."""
    if not isinstance(error, dict):
        return None
    for code in (error.get("code"), error.get("status"), error.get("status_code")):
        if isinstance(code, (int, str)) and str(code).isdecimal() and 400 <= int(code) < 600:
            return int(code)
    return None


def read_models(body: bytes) -> tuple[str, ...]:
    """Ids of `/v1/models`; empty when the body is anything else."""
    return tuple(entry["id"] for entry in _listed(body))


def read_context(body: bytes, model: str | None) -> int | None:
    """`max_model_len` of the model in `/v1/models`, or of the only one that is listed."""
    entries = _listed(body)
    chosen = [entry for entry in entries if entry["id"] == model] or (entries if len(entries) == 1 else [])
    told = chosen[0].get("max_model_len") if chosen else None
    return told if type(told) is int and told > 0 else None


def _listed(body: bytes) -> list[dict[str, Any]]:
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return []
    items = tree.get("data") if isinstance(tree, dict) else None
    entries = items if isinstance(items, list) else []
    return [item for item in entries if isinstance(item, dict) and isinstance(item.get("id"), str)]


def excerpt(text: str, length: int = _EXCERPT) -> str:
    """One line of text, cut: fit to stand inside a sentence."""
    text = " ".join(text[: 8 * length].split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def encode_request(model: str | None, request: Request) -> bytes:
    """The body: what OpenAI defines and nothing else, since some servers refuse fields they do not know.

    Temperature and top_p are always sent, because unset means something else on every server; `n` only when
    it is more than one. `extra` is the user's own word and comes last.
    """
    body: JSONObject = {"messages": request.messages} if request.text is None else {"prompt": request.text}
    body |= {
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": request.temperature,
        "top_p": request.top_p,
        "max_tokens": request.max_tokens,
    }
    if model is not None:
        body["model"] = model
    if request.n > 1:
        body["n"] = request.n
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = request.stop[:SENT]
    if request.tools:
        body["tools"] = request.tools
        body["messages"] = [*request.messages, *turns(request.rounds)]
    body.update(request.extra)
    return msgspec.json.encode(body)
