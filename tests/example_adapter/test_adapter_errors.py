"""Refusals: the right status, in one envelope, naming the field."""

from __future__ import annotations

import pytest
from tests.example_adapter.client import Server

GOOD = [{"role": "user", "content": "1+1="}]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": "warm"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"n": 0}, "n"),
        ({"seed": "x"}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": 5}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages"),
        ({"messages": [{"role": "user", "content": "1" * 2048}]}, "input_text"),
        ({"messages": [{"role": "user", "content": "1 × 1 ="}]}, "input_text"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "input_text"),
    ],
)
def test_a_wrong_chat_field_is_named(server: Server, fields: dict[str, object], param: str) -> None:
    """A chat field with a wrong value is a 400 that names it."""
    answer = server.post("/v1/chat/completions", **{"messages": GOOD, **fields})
    assert answer.status == 400
    assert answer.error["param"] == param


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": None}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": [128]}, "prompt"),
        ({"prompt": ""}, "input_text"),
        ({"prompt": "1" * 2049, "echo": True, "max_tokens": 0}, "input_text"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"logprobs": 21}, "logprobs"),
        ({"echo": 1}, "echo"),
    ],
)
def test_a_wrong_completion_field_is_named(server: Server, fields: dict[str, object], param: str) -> None:
    """A completion field with a wrong value is a 400 that names it."""
    answer = server.post("/v1/completions", **{"prompt": "1+1=", **fields})
    assert answer.status == 400
    assert answer.error["param"] == param


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"5", b"\xff", b"[" * 100_000, b'{"n":' + b"9" * 5000 + b"}"])
def test_a_body_that_is_no_json_object_is_refused(server: Server, body: bytes) -> None:
    """What is not a JSON object is a 400."""
    answer = server.send("POST", "/v1/chat/completions", body)
    assert answer.status == 400
    assert answer.error["param"] == "body"


def test_a_stranger_is_named(server: Server) -> None:
    """The refusal of a character outside the vocabulary shows the character."""
    assert "'×'" in server.chat("3×4=").error["message"]


def test_nulls_and_unknown_fields_are_passed_over(server: Server) -> None:
    """Null counts as absent, and fields of other servers are ignored."""
    asked = {"n": None, "seed": None, "stop": None, "stream_options": None, "repetition_penalty": 1.1}
    assert server.texts("27+58=", temperature=0, **asked) == ["85"]


def test_an_unknown_model_is_not_found(server: Server) -> None:
    """A model of another name is a 404; the right name, or none, is served."""
    answer = server.chat("1+1=", model="another")
    assert answer.status == 404
    assert answer.error["type"] == "NotFoundError"
    assert server.chat("1+1=", model="weights").status == 200
