"""The message and the status in the body of an error."""

import json
from typing import Any

import pytest

from model_accuracy_eval.client import error_bodies


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "no such model", "code": 404}}, "no such model", 404),
        ({"error": {"message": "bad", "code": "context_length_exceeded"}}, "bad", None),
        ({"error": "Unauthorized"}, "Unauthorized", None),
        ({"error": {"message": "busy", "code": "503"}}, "busy", 503),
        ({"object": "error", "message": "flat", "code": 400}, "flat", 400),
        ({"message": "plain"}, "plain", None),
        ({"detail": "Not Found"}, "Not Found", None),
        ({"detail": [{"loc": ["body", "n"], "msg": "too big"}, "other"]}, "body.n: too big; other", None),
        ({"detail": {"message": "deep"}}, "deep", None),
        ({"error": None, "message": "beside it"}, "beside it", None),
        ({"error": {"type": "x"}}, '{"error": {"type": "x"}}', None),
        ("Internal Server Error", '"Internal Server Error"', None),
    ],
)
def test_rule_06_the_servers_message_is_found(body: Any, message: str, code: int | None) -> None:
    """Every known place of an error message is looked at, and the raw body is the last resort."""
    found, status = error_bodies.read_error(json.dumps(body).encode())
    assert (found if body != "Internal Server Error" else json.dumps(found), status) == (message, code)


def test_a_body_that_is_no_json_is_shown_cut_and_on_one_line() -> None:
    """A page or a trace becomes a short excerpt, broken characters and all."""
    message, code = error_bodies.read_error(b"<html>\n\n <h1>Bad \xff Gateway</h1>" + b"x" * 5000)
    assert message.startswith("<html> <h1>Bad \ufffd Gateway</h1>xxx")
    assert (len(message), message[-1], code) == (300, "…", None)
