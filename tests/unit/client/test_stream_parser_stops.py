"""A stream that the client itself ends is an answer, wherever its bytes were cut."""

import httpx

from model_accuracy_eval.client.connection import ENOUGH, FLOWING
from model_accuracy_eval.client.stream_parser import StreamParser

STOPS = ("1", "2", "3", "4", "halt")


def test_c9_half_an_event_after_a_stop_is_ignored() -> None:
    """The reading stops at what has stopped, and what else has come is not looked at."""
    parser = StreamParser(STOPS)
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n'
    assert parser.feed(event % b"amber ha", 1.0) == FLOWING
    assert parser.feed(event % b"lt and" + b'data: {"choices": [{"ind', 2.0) == ENOUGH
    answer = parser.result(httpx.Response(200, extensions={"sent": 0.0}))
    assert isinstance(answer, tuple)
    (choice,), _ = answer
    assert (choice.text, choice.finish_reason, choice.timings.ttft) == ("amber ", "stop", 1.0)
