"""Task + rows → prepared dataset: the problems as they will be asked, and the hashes that identify them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import (
    WHOLE_ROW,
    Candidate,
    DataFile,
    DataRow,
    Draw,
    MetricUse,
    Pipeline,
    PreparedDataset,
    Problem,
    Shard,
    TaskSpec,
)
from model_accuracy_eval.records.problem import MARKS, marked
from model_accuracy_eval.scoring.answers import tools
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.judging import check, check_turns
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks import draw, prompts, views
from model_accuracy_eval.tasks.prompts import Choose, chooser, positions
from model_accuracy_eval.tasks.row_pins import OtherRows

_TELLING = 12
"""How long a text of a row is that a question cannot contain by chance, such as the name of a language."""

ReadRows = Callable[[DataFile, tuple[str, ...]], Sequence[DataRow]]
"""Reads the rows of a file; each has the named columns."""


def assemble(
    task: TaskSpec,
    read: ReadRows,
    limit: int | None = None,
    shard: Shard | None = None,
    *,
    first: int | None = None,
) -> PreparedDataset:
    """Prepares a task: reads its files, and prepares and joins its parts. `limit`: a sample of so many problems;
    `first`: the first ones."""
    limit = min(filter(None, (limit, task.slice.sample)), default=None)
    if task.parts:
        return _join_parts(task, [assemble(part, read) for part in task.parts], limit, shard, first)
    fewshot = task.prompt.fewshot
    try:
        shots = read(fewshot.data, fewshot.fields or task.fields) if fewshot and fewshot.data else []
        rows = read(task.data, task.fields)
    except OtherRows as refusal:
        if not refusal.is_local:
            refusal.next_step = f"model-accuracy-eval tasks prepare --update {task.name}"
        raise
    return build(task, rows, shots, limit, shard, first=first)


def _join_parts(
    task: TaskSpec,
    datasets: Sequence[PreparedDataset],
    limit: int | None,
    shard: Shard | None,
    first: int | None,
) -> PreparedDataset:
    """All parts' problems under new numbers; the category of each is the name of its part."""
    kinds = {part.name: (part.kind, part.mode, part.boundary, part.repeats) for part in task.parts}
    if len(set(kinds.values())) > 1:
        parts = ", ".join(f"{name} by {kind} and {mode}" for name, (kind, mode, *_) in kinds.items())
        raise BadValue(f"The parts of {task.name} must all be asked in one way, but are asked differently: {parts}.")
    pairs = [(at, number) for at, prepared in enumerate(datasets) for number in range(len(prepared.problems))]
    if task.arrangement == "mixture":
        pairs = views.shuffled(pairs, seed=42)
    places = views.sliced(task, len(pairs))
    of_groups = [groups.groups_of(use for one in each.tasks for use in _uses(pipelines(one))) for each in datasets]

    def described(place: int) -> draw.Described:
        at, number = pairs[place]
        extras = datasets[at].problems[number].extras
        return draw.Described(task.parts[at].name, groups.named(of_groups[at], extras, at))

    chosen, drawn = draw.chosen(places, described, limit, first, by="part")
    found = ((place, at, datasets[at].problems[number]) for place in chosen for at, number in [pairs[place]])
    problems = (
        msgspec.structs.replace(problem, id=place, part=(at, *problem.part), category=task.parts[at].name)
        for place, at, problem in found
    )
    return _prepared(task, tuple(problems), pipelines(task), shard, drawn)


def build(
    task: TaskSpec,
    rows: Sequence[DataRow],
    shots: Sequence[DataRow],
    limit: int | None,
    shard: Shard | None = None,
    *,
    first: int | None = None,
) -> PreparedDataset:
    """Prepares a task from its rows. Every problem is rendered, so that errors in the data show before a run begins.

    A shard has the hashes of the whole dataset, because it is part of the same question.
    """
    tools.check(task)
    resolved = pipelines(task)
    for pipeline in resolved:
        check(pipeline)
    check_turns(task, resolved)
    whole = list(rows) if task.views else []  # so that no other row gets the identity of one that a view leaves out
    rows = views.apply_views(task.views, whole, task.data.name) if task.views else rows
    places = {id(row): place for place, row in enumerate(whole)} if task.views else None
    by, of_groups = _part_column(task), groups.groups_of(_uses(resolved))

    def described(place: int) -> draw.Described:
        row = rows[place]
        return draw.Described(str(row.get(by)) if by else "", groups.named(of_groups, row))

    chosen, drawn = draw.chosen(views.sliced(task, len(rows)), described, limit, first, by=by)
    builder = _DatasetBuilder(task, rows, shots)
    problems = (
        builder.problem(place, rows[place], place if places is None else places.get(id(rows[place])))
        for place in chosen
    )
    return _prepared(task, tuple(problems), resolved, shard, drawn)


def _part_column(task: TaskSpec) -> str:
    """The column by whose values the task's figures have parts; empty: none."""
    by = task.grouping.by if task.grouping else "category"
    return (task.category or "") if by == "category" else by


