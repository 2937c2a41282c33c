"""Minimal tasks and samples for judging."""

from collections.abc import Sequence
from typing import Any

from tests.small_task import small_task

from model_accuracy_eval.records import (
    Attempt,
    Message,
    MetricUse,
    Pipeline,
    Problem,
    ProblemResult,
    Step,
    SummaryRow,
    TaskSpec,
    VerdictReason,
)
from model_accuracy_eval.scoring.figures.scorecard import Scorecard


def task(*pipelines: Pipeline, **more: Any) -> TaskSpec:
    return small_task("demo", pipelines=pipelines, **more)


def pipe(*metrics: MetricUse | str, filters: Sequence[Step] = (), name: str = "none") -> Pipeline:
    measures = tuple(MetricUse(name=one) if isinstance(one, str) else one for one in metrics)
    return Pipeline(name=name, filters=tuple(filters), metrics=measures)


def problem(number: int, *references: str, **more: Any) -> Problem:
    asked = (Message(role="user", content="?"),)
    return Problem(id=number, messages=asked, references=references or ("a",), **more)


def said(*texts: str) -> list[Attempt]:
    return [Attempt(problem=0, index=index, text=text) for index, text in enumerate(texts)]


def counted(number: int, n: int, c: int, **more: Any) -> ProblemResult:
    """A problem with c of n samples right."""
    why = tuple[VerdictReason, ...]("right" if at < c else "wrong" for at in range(n))
    values = (1.0,) * c + (0.0,) * (n - c)
    return ProblemResult(
        problem=number, n=n, c=c, values=values, answers=("a",) * n, why=why, references=("a",), **more
    )


def rows(
    spec: TaskSpec, replies: Sequence[Sequence[str]], references: Sequence[str], k: Sequence[int] = ()
) -> dict[str, SummaryRow]:
    """Every row of a dataset whose problems got these replies."""
    n = len(replies[0])
    card = Scorecard(spec, n, k or (n,))
    for number, (texts, right) in enumerate(zip(replies, references, strict=True)):
        card.judge(problem(number, right), said(*texts))
    return {row.metric: row for row in card.rows("0ba9da")}


def values(found: dict[str, SummaryRow]) -> dict[str, float | None]:
    return {name: row.value for name, row in found.items()}
