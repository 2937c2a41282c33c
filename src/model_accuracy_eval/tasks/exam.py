"""Task + rows → an exam: the problems as they will be asked, and the hashes that identify them."""

import hashlib
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Exam, Message, Problem, TaskSpec
from model_accuracy_eval.scoring.pipeline import check
from model_accuracy_eval.tasks import prompts
from model_accuracy_eval.tasks.rows import Row


def build(task: TaskSpec, rows: list[Row], shots: list[Row], limit: int | None) -> Exam:
    """Every problem rendered, so that nothing about the data can surprise a run that has begun."""
    for pipeline in task.pipelines:
        check(pipeline)
    wanted = task.prompt.fewshot.count if task.prompt.fewshot else 0
    if len(shots) < wanted:
        raise BadData(f"{task.name} shows {wanted} solved examples, but its file of examples has {len(shots)} rows.")
    turns = prompts.examples(task.prompt, shots)
    view = task.slice
    chosen = range(len(rows))[view.start : view.stop : view.step][:limit]
    if not chosen:
        raise BadValue(f"{task.name}: the slice {view.start}:{view.stop}:{view.step} of {len(rows)} rows is empty.")
    problems = tuple(_problem(task, place, rows[place], turns) for place in chosen)
    questions = _digest([(problem.id, problem.messages) for problem in problems])
    judged = [(problem.references, problem.choices) for problem in problems]
    version = _digest([questions, judged, task.pipelines])[:6]
    return Exam(task=task, problems=problems, version=version, questions=questions)


def _problem(task: TaskSpec, place: int, row: Row, turns: list[Message]) -> Problem:
    where = f"{task.data.name}, row {place + 1}"
    return Problem(
        id=place,
        messages=prompts.conversation(task.prompt, row, turns, where),
        references=(prompts.render(task.reference, row, where),),
        choices=prompts.options(task.choices, row, where),
        category=str(row[task.category]) if task.category else None,
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
