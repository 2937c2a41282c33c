"""Task + rows → an exam: the problems as they will be asked, and the hashes that identify them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import (
    WHOLE_ROW,
    Candidate,
    DataFile,
    Exam,
    Pipeline,
    Problem,
    Shard,
    TaskSpec,
)
from model_accuracy_eval.scoring import tools
from model_accuracy_eval.scoring.judging import check
from model_accuracy_eval.scoring.scorers import pipelines
from model_accuracy_eval.tasks import fewshot, prompts, views
from model_accuracy_eval.tasks.rows import Row
from model_accuracy_eval.tasks.template_words import positions

Read = Callable[[DataFile, tuple[str, ...]], list[Row]]
"""Brings the rows of a file, each with the columns that are named."""


def assemble(task: TaskSpec, read: Read, limit: int | None = None, shard: Shard | None = None) -> Exam:
    """The exam of a task, its files and parts included."""
    if task.parts:
        return _joined(task, [assemble(part, read) for part in task.parts], limit, shard)
    shown = task.prompt.fewshot
    shots = read(shown.data, shown.fields or task.fields) if shown and shown.data else []
    return build(task, read(task.data, task.fields), shots, limit, shard)


def _joined(task: TaskSpec, exams: Sequence[Exam], limit: int | None, shard: Shard | None) -> Exam:
    """The parts' problems under numbers of their own; each is told apart by the name of its part."""
    views.check_parts(task)
    pairs = [(at, problem) for at, exam in enumerate(exams) for problem in exam.problems]
    if task.arrangement == "mixture":
        pairs = views.mixed(pairs)
    chosen = [(place, *pairs[place]) for place in views.sliced(task, len(pairs))[:limit]]
    problems = tuple(
        msgspec.structs.replace(problem, id=place, part=(at, *problem.part), category=task.parts[at].name)
        for place, at, problem in chosen
    )
    return _exam(task, problems, pipelines(task), shard)


def build(task: TaskSpec, rows: list[Row], shots: list[Row], limit: int | None, shard: Shard | None = None) -> Exam:
    """Every problem rendered, so that nothing about the data can surprise a run that has begun.

    A shard has the hashes of the whole, because it is part of the same question.
    """
    tools.check(task)
    resolved = pipelines(task)
    for pipeline in resolved:
        check(pipeline)
    rows = views.seen(task.views, rows, task.data.name)
    chosen = views.sliced(task, len(rows))[:limit]
    setting = _Setting(task, rows, shots)
    problems = tuple(setting.problem(place, rows[place]) for place in chosen)
    return _exam(task, problems, resolved, shard)


def _exam(task: TaskSpec, problems: tuple[Problem, ...], judged_by: Sequence[Pipeline], shard: Shard | None) -> Exam:
    questions = _digest([_asked(problem, task.of(problem)) for problem in problems])
    judged = [_held_against(problem) for problem in problems]
    version = _digest([questions, judged, [_said(pipeline) for pipeline in judged_by]])[:6]
    return Exam(task=task, problems=views.sharded(task, problems, shard), version=version, questions=questions)


