"""The message and the status in the body of an error."""

import json
from typing import Any

import pytest

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.records.exchange import DOES_NOT_FIT
from model_accuracy_eval.system.retry import http_failure


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
    found, status = wire_format.read_error(json.dumps(body).encode())
    assert (found if body != "Internal Server Error" else json.dumps(found), status) == (message, code)


def test_a_body_that_is_no_json_is_shown_cut_and_on_one_line() -> None:
    """A page or a trace becomes a short excerpt, broken characters and all."""
    message, code = wire_format.read_error(b"<html>\n\n <h1>Bad \xff Gateway</h1>" + b"x" * 5000)
    assert message.startswith("<html> <h1>Bad \ufffd Gateway</h1>xxx")
    assert (len(message), message[-1], code) == (300, "…", None)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 512 tokens. However, you requested 1621 tokens"),
        (400, "max_tokens=100000 cannot be greater than max_model_len=512. Please request fewer output tokens."),
        (400, "The input (4100 tokens) is longer than the model's context length (4096 tokens)."),
        (
            500,
            "the request exceeds the available context size. try increasing the context size or enable context shift",
        ),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens"),
    ],
)
def test_a_request_that_is_too_long_is_rejected_at_once(status: int, message: str) -> None:
    """In the words of several servers, with any status; another try would be as long."""
    failure = wire_format.error_failure(status, f"HTTP {status}: {message}")
    assert (failure.kind, failure.transient, failure.status) == ("rejected", False, status)
    assert failure.sentence == f"{DOES_NOT_FIT}: HTTP {status}: {message}"


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_other_errors_mean_what_their_status_means(status: int) -> None:
    """Nothing is said about a context that the service did not speak of."""
    assert wire_format.error_failure(status, "trouble", 2.0) == http_failure(status, "trouble", 2.0)
