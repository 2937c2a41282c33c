"""A stream that is ended from here is an answer, wherever its bytes were cut."""

import httpx

from model_accuracy_eval.rim.service.gathering import Gathering
from model_accuracy_eval.rim.service.sink import ENOUGH, FLOWING

STOPS = ("1", "2", "3", "4", "halt")


def test_c9_half_an_event_behind_a_stop_says_nothing() -> None:
    """The reading stops at what has stopped, and what else has come is not looked at."""
    gathering = Gathering(STOPS)
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n'
    assert gathering.take(event % b"amber ha", 1.0) == FLOWING
    assert gathering.take(event % b"lt and" + b'data: {"choices": [{"ind', 2.0) == ENOUGH
    answer = gathering.answer(httpx.Response(200, extensions={"sent": 0.0}))
    assert isinstance(answer, tuple)
    (choice,), _ = answer
    assert (choice.text, choice.finish_reason, choice.timings.ttft) == ("amber ", "stop", 1.0)
