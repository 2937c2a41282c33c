"""When samples ended and how long they took: the figures behind the charts over time."""

import math

import msgspec

from model_accuracy_eval.records import Timings, Usage
from model_accuracy_eval.records.disk_numbers import DiskNumbers
from model_accuracy_eval.reporting.journal import AnswerLine


class Timeline(msgspec.Struct):
    """The times of one dataset's samples; unknown ones are NaN here, which no file ever sees."""

    at: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    """When each answered sample was there, in seconds since the epoch."""
    ttft: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    e2e: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    gap: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    per_token: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    """Time from the first text to the end for each further token; known of requests for one sample."""
    tokens: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    """Completion tokens; those of a request for several samples stand with the first of them."""
    failed_at: DiskNumbers = msgspec.field(default_factory=DiskNumbers)
    _last_request: str = ""

    def add(self, answer: AnswerLine) -> None:
        timings, usage = answer.timings, answer.usage
        self.at.append(_known(answer.at))
        self.ttft.append(_known(timings.ttft if timings else None))
        self.e2e.append(_known(timings.e2e if timings else None))
        self.gap.append(_known(timings.gap_mean if timings else None))
        # The samples of one request are written in one step, so they follow each other.
        again = bool(answer.request) and answer.request == self._last_request
        self._last_request = answer.request
        self.tokens.append(0.0 if again else _known(usage.completion_tokens if usage else None))
        if again:
            self.per_token.put_last(math.nan)
        self.per_token.append(math.nan if again else _known(_per_token(timings, usage)))

    def lose(self, at: float | None) -> None:
        self.failed_at.append(_known(at))


def _per_token(timings: Timings | None, usage: Usage | None) -> float | None:
    tokens = usage.completion_tokens if usage else None
    if timings is None or timings.ttft is None or tokens is None or tokens < 2:
        return None
    return (timings.e2e - timings.ttft) / (tokens - 1)


def _known(value: float | None) -> float:
    return math.nan if value is None else value