def drawn_by(task: TaskSpec) -> str:
    """How a sample of its problems is drawn, for people."""
    by = "part" if task.parts else _part_column(task).replace("_", " ")
    return f"by {by}" if by else "at random"


def _uses(judging: Iterable[Pipeline]) -> Iterator[MetricUse]:
    return (use for pipeline in judging for use in pipeline.metrics)


def _prepared(
    task: TaskSpec,
    problems: tuple[Problem, ...],
    judging: Sequence[Pipeline],
    shard: Shard | None,
    drawn: Draw | None,
) -> PreparedDataset:
    questions = _digest([_hashed_question(problem, task.of(problem)) for problem in problems])
    judged = [_by_content(_without_defaults(pipeline)) for pipeline in judging]
    stands_for = [str(drawn)] if drawn and drawn.is_sample else []
    version = _digest([questions, [_hashed_answers(problem) for problem in problems], judged, *stands_for])[:6]
    asked = views.sharded(problems, shard)
    return PreparedDataset(task=task, problems=asked, version=version, questions=questions, draw=drawn)


class _DatasetBuilder:
    """Turns rows into problems with their solved examples."""

    def __init__(self, task: TaskSpec, rows: Sequence[DataRow], shots: Sequence[DataRow]) -> None:
        self._task = task
        self._unconditional = any(
            measure.name == "acc_mutual_info" for pipeline in pipelines(task) for measure in pipeline.metrics
        )
        examples = task.prompt.fewshot
        own = examples is not None and examples.data is None and not examples.rows
        self._pool = rows if own else list(examples.rows) if examples and examples.rows else shots
        without = own if examples is None or examples.without_itself is None else examples.without_itself
        count = examples.count if examples else 0
        if len(self._pool) < count + (without and count > 0):
            raise BadData(
                f"{task.name} shows {count} solved examples, but its file of examples has {len(self._pool)} rows."
            )
        self._choose: Choose | None = None
        if examples and count:
            self._choose = chooser(examples.sampler, self._pool, count, own=without)

    def problem(self, place: int, row: DataRow, row_place: int | None) -> Problem:
        task, where = self._task, f"{self._task.data.name}, row {place + 1}"
        shots = self._shots(place, row)
        key = self._key(row, where)
        question = asked = prompts.render(task.prompt.question, row, where)
        text = self._text(question, row, shots, where)
        if MARKS.search(text):
            raise BadData(f"{where}: its text shows a picture, but only conversations can, not texts to be continued.")
        if task.kind == "choice":
            question = prompts.lettered(task.prompt, key.choices, row, where)
        return Problem(
            id=place,
            row=row_place,
            key=tuple(str(row[column]) for column in task.key) if all(column in row for column in task.key) else (),
            row_texts=self._row_texts(row, asked),
            row_options=self._row_options(row),
            messages=prompts.conversation(task.prompt, question, row, shots, where),
            text=text,
            follow_ups=prompts.listed(task.prompt.follow_ups, row, where),
            references=key.references,
            turn_references=self._turn_references(row, where),
            choices=key.choices,
            candidates=self._candidates(text, key, row, shots, where),
            gold=key.gold,
            category=str(row[task.category]) if task.category else None,
            cluster=self._cluster(row, where),
            functions=tools.definitions(row[task.functions]) if task.functions else (),
            extras=marked(row if task.extras == WHOLE_ROW else {field: row[field] for field in task.extras}),
        )

    def _cluster(self, row: DataRow, where: str) -> str:
        """A hash of what the row shares with others, the same in every limit, shard and release."""
        source = self._task.cluster
        if source and "{" not in source and source not in row:
            raise BadData(
                f"{where}: there is no column '{source}', which 'cluster' names; there are: {', '.join(row)}."
            )
        shared = prompts.render(source, row, where) if "{" in source else marked(row[source]) if source else None
        text = shared if isinstance(shared, str) else "" if shared is None else msgspec.json.encode(shared).decode()
        return hashlib.sha256(text.strip().encode()).hexdigest()[:12] if text.strip() else ""

    def _row_texts(self, row: DataRow, question: str) -> tuple[str, ...]:
        prompt = self._task.prompt
        values = [row.get(column) for column in sorted(prompts.columns(prompt.question))]
        texts = [value for value in values if isinstance(value, str) and value.strip() and value.strip() in question]
        if prompt.dialogue and row[prompt.dialogue]:
            texts.append(row[prompt.dialogue][-1]["content"])
        texts = sorted(texts, key=len, reverse=True) or [question] * bool(question.strip())
        return (*texts[:1], *(text for text in texts[1:] if len(text) >= _TELLING))

    def _row_options(self, row: DataRow) -> tuple[str, ...]:
        values = (row.get(column) for column in sorted(prompts.columns(self._task.prompt.question)))
        lists = (value for value in values if isinstance(value, list) and all(isinstance(one, str) for one in value))
        return tuple(text for texts in lists for text in texts)

    def _key(self, row: DataRow, where: str) -> "_AnswerKey":
        task = self._task
        choices = prompts.listed(task.choices, row, where)
        references = self._references(row, where)
        gold = positions(references[0], choices) if task.kind in {"choice", "schema"} else ()
        if gold is None:
            raise BadData(f"{where}: the right answer '{references[0]}' is none of the {len(choices)} options.")
        return _AnswerKey(references, choices, gold)

    def _references(self, row: DataRow, where: str) -> tuple[str, ...]:
        task = self._task
        return prompts.listed(task.references, row, where) or (prompts.render(task.reference, row, where),)

    def _turn_references(self, row: DataRow, where: str) -> tuple[str, ...]:
        found = prompts.listed(self._task.turn_references, row, where)
        turns = len(prompts.listed(self._task.prompt.follow_ups, row, where)) + 1
        if found and len(found) != turns:
            raise BadData(f"{where}: there are {turns} turns, but {len(found)} right answers to them.")
        return found

    def _text(self, question: str, row: DataRow, shots: Sequence[prompts.Shot], where: str) -> str:
        task = self._task
        if task.kind == "rolling":
            return question
        if task.kind == "generate" and task.mode == "chat":
            return ""
        return prompts.text(task.prompt, question, row, shots, where)

    def _shots(self, place: int, row: DataRow) -> list[prompts.Shot]:
        if self._choose is None:
            return []
        prompt = self._task.prompt
        name = prompt.fewshot.data.name if prompt.fewshot and prompt.fewshot.data else self._task.data.name
        return [self._shot(self._pool[at], f"{name}, example {at + 1}") for at in self._choose(place, row)]

    def _shot(self, row: DataRow, where: str) -> prompts.Shot:
        task = self._task
        if task.prompt.answer and task.kind != "schema":
            return prompts.shot(task.prompt, row, where)
        has_options = task.kind in {"choice", "schema"}
        key = self._key(row, where) if has_options else _AnswerKey(self._references(row, where), (), ())
        right = key.choices[key.gold[0]] if has_options else key.references[0]
        return prompts.shot(task.prompt, row, where, right=right, context=right if task.kind == "schema" else None)

    def _candidates(
        self, text: str, key: "_AnswerKey", row: DataRow, shots: Sequence[prompts.Shot], where: str
    ) -> tuple[Candidate, ...]:
        prompt = self._task.prompt
        match self._task.kind:
            case "rolling":
                return (Candidate(context="", continuation=text),)
            case "target":
                return (Candidate(context=text, continuation=prompt.delimiter + key.references[0]),)
            case "choice":
                endings = [prompt.delimiter + choice for choice in key.choices]
                contexts = [text, ""] if self._unconditional else [text]
                return tuple(
                    Candidate(context=context, continuation=ending) for context in contexts for ending in endings
                )
            case "schema":
                ending = prompt.delimiter + prompts.render(prompt.answer, row, where)
                texts = [prompts.text(prompt, choice, row, shots, where) for choice in key.choices]
                return tuple(Candidate(context=context, continuation=ending) for context in texts)
        return ()


