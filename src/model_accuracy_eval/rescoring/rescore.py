"""`rescore`: a file of replies becomes what a run leaves behind, and is judged by the stage that judges runs.

The file is read twice: first without its texts, to find the problems that it answers, then to write the journal.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, MissingData
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import (
    DatasetResult,
    PreparedDataset,
    Problem,
    RunPlan,
    TaskSpec,
)
from model_accuracy_eval.rescoring import agreement, file_dataset, saved_replies
from model_accuracy_eval.rescoring.disagreements import Disagreement, SampleClaims, disagreements
from model_accuracy_eval.rescoring.file_dataset import LmEvalResults
from model_accuracy_eval.rescoring.join import Coverage, NotInDataset, coverage, join
from model_accuracy_eval.rescoring.rescoring_result import Rescored, compare, of_those_judged
from model_accuracy_eval.rescoring.saved_replies import ProblemName, SampleNumbers, SavedProblem, SavedReply
from model_accuracy_eval.run import preflight, score
from model_accuracy_eval.run.shared_sandbox import check_sandbox
from model_accuracy_eval.scoring.metrics.metric_table import pipelines

_LOOKED_AT = 500
"""How many replies decide by what an unknown dataset is judged."""
_SHOWN = 20
"""How many disagreements are part of the result."""

_NO_VALUES = "The file has no values of single samples, so there is nothing to compare them with one by one."

ReadReplies = Callable[[], Iterable[SavedReply]]
OnDisagreement = Callable[[Disagreement], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyFile:
    """Saved replies, and what is known of them."""

    name: str
    read: ReadReplies
    task: TaskSpec | None = None
    """The dataset that they answer; None: the file's own questions."""
    is_own: bool = False
    """Whether they are those of a run of this program, whose plan is known."""
    subset: bool = False
    """Whether the file is meant to answer a part of the dataset."""
    n: int | None = None
    """How many samples the user says that a problem has."""
    results: LmEvalResults | None = None
    """How lm-eval judged them."""
    claimed: Mapping[str, float]
    """The figures of a results file; without them, the values in the samples are the claim."""
    kind: str = ""
    """Without a dataset: by which kind of answers the user says that they are judged."""
    spelled: str = ""
    """How the dataset's name was understood, if the user wrote it otherwise."""

    def problems(self, replies: Iterable[SavedReply]) -> Mapping[ProblemName, SavedProblem]:
        return saved_replies.problems(replies, self.n, own=self.is_own)

    def replies(self) -> Iterator[SavedReply]:
        return (reply for reply in self.read() if not reply.odd)


def rescore(
    file: ReplyFile, plan: RunPlan, ports: Ports, on_disagreement: OnDisagreement | None = None
) -> Iterator[tuple[Rescored, DatasetResult]]:
    """One result, or one for every filter of lm-eval that is judged without a dataset.

    `plan`: that of the run if the replies are our own, otherwise the settings alone. `on_disagreement` is called for
    every sample that has another value in the file, class by class.
    """
    outline = [
        replace(reply, text="", reasoning="", rounds=(), earlier=(), usage=None, timings=None) for reply in file.read()
    ]
    odd = tuple(reply.odd for reply in outline if reply.odd)
    outline = [reply for reply in outline if not reply.odd]
    if not outline:
        raise BadData(f"{file.name} holds no saved replies.")
    filters = list(dict.fromkeys(reply.filter for reply in outline))
    if file.task is not None:
        # lm-eval writes the same replies once for each of its filters.
        first = [reply for reply in outline if reply.filter == filters[0]]
        dataset = _of_task(file, file.task, plan, ports, _Saved(file.problems(first), odd))
        result, own = _judged(file, plan, ports, dataset, filters[0], filtered=False, on_disagreement=on_disagreement)
        yield replace(result, filter="none"), own
        return
    for name in filters:
        looked_at = list(islice((reply for reply in file.replies() if reply.filter == name), _LOOKED_AT))
        task, scoring = file_dataset.guess(file.name, looked_at, file.results, file.kind)
        replies = [reply for reply in outline if reply.filter == name and not _is_dropped(reply)]
        dataset = _of_file(file, _Saved(file.problems(replies), odd), task, scoring)
        yield _judged(file, plan, ports, dataset, name, filtered=True, on_disagreement=on_disagreement)


def _is_dropped(reply: SavedReply) -> bool:
    """Whether lm-eval's filter left nothing of the reply, because it took another one of the same problem."""
    return bool(reply.metrics) and reply.answer is None and not reply.loglikelihoods and not reply.failure


