"""(answer, problem) → which of its problem's instructions an answer follows, as IFEval counts them."""

from collections.abc import Sequence
from typing import Literal

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.scoring.ifeval.ifeval_instructions import followed
from model_accuracy_eval.scoring.metrics.metric_type import Metric

Edition = Literal["ifeval", "multi_if"]
"""Multi-IF counts words and sentences as the reply's language does."""


def every(answer: str, problem: Problem, *, loose: bool = False, edition: Edition = "ifeval") -> float:
    """1 if the answer follows all instructions."""
    return float(all(followed(answer, _instructions(problem), loose=loose, edition=edition)))


def each(answer: str, problem: Problem, *, loose: bool = False, edition: Edition = "ifeval") -> tuple[int, int]:
    """How many instructions the answer follows, and of how many: the figure is of all instructions together."""
    verdicts = followed(answer, _instructions(problem), loose=loose, edition=edition)
    return sum(verdicts), len(verdicts)


def _instructions(problem: Problem) -> Sequence[JSONObject]:
    instructions: Sequence[JSONObject] = problem.extras.get("instructions", ())
    if not instructions:
        raise BadData(
            f"Problem {problem.id} has no instructions: the task needs the view 'instructions' "
            "and the extra column of that name."
        )
    return instructions


def _each_limits(problem: Problem) -> tuple[tuple[int, int], tuple[int, int]]:
    number = len(_instructions(problem))
    return (0, number), (number, number)


_NEEDS = ("emoji", "langdetect", "nltk", "punkt")

INSTRUCTION_METRICS = {
    "every_instruction": Metric(score=every, reads="answers in their problem", yes_or_no=True, needs=_NEEDS),
    "each_instruction": Metric(
        score=each, reads="answers in their problem", aggregation="pooled", needs=_NEEDS, limits=_each_limits
    ),
}
