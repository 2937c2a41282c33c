"""The figures that come out when thoughts are judged as part of the reply, as tools do that do not know them.

Only for datasets that are judged in this process: no program is run and no judge is asked to explain a difference.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from model_accuracy_eval.records import Attempt, PreparedDataset
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.scoring.metrics.scorers import metric_uses

_TAGS = re.compile(r"</?think>")


def figures(prepared: PreparedDataset, n: int, k: Sequence[int], attempts: Iterable[Attempt]) -> dict[str, float]:
    """By their names in the summary; none where no reply holds thoughts."""
    if any(metric(use.name).asks for use in metric_uses(prepared.task)):
        return {}
    card = Scorecard(prepared.task, n, k)
    samples: dict[int, list[Attempt | None]] = {}
    problems = {problem.id: problem for problem in prepared.problems}
    have_thoughts = False
    for attempt in attempts:
        with_thoughts = _with_thoughts(attempt)
        have_thoughts |= with_thoughts.text != attempt.text
        of_problem = samples.setdefault(attempt.problem, [None] * n)
        if of_problem[attempt.index] is None:
            of_problem[attempt.index] = with_thoughts
        if None not in of_problem:
            card.judge(problems.pop(attempt.problem), samples.pop(attempt.problem))
    for problem in problems.values():
        card.judge(problem, samples.get(problem.id, [None] * n))
    return {row.metric: row.value for row in card.rows("-") if row.value is not None} if have_thoughts else {}


def _with_thoughts(attempt: Attempt) -> Attempt:
    return replace(attempt, text=_TAGS.sub("", "\n".join(filter(None, (attempt.reasoning, attempt.text)))))
