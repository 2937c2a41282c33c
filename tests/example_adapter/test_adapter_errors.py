"""Refusals: the right status, in one envelope, naming the field."""

from __future__ import annotations

from http.client import HTTPConnection

import pytest
from tests.example_adapter.client import Server
from tests.waiting import HANGING

GOOD = [{"role": "user", "content": "1+1="}]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"n": 0}, "n"),
        ({"n": 1.5}, "n"),
        ({"n": True}, "n"),
        ({"seed": "x"}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 3000}, "max_tokens"),
        ({"max_completion_tokens": -1}, "max_completion_tokens"),
        ({"stop": 5}, "stop"),
        ({"stop": ["a", 5]}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream": True, "stream_options": "usage"}, "stream_options"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "1+1="}, "messages"),
        ({"messages": [{"content": "1+1="}]}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages"),
        ({"messages": [{"role": "user", "content": ""}]}, "input_text"),
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
        ({"prompt": 5}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": ["1+1=", 5]}, "prompt"),
        ({"prompt": [128]}, "prompt"),
        ({"prompt": [-1]}, "prompt"),
        ({"prompt": [True]}, "prompt"),
        ({"prompt": ""}, "input_text"),
        ({"prompt": "1" * 2049, "echo": True, "max_tokens": 0}, "input_text"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"logprobs": 21}, "logprobs"),
        ({"logprobs": True}, "logprobs"),
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


def test_a_full_context_is_allowed(server: Server) -> None:
    """A prompt one token short of the context leaves room for one token; echo alone may fill it."""
    assert server.chat("1" * 2047).json["usage"]["completion_tokens"] == 1
    assert server.complete("1" * 2048, echo=True, max_tokens=0).status == 200


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


def test_an_unknown_path_is_not_found(server: Server) -> None:
    """A path that is not served is a 404 in the same envelope."""
    assert server.get("/v2/models").status == 404
    assert server.get("/v2/models").error["type"] == "NotFoundError"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/chat/completions"), ("POST", "/v1/models"), ("DELETE", "/health")]
)
def test_a_wrong_method_is_refused(server: Server, method: str, path: str) -> None:
    """A wrong method is a 405."""
    answer = server.send(method, path)
    assert answer.status == 405
    assert answer.error["message"]


def test_a_connection_survives_refusals(server: Server) -> None:
    """After an error the same connection answers the next request."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=HANGING)
    for body, status in ((b"{", 400), (b'{"model":"x"}', 404), (b'{"prompt":"1+1="}', 200)):
        connection.request("POST", "/v1/completions", body)
        response = connection.getresponse()
        assert response.status == status
        response.read()
        assert connection.sock is not None
    connection.close()


def test_a_body_must_state_its_length(server: Server) -> None:
    """A body sent in chunks is a 411, one too large a 413, and both end the connection."""
    for headers, status in (({"Transfer-Encoding": "chunked"}, 411), ({"Content-Length": str(2**40)}, 413)):
        connection = HTTPConnection("127.0.0.1", server.port, timeout=HANGING)
        connection.putrequest("POST", "/v1/completions")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        assert response.status == status
        assert response.getheader("Connection") == "close"
        connection.close()
