"""What the table of metrics says about each metric."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from math import inf, isfinite
from numbers import Real
from typing import Any, Literal, TypeGuard

import msgspec

from model_accuracy_eval.records import MetricUse, Opinion, Problem, Question
from model_accuracy_eval.records.code import Execution, Program

# What stands in place of a value that nobody knows: the sample was rejected, failed or never asked, or its answer
# could not be judged.


Ends = tuple[float | None, float | None]
"""The least and the greatest figure; None: there is none."""


class LostValue(msgspec.Struct, frozen=True):
    """An unknown value of a known problem."""

    low: Any
    high: Any
    counted: Any = None
    """What the figure counts in its place; None: the figure leaves the sample out."""
    samples: int = 1
    """How many lost samples the value depends on."""
    alone: bool = True
    """Whether it depends on no other sample."""


def counted(values: Sequence[Any | None]) -> list[Any | None]:
    """The values as the figure counts them."""
    return [value.counted if isinstance(value, LostValue) else value for value in values]


def fill(values: Sequence[Any], end: str) -> list[Any]:
    """The values with the `low` or the `high` end of each lost one."""
    return [getattr(value, end) if isinstance(value, LostValue) else value for value in values]


def finite(figure: float | None) -> float | None:
    return figure if figure is not None and isfinite(figure) else None


def is_number(value: Any) -> TypeGuard[float]:
    # Nearly every value is a float, and the check of an abstract class is slow.
    return isinstance(value, (float, int, Real))


def mixes_infinities(values: Sequence[Any]) -> bool:
    """Whether a sum of these numbers would be anything."""
    infinite = {value for value in values if is_number(value) and value in (inf, -inf)}
    return len(infinite) > 1


# What judging cannot decide by itself, as data: a program to run, a question to a judge. A stage carries them out.
#
# A result is stored under a hash of its ask, so that the same answer to the same problem is never asked about twice.


Ask = Question | Program
AskResult = Opinion | Execution
"""The result of a question, and that of a program."""


AskResults = Callable[[Ask], AskResult | None]
"""Looks up an earlier result; None if there is none."""

PLACE = re.compile(r"\{(\w+)\}")


def no_result(ask: Ask) -> AskResult | None:
    """For metrics that ask nothing."""
    return None


def key(ask: Ask, judge: str = "") -> str:
    """The key of a result: a hash over everything that was asked, and over who was asked."""
    addressee = judge if isinstance(ask, Question) else "sandbox"
    return hashlib.sha256(addressee.encode() + b"\n" + msgspec.json.encode(ask, order="sorted")).hexdigest()


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Replaces each `{name}` by its value, once: braces inside values, and unknown names, stay unchanged."""
    return PLACE.sub(lambda place: values.get(place[1], place[0]), template)


SampleValue = Any
"""A number; a mapping of names to numbers; or what an aggregation over the whole dataset needs of one sample."""

ValueLimits = tuple[SampleValue, SampleValue]
"""The least and the greatest value."""

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
    limits: Callable[[Problem], ValueLimits | None] | None = None
    """Between which values a sample of a problem lies, None if it can have none. Without this function, shares lie
    between 0 and 1, and nothing is known of the rest."""
    unanswered: SampleValue = 0.0
    """Its value where there is no answer that could be asked about."""
    needs: tuple[str, ...] = ()
    """Optional libraries that have to be installed for it."""
    right: Callable[..., Sequence[str]] = lambda problem, **_args: problem.references
    """(problem, …) → answers any of which must be judged right; none where nobody can write one."""
    about: str = ""
    """What its values are, where the function does not say it."""

    def aggregation_of(self, use: MetricUse) -> str:
        """As the task says, else as is natural for the metric."""
        return use.aggregation or self.aggregation

    def rises(self, use: MetricUse) -> bool:
        """Whether more is better: as the task says, else as is natural for the metric."""
        return self.higher_is_better if use.higher_is_better is None else use.higher_is_better

    def is_mean_share(self, use: MetricUse) -> bool:
        """Whether a sample without a value counts as 0."""
        return self.share and self.aggregation_of(use) == "mean"

    def lost_value(self, problem: Problem, counted: SampleValue | None = None) -> LostValue | None:
        """The value of a sample that is lost; None if no sample of the problem has a value."""
        if self.limits is not None:
            limits = self.limits(problem)
            return None if limits is None else LostValue(*limits, counted=counted)
        limits = (0.0, 1.0) if self.share or self.yes_or_no else (-inf, inf)
        return LostValue(*limits, counted=counted)

    def __post_init__(self) -> None:
        if (self.asks is not None) != (self.reads == "findings"):
            raise ValueError(self.score)


in_problem = partial(Metric, reads="answers in their problem")


def of_best(compare: Callable[..., float], **more: Any) -> Metric:
    """A metric that compares an answer with one right answer; of several the best counts."""

    @wraps(compare)  # so that its arguments and what it says of itself are known
    def score(answer: str, references: Sequence[str], **args: Any) -> float:
        return max((float(compare(answer, right, **args)) for right in references), default=0.0)

    return Metric(score=score, **more)


# Between what values a sample of a problem lies, for metrics that are no shares.


def from_zero(problem: Problem) -> tuple[float, float]:
    """Of errors and bits."""
    return 0.0, inf


def none_to_all(items: float) -> ValueLimits:
    """Of (hits, items)."""
    return (0, items), (items, items)
