"""The table of metrics: what each is called, what it looks at, and what its figures mean."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring.metrics.exact import exact, number

Payload = Any
"""A value; a mapping of names to values; or what an aggregation of the whole dataset needs of one sample."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One row of the table."""

    score: Callable[..., Payload]
    """(answer, right answers, …) for what reads answers; (likelihoods, problem, …) for what reads likelihoods."""
    reads: Literal["answers", "likelihoods"] = "answers"
    aggregation: str = "mean"
    higher_is_better: bool = True
    yes_or_no: bool = False
    """Whether values are 0 and 1 only, so that c, pass@k and cons@k exist."""
    share: bool = True
    """Whether figures lie in 0..1 and are shown times 100."""
    parts: tuple[str, ...] = ()
    """The names, where one metric gives several values."""


METRICS: dict[str, Metric] = {
    "exact": Metric(score=exact, yes_or_no=True),
    "number": Metric(score=number, yes_or_no=True),
}


def metric(name: str) -> Metric:
    """The row of that name; an unknown one is answered with the nearest."""
    if name not in METRICS:
        raise UnknownName("metric", name, METRICS)
    return METRICS[name]
