"""What came of a call to GitHub. Pure: time is handed in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from model_accuracy_eval.rim.service.retry import retry_after

T = TypeVar("T")

_SECONDARY_PAUSE = 60.0
"""What GitHub asks for when a secondary limit is hit and no header says how long."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came of a call after all its tries. Failure is an answer too."""

    status: int | None
    """None: there was no HTTP answer."""
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    """Why there was no HTTP answer."""
    sent: bool = True
    """False when GitHub surely never got the request."""
    tries: int = 1
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def uncertain(self) -> bool:
        """Whether the moment, not the request, was bad, so that it may or may not have been carried out."""
        return self.status is None or self.status >= 500

    @property
    def message(self) -> str:
        """GitHub's own words."""
        text = self.data.get("message") if isinstance(self.data, dict) else None
        return text if isinstance(text, str) else ""

    @property
    def limited(self) -> bool:
        """Whether a rate limit turned the request away; a 403 can also be a matter of permission."""
        if self.status == 429:
            return True
        if self.status != 403 or "not accessible" in self.message:
            return False
        used_up = self.headers.get("x-ratelimit-remaining") == "0"
        return used_up or "retry-after" in self.headers or "rate limit" in self.message.lower()

    def pause(self, now: float, number: int) -> float:
        """Seconds that a rate limit asks to wait, the `number`-th time in a row."""
        asked = retry_after(self.headers, now)
        if asked is not None:
            return asked
        reset = self.headers.get("x-ratelimit-reset", "")
        if self.headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
            return max(0.0, int(reset) - now) + 1.0
        return _SECONDARY_PAUSE * 2.0 ** min(number - 1, 10)


def read(answer: Answer, kind: type[T]) -> T | None:
    """The data as what it should be; None if the answer is not good, or not GitHub's."""
    try:
        return msgspec.convert(answer.data, kind) if answer.ok else None
    except msgspec.ValidationError:
        return None
