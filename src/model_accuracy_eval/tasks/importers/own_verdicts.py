"""How replies to own questions would be judged, shown before anything is asked, and what to look at afterwards."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import Attempt, PreparedDataset, Problem, VerdictReason
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics.exact import holds
from model_accuracy_eval.tasks.importers import own_cells, own_columns
from model_accuracy_eval.tasks.importers.own_questions import is_own

_SHOWN = 80
"""Characters of a reply that are shown."""


def told(prepared: PreparedDataset) -> Iterator[str]:
    """What own questions have been understood as, and how three replies to the first of each kind are judged: the right
    answer, the same in a sentence, and another answer. Nothing of other tasks."""
    task = prepared.task
    if not is_own(task):
        return
    yield f"{task.name}: {task.about}"
    if any(use.args.get("match") == "regex" for use in task.pipelines[0].metrics):
        for problem in prepared.problems:
            for right in problem.references:
                own_columns.pattern(f"{task.data.name}, row {problem.id + 1}", right)
    firsts = {problem.extras.get("kind"): problem for problem in reversed(prepared.problems)}
    shown = sorted(firsts.values(), key=lambda problem: problem.id)
    for problem, reply in ((first, reply) for first in shown for reply in _replies(first)):
        attempt = Attempt(problem=problem.id, index=0, text=reply)
        verdict = judge(problem, [attempt], task.pipelines[0]).verdicts[0]
        said = " ".join(reply.split())
        said = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
        yield f"  Row {problem.id + 1}: a reply '{said}' is {verdict.why}."


def _replies(problem: Problem) -> tuple[str, ...]:
    right = problem.references[0]
    if problem.extras.get("kind") == "regex":
        return ("I do not know.",)
    if problem.choices and len(right) == 1:
        other = "B" if right == "A" else "A"
        return f"ANSWER: {right}", problem.choices[ord(right) - ord("A")], f"ANSWER: {other}"
    return right, f"The answer is {right}.", "I do not know."


class Misses:
    """Replies to own questions that are judged wrong, and those of them that contain a right answer."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._is_open = is_own(prepared.task)
        self._right = self._wrong = self._near = 0
        self._shown: dict[bool, list[str]] = {True: [], False: []}

    def add(self, problem: Problem, attempts: Sequence[Attempt | None], why: Sequence[VerdictReason]) -> None:
        if not self._is_open or problem.extras.get("kind", "letter") in {"letter", "regex"}:
            return
        for attempt, reason in zip(attempts, why, strict=True):
            self._right += reason == "right"
            if attempt is None or reason not in {"wrong", "not found"}:
                continue
            is_near = any(holds(attempt.text, right) for right in problem.references)
            self._wrong += 1
            self._near += is_near
            if len(self._shown[is_near]) < _MISSES_SHOWN:
                said, right = (
                    own_cells.short(" ".join(text.split())) for text in (attempt.text, problem.references[0])
                )
                self._shown[is_near].append(f"{said} (row {problem.id + 1}; right: {right})")

    def notes(self, again: str) -> Iterator[str]:
        """What is to be looked at before the figure is believed. `again`: the command that judges the replies again."""
        if 2 * self._near > self._wrong:
            yield (
                f"{self._near:,} of {self._wrong:,} replies judged wrong contain the right answer: "
                f"{'; '.join(self._shown[True])}. If they are right, judge what is kept again: {again} --match contains"
            )
        elif self._wrong and not self._right:
            yield f"No reply is right: {'; '.join([*self._shown[True], *self._shown[False]][:_MISSES_SHOWN])}."


_MISSES_SHOWN = 3
