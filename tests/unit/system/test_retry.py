"""When another try is worth it, and how long it waits."""

import dataclasses
from typing import Any

import pytest

from model_accuracy_eval.system.retry import HUB, SERVICE, Failure, Liveness, Retries, http_failure, retry_after

NOW = 1_000_000_000.0


def retries(attempts: int = 6, chance: float = 1.0, liveness: Liveness | None = None, **more: Any) -> Retries:
    """The attempts of one request to the model's service."""
    policy = dataclasses.replace(SERVICE, attempts=attempts, **more)
    return Retries(policy, lambda: chance, liveness or Liveness(20.0))


OF_THE_MOMENT = dict.fromkeys([408, 425, 429, 499, 500, 502, 503, 504, 520, 529], ("failed", True))
OF_THE_REQUEST = dict.fromkeys([400, 401, 403, 404, 405, 409, 413, 415, 422, 451], ("rejected", False))
NEVER = dict.fromkeys([501, 505], ("failed", False))


@pytest.mark.parametrize(("status", "told"), (OF_THE_MOMENT | OF_THE_REQUEST | NEVER).items())
def test_rule_07_what_a_status_blames(status: int, told: tuple[str, bool]) -> None:
    """Only the moment is worth another try. What is not implemented stays so, but it is no judgement of the item."""
    failure = http_failure(status, "x")
    assert (failure.kind, failure.transient) == told


@pytest.mark.parametrize(("status", "attempts", "tries"), [(500, 10, 3), (503, 4, 4)])
def test_rule_07_500_is_tried_again_only_twice(status: int, attempts: int, tries: int) -> None:
    """Some servers say 500 to bad requests; other faults get as many attempts as the policy allows."""
    request, failure = retries(attempts=attempts), http_failure(status, "x")
    assert [request.wait(failure, NOW) is None for _ in range(tries)] == [False] * (tries - 1) + [True]


def test_one_attempt_means_no_retries() -> None:
    """With one attempt nothing is sent again, not even after a refused connection."""
    liveness = Liveness(20)
    request = retries(attempts=1, liveness=liveness)
    assert request.wait(http_failure(503, "x"), NOW) is None
    assert request.wait(Failure(kind="refused", sentence="x"), NOW) is None
    assert not liveness.gone


def test_back_off_doubles_up_to_its_cap_and_is_jittered_in_full() -> None:
    """The bound is 0.5, 1, 2, … 30 s, and chance takes any part of it."""
    assert [SERVICE.backoff(failures, 1.0) for failures in (1, 2, 3, 7, 5000)] == [0.5, 1.0, 2.0, 30.0, 30.0]
    assert SERVICE.backoff(3, 0.25) == 0.5
    assert SERVICE.backoff(3, 0.0) == 0.0


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
    assert retries(chance=0.0).wait(http_failure(429, "x", 7.0), NOW) == 7.0
    assert retries(chance=1.0).wait(http_failure(429, "x", 7.0), NOW) == 7.5
    assert retries(chance=0.0, longest_retry_after=60.0).wait(http_failure(429, "x", 9999.0), NOW) == 60.0


def test_rule_08_refusals_count_by_time_and_all_requests_together() -> None:
    """Whoever is refused first starts the clock, and when it has run out everybody gives up."""
    liveness = Liveness(20.0)
    first, second = retries(liveness=liveness), retries(liveness=liveness)
    refused = Failure(kind="refused", sentence="x")
    assert first.wait(refused, 100.0) == 0.5
    assert second.wait(refused, 119.9) == pytest.approx(0.1)
    assert not liveness.gone
    assert second.wait(refused, 120.0) is None
    assert liveness.gone
    assert first.wait(refused, 120.0) is None


def test_any_answer_stops_the_clock_of_refusals() -> None:
    """Only refusals without a break count: somebody who answers is there."""
    liveness = Liveness(20.0)
    request, refused = retries(liveness=liveness), Failure(kind="refused", sentence="x")
    request.wait(refused, 100.0)
    liveness.heard()
    assert request.wait(refused, 130.0) is not None
    assert not liveness.gone


def test_only_failures_in_a_row_without_progress_count() -> None:
    """After progress a request has all its attempts again."""
    request = Retries(dataclasses.replace(HUB, attempts=2), lambda: 1.0)
    assert request.wait(Failure(), NOW) is not None
    request.progressed()
    assert request.wait(Failure(), NOW) is not None
    assert request.wait(Failure(), NOW) is None


def test_a_server_that_says_nothing_may_get_fewer_attempts() -> None:
    """Where others answer the same requests; errors of the moment are tried as often as ever."""
    silence, error = Failure(sentence="x", silent=True), http_failure(503, "x")
    assert retries(silent_retries=0).wait(silence, NOW) is None
    some = retries(silent_retries=1)
    assert [some.wait(failure, NOW) is None for failure in (error, silence, error, silence)] == [
        False,
        False,
        False,
        True,
    ]
