"""Which faults are worth another try, and how long to wait for it. Pure: chance and time are handed in."""

import email.utils
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timezone

from model_accuracy_eval.records import FaultKind, Patience

BASE = 0.5
CAP = 30.0
SCARCE = 2

_TRANSIENT = frozenset({408, 425, 429, 499})
"""4xx that say "not now": 499 is a gateway that lost its patience, not a judgement of the request."""
_LASTING = frozenset({501, 505})


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """Why one try failed, and whether another may help. The sentence has no tries and seconds yet."""

    kind: FaultKind
    sentence: str
    status: int | None = None
    again: bool = True
    scarce: bool = False
    """Worth a few tries only."""
    retry_after: float | None = None


def http_trouble(status: int, sentence: str, retry_after: float | None = None) -> Trouble:
    """A status that is no answer: 4xx judge the request, 408, 425, 429, 499 and 5xx the moment."""
    transient = status in _TRANSIENT or (status >= 500 and status not in _LASTING)
    return Trouble(
        kind="rejected" if 400 <= status < 500 and not transient else "failed",
        sentence=sentence,
        status=status,
        again=transient,
        # Two of three real servers say 500 to a request they cannot do.
        scarce=status == 500,
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


def backoff(failures: int, chance: float) -> float:
    """Full jitter: anything from 0 to a bound that doubles with every failure, so that clients spread out."""
    # The exponent is bounded too: 2.0 ** 1024 is an error.
    return chance * min(CAP, BASE * 2.0 ** min(failures - 1, 30))


class Presence:
    """Whether anybody listens, as all requests of a client have found together."""

    def __init__(self, gone_after: float) -> None:
        self.gone_after = gone_after
        self.gone = False
        """Final: a server that stayed away so long has crashed, and its restart would be another run."""
        self._refused_since: float | None = None

    def heard(self) -> None:
        """Somebody answered, be it with an error."""
        self._refused_since = None

    def refused(self, now: float) -> float:
        """A connection was refused: seconds that are left until the service counts as gone."""
        if self._refused_since is None:
            self._refused_since = now
        left = self._refused_since + self.gone_after - now
        self.gone = self.gone or left <= 0
        return left


class Schedule:
    """The tries of one request."""

    def __init__(self, patience: Patience, presence: Presence, chance: Callable[[], float]) -> None:
        self._patience = patience
        self._presence = presence
        self._chance = chance
        self._failures = 0
        self._refusals = 0
        self._scarce = 0

    def wait(self, trouble: Trouble, now: float) -> float | None:
        """Seconds to wait before the next try; None when there is to be none."""
        if trouble.kind == "refused":
            return self._wait_for_listener(now)
        self._failures += 1
        self._scarce += trouble.scarce
        if not trouble.again or self._failures > self._patience.retries or self._scarce > SCARCE:
            return None
        if trouble.retry_after is None:
            return backoff(self._failures, self._chance())
        # Never before the server said, and not all of us in the same instant after it.
        return min(trouble.retry_after, self._patience.total_timeout) + BASE * self._chance()

    def _wait_for_listener(self, now: float) -> float | None:
        """Refusals have a time limit instead of a count, and all requests run into it together."""
        if not self._patience.retries:
            return None
        left = self._presence.refused(now)
        if self._presence.gone:
            return None
        self._refusals += 1
        return min(backoff(self._refusals, self._chance()), left)