class _Setting:
    """Turns rows into problems, with the solved examples that each is shown."""

    def __init__(self, task: TaskSpec, rows: list[Row], shots: list[Row]) -> None:
        self._task = task
        self._unconditional = any(
            measure.name == "acc_mutual_info" for pipeline in pipelines(task) for measure in pipeline.metrics
        )
        shown = task.prompt.fewshot
        own = shown is not None and shown.data is None and not shown.rows
        self._pool = rows if own else list(shown.rows) if shown and shown.rows else shots
        without = own if shown is None or shown.without_itself is None else shown.without_itself
        count = shown.count if shown else 0
        if len(self._pool) < count + (without and count > 0):
            raise BadData(
                f"{task.name} shows {count} solved examples, but its file of examples has {len(self._pool)} rows."
            )
        self._choose = fewshot.chooser(shown.sampler, self._pool, count, own=without) if shown and count else None

    def problem(self, place: int, row: Row) -> Problem:
        task, where = self._task, f"{self._task.data.name}, row {place + 1}"
        shots = self._shots(place, row)
        key = self._key(row, where)
        question = prompts.render(task.prompt.question, row, where)
        whole = self._whole(question, row, shots, where)
        if task.kind == "choice":
            question = prompts.lettered(task.prompt, key.choices, row, where)
        return Problem(
            id=place,
            messages=prompts.conversation(task.prompt, question, row, shots, where),
            text=whole,
            references=key.references,
            choices=key.choices,
            candidates=self._candidates(whole, key, row, shots, where),
            gold=key.gold,
            category=str(row[task.category]) if task.category else None,
            extras=row if task.extras == WHOLE_ROW else {field: row[field] for field in task.extras},
        )

    def _key(self, row: Row, where: str) -> "_Key":
        task = self._task
        choices = prompts.listed(task.choices, row, where)
        references = self._references(row, where)
        gold = _gold(references[0], choices, where) if task.kind in {"choice", "schema"} else ()
        return _Key(references, choices, gold)

    def _references(self, row: Row, where: str) -> tuple[str, ...]:
        task = self._task
        return prompts.listed(task.references, row, where) or (prompts.render(task.reference, row, where),)

    def _whole(self, question: str, row: Row, shots: Sequence[prompts.Shot], where: str) -> str:
        task = self._task
        if task.kind == "rolling":
            return question
        if task.kind == "generate" and task.mode == "chat":
            return ""
        return prompts.text(task.prompt, question, row, shots, where)

    def _shots(self, place: int, row: Row) -> list[prompts.Shot]:
        if self._choose is None:
            return []
        prompt = self._task.prompt
        name = prompt.fewshot.data.name if prompt.fewshot and prompt.fewshot.data else self._task.data.name
        return [self._shot(self._pool[at], f"{name}, example {at + 1}") for at in self._choose(place, row)]

    def _shot(self, row: Row, where: str) -> prompts.Shot:
        task = self._task
        if task.prompt.answer and task.kind != "schema":
            return prompts.shot(task.prompt, row, where)
        weighed = task.kind in {"choice", "schema"}
        key = self._key(row, where) if weighed else _Key(self._references(row, where), (), ())
        right = key.choices[key.gold[0]] if weighed else key.references[0]
        return prompts.shot(task.prompt, row, where, right=right, context=right if task.kind == "schema" else None)

    def _candidates(
        self, whole: str, key: "_Key", row: Row, shots: Sequence[prompts.Shot], where: str
    ) -> tuple[Candidate, ...]:
        prompt = self._task.prompt
        match self._task.kind:
            case "rolling":
                return (Candidate(context="", continuation=whole),)
            case "target":
                return (Candidate(context=whole, continuation=prompt.delimiter + key.references[0]),)
            case "choice":
                endings = [prompt.delimiter + choice for choice in key.choices]
                asked = [Candidate(context=whole, continuation=ending) for ending in endings]
                bare = [Candidate(context="", continuation=ending) for ending in endings] if self._unconditional else []
                return (*asked, *bare)
            case "schema":
                ending = prompt.delimiter + prompts.render(prompt.answer, row, where)
                contexts = [prompts.text(prompt, choice, row, shots, where) for choice in key.choices]
                return tuple(Candidate(context=context, continuation=ending) for context in contexts)
        return ()


@dataclass(frozen=True, slots=True)
class _Key:
    """What is right about a row: the texts, and where options are weighed, their positions."""

    references: tuple[str, ...]
    choices: tuple[str, ...]
    gold: tuple[int, ...]


def _gold(reference: str, choices: Sequence[str], where: str) -> tuple[int, ...]:
    found = positions(reference, choices)
    if found is None:
        raise BadData(f"{where}: the right answer '{reference}' is none of the {len(choices)} options.")
    return found


# A version names the question across releases of this program: what a task does not use is not hashed, so that a field
# which a release adds to the records changes no version.


def _asked(problem: Problem, task: TaskSpec) -> tuple[Any, ...]:
    weighed = (problem.text, problem.candidates) if problem.text or problem.candidates else ()
    offered = (tools.offered(task.tools),) if task.tools else ()
    return (problem.id, [(message.role, message.content) for message in problem.messages], *weighed, *offered)


def _held_against(problem: Problem) -> tuple[Any, ...]:
    further = (problem.gold, problem.extras) if problem.gold or problem.extras else ()
    return (problem.references, problem.choices, *further)


def _said(value: Any) -> Any:
    """A record as what differs from its defaults."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        return {field.name: _said(said) for field in fields if (said := getattr(value, field.name)) != _default(field)}
    return [_said(item) for item in value] if isinstance(value, tuple) else value


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
