"""Speed as the evaluation's own requests show it: time to first token, whole answer, gap between chunks, tokens."""

from math import fsum

from msgspec import UNSET

from model_accuracy_eval.records import Attempt, Speed, Spread
from model_accuracy_eval.records.disk_numbers import DiskNumbers
from model_accuracy_eval.scoring import stats
from model_accuracy_eval.scoring.order_statistics import ordered
from model_accuracy_eval.scoring.request_tokens import RequestTokens


class Stopwatch:
    """Collects the timings of samples. Tokens of a request count once, however many samples share it."""

    def __init__(self) -> None:
        self._ttft = DiskNumbers()
        self._e2e = DiskNumbers()
        self._gaps = DiskNumbers()
        self._counted = RequestTokens()
        self._uncounted = RequestTokens()

    def add(self, attempt: Attempt) -> None:
        if attempt.timings is not None:
            self._e2e.append(attempt.timings.e2e)
            if attempt.timings.ttft is not None:
                self._ttft.append(attempt.timings.ttft)
            if attempt.timings.gap_mean is not None:
                self._gaps.append(attempt.timings.gap_mean)
            if attempt.usage is None or attempt.usage.completion_tokens is None:
                self._uncounted.add(attempt.request)
        if attempt.usage is not None:
            self._counted.add(attempt.request, attempt.usage.prompt_tokens, attempt.usage.completion_tokens)

    def speed(self) -> Speed:
        _, prompt_tokens, completion_tokens = self._counted.totals()
        uncounted, _, _ = self._uncounted.totals()
        return Speed(
            ttft=_spread(self._ttft),
            e2e=_spread(self._e2e),
            gap=_spread(self._gaps),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            uncounted=uncounted if uncounted and completion_tokens is not None else UNSET,
        )


def _spread(values: DiskNumbers) -> Spread | None:
    if not values:
        return None
    in_order = ordered(values)
    return Spread(
        mean=fsum(values) / len(values),
        p50=stats.quantile(in_order, 0.5),
        p90=stats.quantile(in_order, 0.9),
        p99=stats.quantile(in_order, 0.99),
        maximum=in_order[-1],
    )
