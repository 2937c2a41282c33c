"""What goes over the wire: requests as OpenAI defines them, and the many shapes in which servers answer."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

import msgspec

from model_accuracy_eval.client import dialects
from model_accuracy_eval.client.dialects import REASONING_FIELDS, Chunk, ChunkChoice, Delta
from model_accuracy_eval.records import JSONObject, Media, Message, Request, ToldToken, ToolCall, ToolRound, Usage
from model_accuracy_eval.records.exchange import DOES_NOT_FIT
from model_accuracy_eval.system.retry import Failure, http_failure

# Messages as OpenAI defines them: texts alone, or lists of parts with pictures, sounds and videos.


ReadMedia = Callable[[Media], bytes]
"""Brings the bytes of a picture, sound or video."""


def _content(message: Message, read: ReadMedia) -> str | list[JSONObject]:
    if not message.media:
        return message.content
    return [{"type": "text", "text": part} if isinstance(part, str) else _part(part, read) for part in message.parts]


def _part(media: Media, read: ReadMedia) -> JSONObject:
    """`input_audio` is OpenAI's and takes no address; `audio_url` and `video_url` are vLLM's and SGLang's."""
    if media.kind == "audio" and not media.url:
        data = base64.b64encode(read(media)).decode("ascii")
        return {"type": "input_audio", "input_audio": {"data": data, "format": media.format}}
    url = media.url or (f"data:{media.kind}/{media.format};base64,{base64.b64encode(read(media)).decode('ascii')}")
    return {"type": f"{media.kind}_url", f"{media.kind}_url": {"url": url}}


# Tool calls: assembled from the fragments of a stream, and sent back as messages together with their results.
#
# Most servers send id and name once and the arguments in pieces; an index says which call a piece belongs to. Some
# repeat id and name with every piece, some make up a new id for every piece, some send complete calls, all under index
# 0 or without one, and some send the arguments as an object instead of a string.


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
        return bool(name and self.name) and (call_id != self.id or is_object(self.arguments))


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


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
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
    arguments = call.arguments if is_object(call.arguments) else "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


decode_chunk = msgspec.json.Decoder(Chunk).decode
"""Decodes the usual shapes only, and fast. Raises `ValueError` for all others, which `decode_odd` reads."""
_decode_told = msgspec.json.Decoder(dialects.ToldChunk).decode


def told_tokens(event: bytes) -> Iterator[tuple[int, list[ToldToken]]]:
    """The tokens of each choice of an event; none of one that tells them in a form of its own."""
    try:
        choices = _decode_told(event).choices
    except ValueError:
        return
    for choice in choices:
        told = (choice.logprobs and choice.logprobs.content) or []
        yield (
            choice.index,
            [
                ToldToken(
                    text=one.token if one else "",
                    logprob=one.logprob if one else None,
                    likeliest=tuple((top.token, top.logprob) for top in (one and one.top_logprobs) or ()),
                    id=number,
                )
                for one, number in zip_longest(told, choice.token_ids or ())
            ],
        )


