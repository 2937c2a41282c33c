"""The table of server quirks: what the client reads and sends follows its rows, and each row names its servers."""

import json
from typing import Any

import httpx
import msgspec
import pytest

from model_accuracy_eval.client import dialects, wire_format
from model_accuracy_eval.client.stream_parser import StreamBroken, StreamParser
from model_accuracy_eval.records import Choice
from model_accuracy_eval.system.retry import Failure


def parsed(*events: Any) -> Choice | Failure:
    """The one choice of a stream of such events, or why there is none."""
    parser = StreamParser()
    for event in events:
        parser.feed(b"data: " + json.dumps(event).encode() + b"\n\n", 1.0)
    result = parser.result(httpx.Response(200, extensions={"sent": 0.0}))
    return result if isinstance(result, Failure) else result[0][0]


def chunk(finish_reason: str | None = None, **delta: Any) -> Any:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


@pytest.mark.parametrize("name", dialects.REASONING_FIELDS)
def test_reasoning_is_read_from_every_field(name: str) -> None:
    """By full decoding, by the decoding of odd events, and by fast decoding."""
    odd: Any = {"choices": [{"index": 0, "delta": {name: "c", "content": 5}}]}
    choice = parsed(
        *({"choices": [{"index": 0, "delta": {name: text}}]} for text in ("a", "b")), odd, chunk("stop", content="d")
    )
    assert isinstance(choice, Choice)
    assert (choice.reasoning, choice.text) == ("abc", "d")


@pytest.mark.parametrize("reason", dialects.FAILED_FINISH_REASONS)
def test_every_failed_finish_reason_fails(reason: str) -> None:
    """Whatever text came before it, and whatever reason."""
    failure = parsed(chunk(content="a"), chunk("stop"), chunk(reason))
    assert isinstance(failure, Failure)
    assert failure.sentence == f"The service gave up: finish_reason '{reason}'"


@pytest.mark.parametrize("path", dialects.REASONING_TOKENS)
def test_reasoning_tokens_are_read_from_every_place(path: tuple[str, ...]) -> None:
    """In `usage` itself or in its details."""
    tree: Any = 7
    for name in reversed(path):
        tree = {name: tree}
    usage = wire_format.read_usage(msgspec.Raw(json.dumps({"completion_tokens": 9, **tree}).encode()))
    assert usage is not None
    assert (usage.completion_tokens, usage.reasoning_tokens) == (9, 7)


@pytest.mark.parametrize("name", dialects.FLAT_ERROR_FIELDS)
def test_an_event_with_a_flat_error_field_is_an_error(name: str) -> None:
    """With the server's message."""
    with pytest.raises(StreamBroken, match="out of memory"):
        parsed({name: "out of memory"})
