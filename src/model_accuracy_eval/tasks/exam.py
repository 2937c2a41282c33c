"""Task + rows → an exam: the problems as they will be asked, and the hashes that identify them."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Candidate, Exam, Problem, TaskSpec
from model_accuracy_eval.scoring.judging import check
from model_accuracy_eval.scoring.scorers import pipelines
from model_accuracy_eval.tasks import fewshot, prompts
from model_accuracy_eval.tasks.rows import Row


def build(task: TaskSpec, rows: list[Row], shots: list[Row], limit: int | None) -> Exam:
    """Every problem rendered, so that nothing about the data can surprise a run that has begun."""
    resolved = pipelines(task)
    for pipeline in resolved:
        check(pipeline)
    view = task.slice
    chosen = range(len(rows))[view.start : view.stop : view.step][:limit]
    if not chosen:
        raise BadValue(f"{task.name}: the slice {view.start}:{view.stop}:{view.step} of {len(rows)} rows is empty.")
    setting = _Setting(task, rows, shots)
    problems = tuple(setting.problem(place, rows[place]) for place in chosen)
    questions = _digest([(problem.id, problem.messages, problem.text, problem.candidates) for problem in problems])
    judged = [(problem.references, problem.choices, problem.gold, problem.extras) for problem in problems]
    version = _digest([questions, judged, resolved])[:6]
    return Exam(task=task, problems=problems, version=version, questions=questions)


class _Setting:
    """Turns rows into problems, with the solved examples that each is shown."""

    def __init__(self, task: TaskSpec, rows: list[Row], shots: list[Row]) -> None:
        self._task = task
        self._unconditional = any(
            measure.name == "acc_mutual_info" for pipeline in pipelines(task) for measure in pipeline.metrics
        )
        shown = task.prompt.fewshot
        own = shown is not None and shown.data is None
        self._pool = rows if own else shots
        count = shown.count if shown else 0
        if len(self._pool) < count + own:
            raise BadData(
                f"{task.name} shows {count} solved examples, but its file of examples has {len(self._pool)} rows."
            )
        self._choose = fewshot.chooser(shown.sampler, self._pool, count, own=own) if shown else None

    def problem(self, place: int, row: Row) -> Problem:
        task, where = self._task, f"{self._task.data.name}, row {place + 1}"
        shots = self._shots(place, row)
        choices = prompts.listed(task.choices, row, where)
        reference = prompts.render(task.reference, row, where)
        question = prompts.render(task.prompt.question, row, where)
        if task.kind == "choice":
            question = prompts.lettered(task.prompt, choices, row, where)
        whole = prompts.text(task.prompt, row, shots, where) if task.kind != "generate" or task.mode == "text" else ""
        gold = _gold(reference, choices, where) if task.kind in {"choice", "schema"} else ()
        return Problem(
            id=place,
            messages=prompts.conversation(task.prompt, question, row, shots, where),
            text=whole,
            references=prompts.listed(task.references, row, where) or (reference,),
            choices=choices,
            candidates=self._candidates(whole, choices, reference),
            gold=gold,
            category=str(row[task.category]) if task.category else None,
            extras={field: row[field] for field in task.extras},
        )

    def _shots(self, place: int, row: Row) -> list[prompts.Shot]:
        if self._choose is None:
            return []
        prompt = self._task.prompt
        name = prompt.fewshot.data.name if prompt.fewshot and prompt.fewshot.data else self._task.data.name
        return [prompts.shot(prompt, self._pool[at], f"{name}, example {at + 1}") for at in self._choose(place, row)]

    def _candidates(self, whole: str, choices: Sequence[str], reference: str) -> tuple[Candidate, ...]:
        delimiter = self._task.prompt.delimiter
        if self._task.kind == "rolling":
            return (Candidate(context="", continuation=whole),)
        if self._task.kind == "target":
            return (Candidate(context=whole, continuation=delimiter + reference),)
        if self._task.kind == "choice":
            endings = [delimiter + choice for choice in choices]
            asked = [Candidate(context=whole, continuation=ending) for ending in endings]
            bare = [Candidate(context="", continuation=ending) for ending in endings] if self._unconditional else []
            return (*asked, *bare)
        return ()


def _gold(reference: str, choices: Sequence[str], where: str) -> tuple[int, ...]:
    """A position, the text of an option, or its letter; several positions as a JSON list."""
    if reference.startswith("["):
        return msgspec.json.decode(reference, type=tuple[int, ...])
    if reference.lstrip("-").isdigit():
        return (int(reference),)
    if reference in choices:
        return (choices.index(reference),)
    if len(reference) == 1 and "A" <= reference < chr(ord("A") + len(choices)):
        return (ord(reference) - ord("A"),)
    raise BadData(f"{where}: the right answer '{reference}' is none of the {len(choices)} options.")


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
