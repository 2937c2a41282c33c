"""(answer, problem) → which instructions of its problem an answer follows, as IFEval counts them."""

from collections.abc import Sequence

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.scoring.ifeval.following import followed
from model_accuracy_eval.scoring.metrics.row import Metric


def every(answer: str, problem: Problem, *, loose: bool = False) -> float:
    """1 if it follows all of them."""
    return float(all(followed(answer, _instructions(problem), loose=loose)))


def each(answer: str, problem: Problem, *, loose: bool = False) -> tuple[int, int]:
    """How many it follows, and of how many: the figure is of all instructions together."""
    found = followed(answer, _instructions(problem), loose=loose)
    return sum(found), len(found)


def _instructions(problem: Problem) -> Sequence[JSONObject]:
    if not problem.extras.get("instructions"):
        raise BadData(
            f"Problem {problem.id} has no instructions: the task needs the view 'instructions' "
            "and the extra column of that name."
        )
    found: Sequence[JSONObject] = problem.extras["instructions"]
    return found


_EXTRA = "ifeval:langdetect,nltk,punkt"

ROWS = {
    "every_instruction": Metric(score=every, reads="answers in their problem", yes_or_no=True, extra=_EXTRA),
    "each_instruction": Metric(score=each, reads="answers in their problem", aggregation="pooled", extra=_EXTRA),
}
