"""What the table of metrics says about each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from model_accuracy_eval.scoring.asks import Ask

Payload = Any
"""A value; a mapping of names to values; or what an aggregation of the whole dataset needs of one sample."""

Reads = Literal["answers", "answers in their problem", "likelihoods", "findings"]
"""Findings are what a judge or a sandbox found out about an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One row of the table."""

    score: Callable[..., Payload]
    """(what it reads, right answers, …), or (what it reads, problem, …) where `reads` is not plain answers."""
    reads: Reads = "answers"
    asks: Callable[..., Ask | tuple[Ask, ...] | None] | None = None
    """(answer, problem, …) → what has to be found out first, several things as a tuple; None where nothing has to.
    `score` is given the findings in this order, and the problem by its name."""
    aggregation: str = "mean"
    higher_is_better: bool = True
    yes_or_no: bool = False
    """Whether values are 0 and 1 only, so that c, pass@k and cons@k exist."""
    share: bool = True
    """Whether figures lie in 0..1 and are shown times 100."""
    parts: tuple[str, ...] = ()
    """The names, where one metric gives several values."""
    extra: str = ""
    """What has to be installed for it: an extra of ours, and the modules that come with it, as `text:sacrebleu`."""

    def __post_init__(self) -> None:
        if (self.asks is not None) != (self.reads == "findings"):
            raise ValueError(self.score)
