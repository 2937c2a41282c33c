"""Requests as they are sent, and the shapes of answers that are understood."""

import json
from typing import Any

import msgspec
import pytest

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.records import Message, Request, Usage
from model_accuracy_eval.system.media_files import MediaFiles


def raw(tree: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(tree).encode())


def request(**more: Any) -> Request:
    return Request(messages=(Message(role="user", content="1 + 1 = ?"),), **more)


def test_rule_09_only_what_openai_defines_is_sent() -> None:
    """A plain request has no field that a strict server would refuse."""
    assert json.loads(wire_format.encode_request("m", request(), MediaFiles().read)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "1 + 1 = ?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 512,
    }


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": None, "tool_calls": None}}]},
        {"created": "yesterday", "id": 7, "model": None, "object": [], "choices": [{"logprobs": "none"}]},
    ],
)
def test_rule_02_missing_and_null_fields_are_taken_by_the_fast_path(event: Any) -> None:
    """Harmless fields of any type, and needed ones that are missing, cost no slow path."""
    chunk = wire_format.decode_chunk(json.dumps(event).encode())
    assert all(part.index == 0 and part.finish_reason is None for part in chunk.choices or [])


@pytest.mark.parametrize(
    ("event", "index", "content", "reason"),
    [
        (b'{"choices": [{"index": "2", "delta": {"content": "a"}}]}', 2, "a", None),
        (b'{"choices": [{"index": 1.0, "delta": {"content": "a"}}]}', 1, "a", None),
        (b'{"choices": [{"index": null, "delta": {"content": "a"}}]}', 0, "a", None),
        (b'{"choices": [{"index": -1, "delta": {"content": "a"}}]}', 0, "a", None),
        (b'{"choices": [{"delta": {"content": "a", "reasoning": {}}}]}', 0, "a", None),
        (b'{"choices": [{"delta": {"content": 5}, "finish_reason": 3}]}', 0, None, "3"),
        (b'{"choices": [null, {"delta": {"content": "a"}, "x": NaN}]}', 0, "a", None),
        (b'{"choices": [{"delta": {"content": "a\xff"}}]}', 0, "a\ufffd", None),
        (b'{"choices": [{"delta": {"content": "\\ud83d"}}]}', 0, "\ud83d", None),
    ],
)
def test_valid_fields_are_read_beside_fields_of_wrong_types(
    event: bytes, index: int, content: str | None, reason: str | None
) -> None:
    """A field of the wrong type does not spoil its neighbours."""
    (part,) = wire_format.decode_odd(event).choices or []
    assert part.delta is not None
    assert (part.index, part.delta.content, part.finish_reason) == (index, content, reason)


@pytest.mark.parametrize("event", [b"", b"[1]", b'{"choices": [', b"null", b"hello"])
def test_an_event_that_is_no_json_object_is_refused(event: bytes) -> None:
    """Nothing is guessed out of broken JSON."""
    with pytest.raises(ValueError):
        wire_format.decode_odd(event)


def test_content_in_parts_is_joined() -> None:
    """A list of content parts gives its texts; other parts have none."""
    assert (
        wire_format.join_parts([{"type": "text", "text": "a"}, {"type": "image"}, "x", {"text": "b"}, {"text": 1}])
        == "ab"
    )


def test_a_character_sent_in_two_halves_is_whole_again() -> None:
    """Two surrogates make a character, one alone is marked as broken, and sound text stays as it is."""
    assert wire_format.join_surrogates("a\ud83d\ude00b") == "a😀b"
    assert wire_format.join_surrogates("a\ud83d") == "a\ufffd"
    assert wire_format.join_surrogates("żółw 😀") == "żółw 😀"


@pytest.mark.parametrize(
    ("tree", "usage"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}, Usage(prompt_tokens=3, completion_tokens=5)),
        (
            {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 4}},
            Usage(completion_tokens=5, reasoning_tokens=4),
        ),
        ({"completion_tokens": 5, "reasoning_tokens": 2}, Usage(completion_tokens=5, reasoning_tokens=2)),
        ({"prompt_tokens": "3", "completion_tokens": -1, "prefill_time": 4.2}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, Usage()),
        ([], None),
        (None, None),
    ],
)
def test_rule_14_usage_is_read_where_it_is_a_count(tree: Any, usage: Usage | None) -> None:
    """Whole numbers are counts, anything else is unknown."""
    assert wire_format.read_usage(raw(tree)) == usage


def listed(*entries: Any) -> bytes:
    return json.dumps({"object": "list", "data": list(entries)}).encode()


@pytest.mark.parametrize("length", [None, 0, -1, True, "4096", 4096.5, [4096], {"tokens": 4096}])
def test_a_context_length_that_is_no_number_of_tokens_is_unknown(length: Any) -> None:
    """Some servers write what they please there."""
    assert wire_format.read_context(listed({"id": "m", "max_model_len": length}), "m") is None


def test_the_context_length_is_that_of_the_requested_model() -> None:
    """One model alone needs no name; of several none is guessed."""
    one, other = {"id": "one", "max_model_len": 512}, {"id": "other", "max_model_len": 4096}
    assert [wire_format.read_context(listed(one, other), name) for name in ("one", "other", "third", None)] == [
        512,
        4096,
        None,
        None,
    ]
    assert wire_format.read_context(listed(one), None) == 512
    assert wire_format.read_context(listed(one), "an alias") == 512


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"data": {}}', b'{"data": null}', b"Internal Server Error"]
)
def test_a_body_of_another_shape_lists_no_models(body: bytes) -> None:
    """The list of models is a hint, so nothing in it can be an error."""
    assert (wire_format.read_models(body), wire_format.read_context(body, "m")) == ((), None)


def test_model_ids_are_read_where_there_are_any() -> None:
    """Beside entries without one."""
    assert wire_format.read_models(b'{"data": [{"id": 1}, {}, 1, null, {"id": "a"}, {"id": "b"}]}') == ("a", "b")
