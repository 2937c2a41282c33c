"""Which failures are worth another attempt, and how long to wait for it: one rule, and one row of numbers a server.

Pure: chance and time are arguments.
"""

import email.utils
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timezone

import msgspec

from model_accuracy_eval.records import FaultKind

_SERVER_ERRORS = frozenset(range(500, 1000))
_NOT_NOW = (_SERVER_ERRORS - {501, 505}) | {408, 425, 429, 499}
"""Statuses that blame the moment and not the request; 499 is a gateway that did not want to wait any longer. A server
that does not implement something (501, 505) will not do so in a minute."""

draw: Callable[[], float] = random.Random().random  # noqa: S311 - no secret
"""From a generator of its own: a task's function may seed the common one, and all shards would wait alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryPolicy:
    """How often a request to one kind of server is sent again, and after how many seconds."""

    attempts: int
    transient: frozenset[int]
    """Statuses after which another attempt may succeed."""
    base: float = 0.5
    """Seconds, the bound of the first wait. Each failure doubles it, up to `cap`; chance takes any part of it."""
    cap: float = 60.0
    longest_retry_after: float = math.inf
    """Seconds: a `retry-after` beyond this is cut to it."""
    retry_after_spread: float = 0.0
    """Seconds: up to so many are added to a `retry-after`, so that many clients do not return in the same instant."""
    doubtful_retries: int = 2
    """Attempts after the first for failures that may come from the request itself."""
    silent_retries: float = math.inf
    """Attempts after the first for a server that says nothing in time."""
    first_contact: float = math.inf
    """Seconds of waiting and of failed attempts for a server that has not answered at all yet."""

    def backoff(self, failures: int, chance: float) -> float:
        # The exponent is bounded too: 2.0 ** 1024 is an error.
        return chance * min(self.cap, self.base * 2.0 ** min(failures - 1, 30))


SERVICE = RetryPolicy(attempts=6, transient=_NOT_NOW, cap=30.0, retry_after_spread=0.5)
"""The model's service. The settings give the attempts, and the longest `retry-after` as the limit of an answer."""
HUB = RetryPolicy(attempts=8, transient=_NOT_NOW, longest_retry_after=600.0)
"""Hubs of weights. Only attempts in a row that bring no new byte count."""
ARTIFACTS = RetryPolicy(attempts=5, transient=frozenset({429, 500, 502, 503, 504}), base=6.0, first_contact=30.0)
"""The artifact service and its store."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why one attempt failed. The sentence does not mention attempts and seconds yet."""

    kind: FaultKind = "failed"
    sentence: str = ""
    status: int | None = None
    transient: bool = True
    """Whether another attempt may succeed."""
    doubtful: bool = False
    """Whether the request itself may be the cause, so that only a few attempts are worth while."""
    retry_after: float | None = None
    """Seconds that the server asks to wait."""
    silent: bool = False
    """Whether the server took the connection or the request and said nothing, or nothing more, in time."""


def http_failure(status: int, sentence: str, retry_after: float | None = None) -> Failure:
    """What an error status of the model's service means: most 4xx blame the request, the others the moment."""
    transient = status in SERVICE.transient
    return Failure(
        kind="rejected" if 400 <= status < 500 and not transient else "failed",
        sentence=sentence,
        status=status,
        transient=transient,
        # Two of three real servers answer 500 to a request that they cannot handle.
        doubtful=status == 500,
        retry_after=retry_after,
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    milliseconds, after = headers.get("retry-after-ms"), headers.get("retry-after")
    if milliseconds is not None and (number := _number(milliseconds)) is not None:
        return number / 1000
    if after is None:
        return None
    if (number := _number(after)) is not None:
        return number
    try:
        date = email.utils.parsedate_to_datetime(after)
    except (ValueError, IndexError, TypeError):
        return None
    # A date without a zone is meant as GMT, the only one HTTP knows.
    date = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    return max(0.0, date.timestamp() - now)


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if text.replace(".", "", 1).isdigit() and text.isascii() else None


class Liveness:
    """Whether the service still listens, judged from all requests of a client together."""

    def __init__(self, gone_after: float) -> None:
        self.gone_after = gone_after
        self.gone = False
        """Final: a server that was away for so long has crashed, and its restart would be another run."""
        self._refused_since: float | None = None

    def heard(self) -> None:
        """Notes an answer, which may be an error."""
        self._refused_since = None

    def refused(self, now: float) -> float:
        """Notes a refused connection; returns the seconds that are left until the service counts as gone."""
        if self._refused_since is None:
            self._refused_since = now
        left = self._refused_since + self.gone_after - now
        self.gone = self.gone or left <= 0
        return left


class Retries:
    """The attempts of one request. With `liveness`, refused connections have a time limit instead of a count."""

    def __init__(
        self, policy: RetryPolicy, chance: Callable[[], float] = draw, liveness: Liveness | None = None
    ) -> None:
        self.policy = policy
        self.failures = 0
        self._chance = chance
        self._liveness = liveness
        self._refusals = 0
        self._doubtful = 0
        self._silences = 0

    def progressed(self) -> None:
        """Starts the count anew: the last attempt failed, but it brought something."""
        self.failures = 0

    def wait(self, failure: Failure, now: float) -> float | None:
        """Seconds to wait before the next attempt; None when there is to be none."""
        if failure.kind == "refused" and self._liveness is not None:
            return self._wait_for_listener(self._liveness, now)
        self.failures += 1
        self._doubtful += failure.doubtful
        self._silences += failure.silent
        if not failure.transient or self._is_used_up():
            return None
        if failure.retry_after is None:
            return self.policy.backoff(self.failures, self._chance())
        # Never before the time that the server named.
        spread = self.policy.retry_after_spread * self._chance()
        return min(failure.retry_after, self.policy.longest_retry_after) + spread

    def _is_used_up(self) -> bool:
        policy = self.policy
        few_left = self._doubtful > policy.doubtful_retries or self._silences > policy.silent_retries
        return few_left or self.failures >= policy.attempts

    def _wait_for_listener(self, liveness: Liveness, now: float) -> float | None:
        """All requests reach this time limit together."""
        if self.policy.attempts == 1:
            return None
        left = liveness.refused(now)
        if liveness.gone:
            return None
        self._refusals += 1
        return min(self.policy.backoff(self._refusals, self._chance()), left)
