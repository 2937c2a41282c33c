"""How replies to own questions would be judged, shown before anything is asked, and what to look at afterwards."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import Attempt, Pipeline, PreparedDataset, Problem, VerdictReason
from model_accuracy_eval.scoring.answers.own_answers import READINGS
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics.exact import holds
from model_accuracy_eval.tasks.importers import own_cells, own_columns
from model_accuracy_eval.tasks.importers.own_questions import is_own

_SHOWN = 80
"""Characters of a reply that are shown."""
_LINES, _CHARACTERS = 12, 800
"""Of a request."""


def told(prepared: PreparedDataset) -> Iterator[str]:
    """What own questions have been understood as, and the first of each kind: as it is sent, and how three replies to
    it are judged (the right answer, the same in a sentence, and another answer). Nothing of other tasks."""
    task = prepared.task
    if not is_own(task):
        return
    yield f"{task.name}: {task.about}"
    if any(use.args.get("match") == "regex" for use in task.pipelines[0].metrics):
        for problem in prepared.problems:
            for right in problem.references:
                own_columns.pattern(f"{task.data.name}, row {problem.id + 1}", right)
    firsts = {_kind(problem): problem for problem in reversed(prepared.problems)}
    for problem in sorted(firsts.values(), key=lambda problem: problem.id):
        yield f"Row {problem.id + 1} is sent as"
        yield from (f"  | {line}" for line in _request(problem).splitlines())
        yield f"and judged by {READINGS[_kind(problem)]}: {'; '.join(_judged(problem, task.pipelines[0]))}."


def _kind(problem: Problem) -> str:
    return str(problem.extras.get("kind", "letter"))


def _request(problem: Problem) -> str:
    """With whose words each message is, if there are several; the end of a long one is left out."""
    several = len(problem.messages) > 1
    shown = "\n".join(f"{f'{turn.role}: ' if several else ''}{turn.shown}" for turn in problem.messages)
    lines = shown[:_CHARACTERS].splitlines()[:_LINES]
    return "\n".join(lines) + ("" if len("\n".join(lines)) >= len(shown.rstrip()) else " […]")


def _judged(problem: Problem, pipeline: Pipeline) -> Iterator[str]:
    for reply in _replies(problem):
        (verdict,) = judge(problem, [Attempt(problem=problem.id, index=0, text=reply)], pipeline).verdicts
        said = " ".join(reply.split())
        yield f"'{said if len(said) <= _SHOWN else said[: _SHOWN - 1] + '…'}' {_SAID.get(verdict.why, 'is wrong')}"


_SAID = {"right": "is right", "not found": "has no answer"}


def _replies(problem: Problem) -> tuple[str, ...]:
    right = problem.references[0]
    if _kind(problem) == "regex":
        return ("I do not know.",)
    if problem.choices and len(right) == 1:
        other = "B" if right == "A" else "A"
        return f"ANSWER: {right}", problem.choices[ord(right) - ord("A")], f"ANSWER: {other}"
    return right, f"The answer is {right}.", "I do not know."


class Misses:
    """Replies that are judged wrong, and those to own questions that contain a right answer all the same."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._is_own = is_own(prepared.task)
        self._right = self._wrong = self._open = self._near = 0
        self._shown: dict[bool, list[tuple[int, int, str]]] = {True: [], False: []}

    def add(self, problem: Problem, attempts: Sequence[Attempt | None], why: Sequence[VerdictReason]) -> None:
        for attempt, reason in zip(attempts, why, strict=True):
            self._right += reason == "right"
            if attempt is None or reason not in {"wrong", "not found"}:
                continue
            is_open = self._is_own and _kind(problem) not in {"letter", "regex"}
            is_near = is_open and any(holds(attempt.text, right) for right in problem.references)
            self._wrong += 1
            self._open += is_open
            self._near += is_near
            shown, place = self._shown[is_near], (problem.id, attempt.index)
            # The first ones of the dataset, in whichever order replies came.
            if attempt.text.strip() and (len(shown) < _MISSES_SHOWN or place < shown[-1][:2]):
                self._shown[is_near] = sorted([*shown, (*place, self._said(problem, attempt))])[:_MISSES_SHOWN]

    def _said(self, problem: Problem, attempt: Attempt) -> str:
        where = f"row {problem.id + 1}" if self._is_own else f"problem {problem.id}"
        said, *right = (own_cells.short(" ".join(text.split())) for text in (attempt.text, *problem.right[:1]))
        return f"{said} ({'; right: '.join([where, *right])})"

    def told(self, again: str) -> str:
        """What is to be looked at before the figure is believed. `again`: the command that judges the replies again."""
        shown = "; ".join([said for _, _, said in (*self._shown[True], *self._shown[False])][:_MISSES_SHOWN])
        if 2 * self._near > self._open:
            said = f"{self._near:,} of {self._open:,} replies judged wrong contain the right answer: {shown}."
        elif self._wrong and not self._right and shown:
            said = f"No reply is right: {shown}."
        else:
            return ""
        hint = f" If they are right, judge what is kept again: {again} --match contains." if self._near else ""
        return said + hint


_MISSES_SHOWN = 3