class _AnswerKey(msgspec.Struct, frozen=True):
    """The right answers of a row: their texts, and among options their positions."""

    references: tuple[str, ...]
    choices: tuple[str, ...]
    gold: tuple[int, ...]


# A version identifies the question across releases of this program. What a task does not use is not hashed, so that
# fields which a release adds to the records change no version.


def _hashed_question(problem: Problem, task: TaskSpec) -> tuple[Any, ...]:
    texts = (problem.text, problem.candidates) if problem.text or problem.candidates else ()
    offered = (tools.offered(task.tools) or problem.functions,) if task.tools or problem.functions else ()
    turns = (problem.follow_ups,) if problem.follow_ups else ()
    return (problem.id, [(message.role, message.content) for message in problem.messages], *texts, *offered, *turns)


def _hashed_answers(problem: Problem) -> tuple[Any, ...]:
    more = (problem.gold, problem.extras) if problem.gold or problem.extras else ()
    turns = (problem.turn_references,) if problem.turn_references else ()
    return (problem.references, problem.choices, *more, *turns)


def _without_defaults(value: Any) -> Any:
    """A record as the fields that differ from their defaults."""

    def usual(field: msgspec.structs.FieldInfo) -> Any:
        return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()

    if isinstance(value, msgspec.Struct):
        fields = [(field, getattr(value, field.name)) for field in msgspec.structs.fields(value)]
        return {field.name: _without_defaults(content) for field, content in fields if content != usual(field)}
    return [_without_defaults(item) for item in value] if isinstance(value, tuple) else value


def _by_content(value: Any) -> Any:
    """With the contents of files instead of their places: another function is another way of judging."""
    if isinstance(value, dict):
        return {name: _by_content(content) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [_by_content(content) for content in value]
    return user_functions.by_content(value) if isinstance(value, str) else value


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(values)).hexdigest()