class _Saved(NamedTuple):
    """What a file holds: its problems, and why some rows cannot be read."""

    problems: Mapping[ProblemName, SavedProblem]
    odd: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Dataset:
    """The dataset that the replies are judged on."""

    prepared: PreparedDataset
    saved: Mapping[ProblemName, SavedProblem]
    problems: Mapping[ProblemName, Problem]
    seats: Mapping[ProblemName, Problem]
    """Problems of the file that are not judged → those that lack samples in their place, so that what they might have
    been worth is known."""
    scoring: str
    left_out: tuple[str, ...] = ()
    """Rows and problems of the file that are not judged, and why."""
    notes: tuple[str, ...] = ()


def _of_task(file: ReplyFile, task: TaskSpec, plan: RunPlan, ports: Ports, saved: _Saved) -> _Dataset:
    """The task's own rows; where these are not here or are other ones, the file's if it says all that is needed."""
    try:
        return _joined(file, task, plan, ports, saved)
    except (MissingData, NotInDataset) as error:
        needs_question = not isinstance(error, MissingData)
        brings_all = all(one.gold and (one.question or not needs_question) for one in saved.problems.values())
        if file.is_own or not brings_all or not file_dataset.suits(task):
            raise
        why = f"The right answers are those of the file. {error.sentence}"
        dataset = _of_file(file, saved, replace(task, repeats=None), task.name)
        return dataclasses.replace(dataset, notes=(why, *dataset.notes))


def _joined(file: ReplyFile, task: TaskSpec, plan: RunPlan, ports: Ports, saved: _Saved) -> _Dataset:
    of_part = not file.is_own and bool(plan.settings.limit or plan.settings.first)
    wanted = preflight.prepared(task, plan, ports) if of_part else None
    prepared = preflight.prepared(task, plan.with_settings(limit=None, first=None) if of_part else plan, ports)
    joined = join(file.name, list(saved.problems.values()), prepared, own=file.is_own)
    held = {problem.id for problem in joined.problems if problem is not None}
    strangers = [name for name, problem in zip(saved.problems, joined.problems, strict=True) if problem is None]
    chosen = Coverage(problems=prepared.problems)
    if not file.is_own:
        unplaced = len(strangers) + len(saved.odd)
        chosen = coverage(
            file.name, task, prepared.problems, held, wanted=wanted, subset=file.subset, unplaced=unplaced
        )
    if chosen.first is not None:
        prepared = preflight.prepared(task, plan.with_settings(first=chosen.first), ports)
    prepared = wanted or prepared
    numbers = {problem.id for problem in chosen.problems}
    problems = {
        key: agreement.with_options(problem, one.options, task.of(problem))
        for (key, one), problem in zip(saved.problems.items(), joined.problems, strict=True)
        if problem is not None and problem.id in numbers
    }
    shown = {problem.id: problem for problem in problems.values()}
    lacking = [problem for problem in chosen.problems if problem.id not in held]
    more = _placeholders(prepared.problems, 0 if wanted else len(strangers) - len(lacking))
    return _Dataset(
        prepared=replace(
            prepared,
            task=task if file.is_own else replace(task, repeats=None),
            problems=(*(shown.get(problem.id, problem) for problem in chosen.problems), *more),
        ),
        saved=saved.problems,
        problems=problems,
        seats=dict(zip(strangers, [*lacking, *more], strict=False)),
        scoring=file.spelled or task.name,
        left_out=(*saved.odd, *joined.strangers),
        notes=(*joined.notes, *chosen.notes),
    )


def _of_file(file: ReplyFile, saved: _Saved, task: TaskSpec, scoring: str) -> _Dataset:
    prepared, problems, strangers = file_dataset.prepared(file.name, saved.problems, task)
    n = SampleNumbers(saved.problems, own=file.is_own).n
    free = sum(n - saved.problems[name].samples for name in problems)
    more = _placeholders(prepared.problems, len(strangers) + max(0, ceil((len(saved.odd) - free) / n)))
    return _Dataset(
        prepared=replace(prepared, problems=(*prepared.problems, *more)),
        saved=saved.problems,
        problems=problems,
        seats=dict(zip(strangers, more, strict=False)),
        scoring=scoring,
        left_out=(*saved.odd, *strangers.values()),
        notes=file_dataset.assumptions(prepared.task, saved.problems.values()),
    )


