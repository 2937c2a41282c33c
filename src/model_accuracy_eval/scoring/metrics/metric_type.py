"""What the table of metrics says about each metric."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from model_accuracy_eval.scoring.asks import Ask

SampleValue = Any
"""A number; a mapping of names to numbers; or what an aggregation over the whole dataset needs of one sample."""

Reads = Literal["answers", "answers in their problem", "likelihoods", "findings"]
"""What `score` takes first. Findings are the results of a judge or a sandbox."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """One entry of the table."""

    score: Callable[..., SampleValue]
    """Takes (what it reads, right answers, …), or (what it reads, problem, …) where `reads` is not "answers"."""
    reads: Reads = "answers"
    asks: Callable[..., Ask | tuple[Ask, ...] | None] | None = None
    """(answer, problem, …) → what has to be asked first: one ask, a tuple of asks, or None where there is nothing to
    ask. `score` then takes the results in this order, and the problem as a keyword."""
    aggregation: str = "mean"
    higher_is_better: bool = True
    yes_or_no: bool = False
    """Whether values are only 0 and 1, so that c, pass@k and cons@k exist."""
    share: bool = True
    """Whether figures lie in 0..1 and are shown multiplied by 100."""
    parts: tuple[str, ...] = ()
    """The names of the values, where one metric gives several."""
    needs: tuple[str, ...] = ()
    """Optional libraries that have to be installed for it."""

    def __post_init__(self) -> None:
        if (self.asks is not None) != (self.reads == "findings"):
            raise ValueError(self.score)
