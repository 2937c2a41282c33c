"""Speed as the evaluation's own requests show it: time to first token, whole answer, gap between chunks, tokens."""

from array import array
from math import fsum

from msgspec import UNSET

from model_accuracy_eval.records import Attempt, Speed, Spread
from model_accuracy_eval.scoring import stats
from model_accuracy_eval.scoring.seen_texts import SeenTexts


class Stopwatch:
    """Collects the timings of samples. Tokens of a request count once, however many samples share it."""

    def __init__(self) -> None:
        self._ttft = array("d")
        self._e2e = array("d")
        self._gaps = array("d")
        self._requests = SeenTexts()
        self._prompt: int | None = None
        self._completion: int | None = None
        self._uncounted = SeenTexts()

    def add(self, attempt: Attempt) -> None:
        if attempt.timings is not None:
            self._e2e.append(attempt.timings.e2e)
            if attempt.timings.ttft is not None:
                self._ttft.append(attempt.timings.ttft)
            if attempt.timings.gap_mean is not None:
                self._gaps.append(attempt.timings.gap_mean)
            if attempt.usage is None or attempt.usage.completion_tokens is None:
                self._uncounted.add(attempt.request)
        if attempt.usage is not None and self._requests.add(attempt.request):
            self._prompt = _sum(self._prompt, attempt.usage.prompt_tokens)
            self._completion = _sum(self._completion, attempt.usage.completion_tokens)

    def speed(self) -> Speed:
        return Speed(
            ttft=_spread(self._ttft),
            e2e=_spread(self._e2e),
            gap=_spread(self._gaps),
            prompt_tokens=self._prompt,
            completion_tokens=self._completion,
            uncounted=len(self._uncounted) if len(self._uncounted) and self._completion is not None else UNSET,
        )


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def _spread(values: "array[float]") -> Spread | None:
    if not values:
        return None
    ordered = stats.ordered(values)
    return Spread(
        mean=fsum(ordered) / len(ordered),
        p50=stats.quantile(ordered, 0.5),
        p90=stats.quantile(ordered, 0.9),
        p99=stats.quantile(ordered, 0.99),
        maximum=ordered[-1],
    )