def decode_odd(data: bytes) -> Chunk:
    """Decodes a chunk with wrong types, broken UTF-8, half surrogates or NaN, and keeps its valid fields.

    Raises `ValueError` if it is no JSON object at all.
    """
    tree = json.loads(data.decode("utf-8", "replace"))
    if not isinstance(tree, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 – for the caller this is data, not a type
    choices = tree.get("choices")
    items = [_odd_choice(item) for item in choices if isinstance(item, dict)] if isinstance(choices, list) else None
    return Chunk(choices=items, usage=_raw(tree.get("usage")), error=_raw(tree.get("error")))


def _odd_choice(item: JSONObject) -> ChunkChoice:
    reason, text = item.get("finish_reason"), item.get("text")
    return ChunkChoice(
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


def _odd_delta(tree: object) -> Delta | None:
    if not isinstance(tree, dict):
        return None
    content = tree.get("content")
    return Delta(
        content=content if isinstance(content, (str, list)) else None,
        tool_calls=_raw(tree.get("tool_calls")),
        function_call=_raw(tree.get("function_call")),
        **{name: tree[name] for name in REASONING_FIELDS if isinstance(tree.get(name), str)},
    )


def _raw(tree: object) -> msgspec.Raw:
    return msgspec.Raw() if tree is None else msgspec.Raw(json.dumps(tree).encode())


def has_content(raw: msgspec.Raw) -> bool:
    """Whether a raw field is present and neither null, false nor empty."""
    return bool(raw) and bytes(raw) not in (b"null", b"false", b"[]", b"{}", b'""')


def is_error(chunk: Chunk, event: bytes) -> bool:
    """Whether an event has an `error`, or one of the flat shapes that some servers use instead."""
    if has_content(chunk.error):
        return True
    if chunk.choices is not None or has_content(chunk.usage):
        return False
    tree = json.loads(event.decode("utf-8", "replace"))
    return tree.get("object") == "error" or any(name in tree for name in dialects.FLAT_ERROR_FIELDS)


def join_parts(content: list[object]) -> str:
    """The text of a content that is a list of parts."""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def join_surrogates(text: str) -> str:
    """Joins the two halves of a character that a server sent in two events; a lone half becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def read_usage(raw: msgspec.Raw) -> Usage | None:
    """Token counts. A missing one, or one that is no whole number, stays unknown."""
    tree = json.loads(bytes(raw)) if raw else None
    if not isinstance(tree, dict):
        return None
    return Usage(
        prompt_tokens=_count(tree.get("prompt_tokens")),
        completion_tokens=_count(tree.get("completion_tokens")),
        reasoning_tokens=_first_count(tree, dialects.REASONING_TOKENS),
        cached_tokens=_first_count(tree, dialects.CACHED_TOKENS),
    )


def _first_count(tree: object, paths: Iterable[tuple[str, ...]]) -> int | None:
    found = (_at(tree, path) for path in paths)
    return _count(next((count for count in found if count is not None), None))


def _at(tree: object, path: tuple[str, ...]) -> object:
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def read_models(body: bytes) -> tuple[str, ...]:
    """Ids in the answer of `/v1/models`; empty if the body is anything else."""
    return tuple(entry["id"] for entry in _listed_models(body))


def read_context(body: bytes, model: str | None) -> int | None:
    """The context length of the model in `/v1/models`, or of the only one that is listed."""
    length = _listed_model(body, model).get(dialects.CONTEXT_LENGTH)
    return length if type(length) is int and length > 0 else None


def read_text(body: bytes, name: str) -> str:
    """A field of an object; empty if there is no such text."""
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    value = tree.get(name) if isinstance(tree, dict) else None
    return value[:100] if isinstance(value, str) else ""


def read_owner(body: bytes, model: str | None) -> str:
    """`owned_by` of the model in `/v1/models`, or of the only one that is listed; empty if it is not there."""
    owner = _listed_model(body, model).get("owned_by")
    return owner if isinstance(owner, str) else ""


def _listed_model(body: bytes, model: str | None) -> JSONObject:
    entries = _listed_models(body)
    matches = [entry for entry in entries if entry["id"] == model] or (entries if len(entries) == 1 else [])
    return matches[0] if matches else {}


def _listed_models(body: bytes) -> list[JSONObject]:
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return []
    items = tree.get("data") if isinstance(tree, dict) else None
    entries = items if isinstance(items, list) else []
    return [item for item in entries if isinstance(item, dict) and isinstance(item.get("id"), str)]


def encode_request(model: str | None, request: Request, read: ReadMedia) -> bytes:
    """The body of a request. It has only fields that OpenAI defines, since some servers refuse all others.

    Temperature and top_p are always sent, because every server has defaults of its own; `n` only if it is more
    than one. `extra` holds the user's own fields and overrides the others.
    """
    messages = [{"role": message.role, "content": _content(message, read)} for message in request.messages]
    body: JSONObject = {"messages": messages} if request.text is None else {"prompt": request.text}
    body |= {
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": request.temperature,
        "top_p": request.top_p,
        dialects.MAX_TOKENS: request.max_tokens,
    }
    if model is not None:
        body["model"] = model
    if request.n > 1:
        body["n"] = request.n
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = request.stop[: dialects.STOPS_SENT]
    if request.tools:
        body["tools"] = request.tools
        body["messages"] = [*messages, *tool_messages(request.rounds)]
    body.update(request.extra)
    return msgspec.json.encode(body)


# The message and the status in the body of an error, from the many places where servers put them.


_EXCERPT = 300
_UNAVAILABLE = 503


def read_error(body: bytes) -> tuple[str, int | None]:
    """The server's message and HTTP status, wherever it put them; without a message, an excerpt of the body."""
    try:
        tree = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        tree = None
    error = tree.get("error") if isinstance(tree, dict) and tree.get("error") else tree
    message = _message(error)
    if message is None:
        message = body.decode("utf-8", "replace")
    return excerpt(message), _status(error)


def error_failure(status: int, sentence: str, retry_after: float | None = None) -> Failure:
    """What an error of the service means; a request that is too long is rejected, whatever the status."""
    if any(words in sentence for words in dialects.TOO_LONG):
        return Failure(kind="rejected", sentence=f"{DOES_NOT_FIT}: {sentence}", status=status, transient=False)
    failure = http_failure(status, sentence, retry_after)
    if status == _UNAVAILABLE and any(words in sentence for words in dialects.LOADING):
        # As if nobody listened yet: it takes as long as a start takes, and not a number of tries.
        return msgspec.structs.replace(failure, kind="refused", retry_after=None)
    return failure


def _message(error: object) -> str | None:
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return None
    for name in dialects.ERROR_MESSAGE_FIELDS:
        value = error.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return "; ".join(_validation_error(item) for item in value)
        if isinstance(value, dict) and value:
            return _message(value) or json.dumps(value, ensure_ascii=False)
    return None


def _validation_error(item: object) -> str:
    """One entry of FastAPI's list of validation errors, as `body.messages: Field required`."""
    if isinstance(item, dict) and "msg" in item:
        location = item.get("loc")
        path = ".".join(str(name) for name in location) if isinstance(location, list) else ""
        return f"{path}: {item['msg']}" if path else str(item["msg"])
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def _status(error: object) -> int | None:
    """The HTTP status inside an error object; servers also put codes of their own there, which are ignored."""
    if not isinstance(error, dict):
        return None
    for name in dialects.ERROR_STATUS_FIELDS:
        code = error.get(name)
        if isinstance(code, (int, str)) and str(code).isdecimal() and 400 <= int(code) < 600:
            return int(code)
    return None


def excerpt(text: str, length: int = _EXCERPT) -> str:
    """One line of text, cut to a length that fits into a sentence."""
    text = " ".join(text[: 8 * length].split())
    return text if len(text) <= length else f"{text[: length - 1]}…"
