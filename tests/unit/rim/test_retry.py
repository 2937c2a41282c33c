"""When another try is worth it, and how long it waits."""

from typing import Any

import pytest

from model_accuracy_eval.records import Patience
from model_accuracy_eval.rim.service.retry import (
    BASE,
    CAP,
    Presence,
    Schedule,
    Trouble,
    backoff,
    http_trouble,
    retry_after,
)

NOW = 1_000_000_000.0


def schedule(retries: int = 5, chance: float = 1.0, presence: Presence | None = None, **more: Any) -> Schedule:
    patience = Patience(retries=retries, **more)
    return Schedule(patience, presence or Presence(patience.gone_after), lambda: chance)


@pytest.mark.parametrize("status", [408, 425, 429, 499, 500, 502, 503, 504, 520, 529])
def test_rule_07_the_moment_is_to_blame(status: int) -> None:
    """These statuses say nothing about the request, so it is sent again and counts as failed in the end."""
    trouble = http_trouble(status, "x")
    assert (trouble.kind, trouble.again) == ("failed", True)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422, 451])
def test_rule_07_the_request_is_to_blame(status: int) -> None:
    """These statuses judge the request, so it is not sent again."""
    trouble = http_trouble(status, "x")
    assert (trouble.kind, trouble.again) == ("rejected", False)


@pytest.mark.parametrize("status", [501, 505])
def test_a_server_that_never_will_is_not_asked_again(status: int) -> None:
    """Not implemented stays not implemented, but it is no judgement of the item."""
    trouble = http_trouble(status, "x")
    assert (trouble.kind, trouble.again) == ("failed", False)


def test_rule_07_500_is_tried_again_only_twice() -> None:
    """Some servers say 500 to bad requests, so 500 gets fewer tries than the patience allows."""
    plan, trouble = schedule(retries=9), http_trouble(500, "x")
    assert [plan.wait(trouble, NOW) is None for _ in range(3)] == [False, False, True]


def test_other_faults_get_as_many_tries_as_configured() -> None:
    """`retries` more tries after the first, then none."""
    plan, trouble = schedule(retries=3), http_trouble(503, "x")
    assert [plan.wait(trouble, NOW) is None for _ in range(4)] == [False, False, False, True]


def test_no_retries_means_one_try() -> None:
    """With `retries=0` nothing is tried again, not even a refused connection."""
    presence = Presence(20)
    plan = schedule(retries=0, presence=presence)
    assert plan.wait(http_trouble(503, "x"), NOW) is None
    assert plan.wait(Trouble(kind="refused", sentence="x"), NOW) is None
    assert not presence.gone


def test_back_off_doubles_up_to_its_cap_and_is_jittered_in_full() -> None:
    """The bound is 0.5, 1, 2, … 30 s, and chance takes any part of it."""
    assert [backoff(failures, 1.0) for failures in (1, 2, 3, 7, 5000)] == [BASE, 1.0, 2.0, CAP, CAP]
    assert backoff(3, 0.25) == 0.5
    assert backoff(3, 0.0) == 0.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "Sun, 09 Sep 2001 01:47:10 GMT"}, 30.0),
        ({"retry-after": "Sun, 09 Sep 2001 01:47:10 -0000"}, 30.0),
        ({"retry-after": "Sun, 09 Sep 2001 01:40:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "later", "retry-after": "9"}, 9.0),
    ],
)
def test_retry_after_is_read_in_seconds_milliseconds_and_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    """Every form of the header is understood, and nonsense is no header."""
    assert retry_after(headers, NOW) == seconds


def test_retry_after_is_obeyed_within_the_total_time_limit() -> None:
    """Never earlier than the server said, unless it asks for more than an answer may take at all."""
    assert schedule(chance=0.0).wait(http_trouble(429, "x", 7.0), NOW) == 7.0
    assert schedule(chance=1.0).wait(http_trouble(429, "x", 7.0), NOW) == 7.0 + BASE
    assert schedule(chance=0.0, total_timeout=60.0).wait(http_trouble(429, "x", 9999.0), NOW) == 60.0


def test_rule_08_refusals_count_by_time_and_all_requests_together() -> None:
    """Whoever is refused first starts the clock, and when it has run out everybody gives up."""
    presence = Presence(20.0)
    one, two = schedule(presence=presence), schedule(presence=presence)
    refused = Trouble(kind="refused", sentence="x")
    assert one.wait(refused, 100.0) == BASE
    assert two.wait(refused, 119.9) == pytest.approx(0.1)
    assert not presence.gone
    assert two.wait(refused, 120.0) is None
    assert presence.gone
    assert one.wait(refused, 120.0) is None


def test_any_answer_stops_the_clock_of_refusals() -> None:
    """Only refusals without a break count: somebody who answers is there."""
    presence = Presence(20.0)
    plan, refused = schedule(presence=presence), Trouble(kind="refused", sentence="x")
    plan.wait(refused, 100.0)
    presence.heard()
    assert plan.wait(refused, 130.0) is not None
    assert not presence.gone