def _placeholders(problems: Sequence[Problem], count: int) -> list[Problem]:
    """Problems in the place of some that nobody can judge: like the last one, and without samples."""
    last = max(problems, key=lambda problem: problem.id)
    return [replace(last, id=last.id + number, row=None, key=()) for number in range(1, count + 1)]


def _judged(
    file: ReplyFile,
    plan: RunPlan,
    ports: Ports,
    dataset: _Dataset,
    filter_name: str,
    *,
    filtered: bool,
    on_disagreement: OnDisagreement | None,
) -> tuple[Rescored, DatasetResult]:
    """`filtered`: what the other program's filter left is judged, not the whole reply."""
    prepared, numbers = dataset.prepared, SampleNumbers(dataset.saved, own=file.is_own)
    plan = _with_samples(file, plan, prepared.task, numbers.n)
    check_sandbox(plan, (prepared,), ports)
    samples = plan.sampling.of(prepared.task).n
    claims = SampleClaims(pipelines(prepared.task), samples)
    store = ports.open_store(f"{plan.settings.out}/{hashlib.sha256(filter_name.encode()).hexdigest()}")
    replies = (
        reply
        for reply in file.replies()
        if (reply.filter == filter_name and not (filtered and _is_dropped(reply))) or (reply.metrics and not filtered)
    )
    written, refused = 0, list[str]()
    try:
        for reply, name, index in numbers.of(replies):
            problem = dataset.problems.get(name)
            if (place := problem or dataset.seats.get(name)) is None:
                continue
            claims.add(reply, place.id, index)
            if problem is None or reply.filter != filter_name:
                continue
            by_filter = filtered and bool(reply.metrics)
            try:
                task = prepared.task.of(problem)
                attempt = saved_replies.sample_of(file.name, task, problem, reply, index, filtered=by_filter)
            except BadData as error:
                refused.append(error.sentence)
                continue
            saved_replies.write_sample(store, plan, prepared, problem, attempt, at=reply.at)
            written += 1
        if refused and not written:
            raise BadData(refused[0])
        result = score.judge(plan, prepared, store, ports, partial=False)
        kinds, listed = disagreements(file.name, result, claims, saved_replies.read_samples(store, plan, prepared))
        if on_disagreement is not None:
            for disagreement in listed:
                on_disagreement(disagreement)
        others = file.results.figures_of(filter_name) if file.results else {}
        figures = compare(
            result,
            pipelines(prepared.task)[0].metrics[0],
            file.claimed or claims.figures(others, filter_name),
            claims.of_samples,
            claims.guesses,
        )
    finally:
        store.close()
    if not file.is_own:
        _check_result(file, prepared.task, result)
    more = [
        f"problem {one.title}: {len(one.numbers):,} replies where others have {samples}, of which the first count "
        f"(-n {len(one.numbers)} takes all for samples)"
        for one in dataset.saved.values()
        if one.samples < len(one.numbers)
    ]
    left_out = (*dataset.left_out, *refused)
    return Rescored(
        name=file.name,
        filter=filter_name,
        scoring=dataset.scoring,
        problems=len(prepared.problems),
        samples=sum(problem.samples for problem in dataset.saved.values()),
        counts=result.counts,
        figures=figures,
        rows=result.rows,
        left_out=(*left_out, *more),
        notes=(
            *(of_those_judged(result) if left_out else ()),
            *dataset.notes,
            *result.notes,
            *([_NO_VALUES] if on_disagreement and not claims.of_samples else []),
        ),
        differing=kinds.total(),
        kinds=dict(kinds),
        disagreements=tuple(listed[:_SHOWN]),
    ), result


def _with_samples(file: ReplyFile, plan: RunPlan, task: TaskSpec, n: int) -> RunPlan:
    """The plan with the number of samples that the file holds; that of a run of ours says it itself."""
    if file.is_own:
        return plan
    n = file.n or n
    saved_replies.check_samples(file.name, task, n, plan.k)
    return replace(plan, sampling=replace(plan.sampling, n=n), k=plan.k or (n,))


def _check_result(file: ReplyFile, task: TaskSpec, result: DatasetResult) -> None:
    """Refuses a figure that is 0 only because the file lacks what its metric needs."""
    if task.kind != "generate" and result.counts.not_found == result.counts.answered > 0:
        raise BadData(
            f"{file.name}: {result.counts.not_found:,} of {result.counts.answered:,} samples lack what {task.name} is "
            f"judged by ({pipelines(task)[0].metrics[0].name}), such as the number of tokens of each option."
        )
