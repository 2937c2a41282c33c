"""`rescore`: a file of replies becomes what a run leaves behind, and is judged by the stage that judges runs.

The file is read twice: first without its texts, to find the problems that it answers, then to write the journal.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

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
from model_accuracy_eval.rescoring.rescoring_result import Rescored, compare
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


def rescore(
    file: ReplyFile, plan: RunPlan, ports: Ports, on_disagreement: OnDisagreement | None = None
) -> Iterator[tuple[Rescored, DatasetResult]]:
    """One result, or one for every filter of lm-eval that is judged without a dataset.

    `plan`: that of the run if the replies are our own, otherwise the settings alone. `on_disagreement` is called for
    every sample that has another value in the file, class by class.
    """
    outline = [replace(reply, text="", reasoning="", rounds=(), earlier=()) for reply in file.read()]
    if not outline:
        raise BadData(f"{file.name} holds no saved replies.")
    filters = list(dict.fromkeys(reply.filter for reply in outline))
    if file.task is not None:
        # lm-eval writes the same replies once for each of its filters.
        first = [reply for reply in outline if reply.filter == filters[0]]
        dataset = _of_task(file, file.task, plan, ports, first)
        result, own = _judged(file, plan, ports, dataset, filters[0], filtered=False, on_disagreement=on_disagreement)
        yield replace(result, filter="none"), own
        return
    for name in filters:
        looked_at = list(islice((reply for reply in file.read() if reply.filter == name), _LOOKED_AT))
        task, scoring = file_dataset.guess(file.name, looked_at, file.results)
        replies = [reply for reply in outline if reply.filter == name and not _is_dropped(reply)]
        dataset = _of_file(file, saved_replies.problems(file.name, replies), task, scoring)
        yield _judged(file, plan, ports, dataset, name, filtered=True, on_disagreement=on_disagreement)


def _is_dropped(reply: SavedReply) -> bool:
    """Whether lm-eval's filter left nothing of the reply, because it took another one of the same problem."""
    return bool(reply.metrics) and reply.answer is None and not reply.loglikelihoods and not reply.failure


@dataclass(frozen=True, kw_only=True, slots=True)
class _Dataset:
    """The dataset that the replies are judged on."""

    prepared: PreparedDataset
    saved: Mapping[ProblemName, SavedProblem]
    problems: Mapping[ProblemName, Problem]
    scoring: str
    notes: tuple[str, ...] = ()


def _of_task(file: ReplyFile, task: TaskSpec, plan: RunPlan, ports: Ports, outline: Sequence[SavedReply]) -> _Dataset:
    """The task's own rows; where these are not here or are other ones, the file's if it says all that is needed."""
    saved = saved_replies.problems(file.name, outline)
    try:
        return _joined(file, task, plan, ports, saved)
    except (MissingData, NotInDataset) as error:
        brings_all = all(
            problem.gold and (problem.question or isinstance(error, MissingData)) for problem in saved.values()
        )
        if file.is_own or not brings_all or not file_dataset.suits(task):
            raise
        why = f"The right answers are those of the file. {error.sentence}"
        dataset = _of_file(file, saved, replace(task, repeats=None), task.name)
        return dataclasses.replace(dataset, notes=(why, *dataset.notes))


def _joined(
    file: ReplyFile, task: TaskSpec, plan: RunPlan, ports: Ports, saved: Mapping[ProblemName, SavedProblem]
) -> _Dataset:
    asked = plan if file.is_own else plan.with_settings(limit=None)
    prepared = preflight.prepared(task, asked, ports)
    joined = join(file.name, list(saved.values()), prepared, own=file.is_own)
    held = {problem.id for problem in joined.problems}
    chosen = Coverage(problems=prepared.problems)
    if not file.is_own:
        limit = plan.settings.limit
        chosen = coverage(file.name, task, prepared.problems, held, limit=limit, subset=file.subset)
    if chosen.limit is not None:
        prepared = preflight.prepared(task, plan.with_settings(limit=chosen.limit), ports)
    numbers = {problem.id for problem in chosen.problems}
    problems = {
        key: agreement.with_options(problem, one.options, task.of(problem))
        for (key, one), problem in zip(saved.items(), joined.problems, strict=True)
        if problem.id in numbers
    }
    shown = {problem.id: problem for problem in problems.values()}
    return _Dataset(
        prepared=replace(
            prepared,
            task=task if file.is_own else replace(task, repeats=None),
            problems=tuple(shown.get(problem.id, problem) for problem in chosen.problems),
        ),
        saved=saved,
        problems=problems,
        scoring=task.name,
        notes=(*joined.notes, *chosen.notes),
    )


def _of_file(file: ReplyFile, saved: Mapping[ProblemName, SavedProblem], task: TaskSpec, scoring: str) -> _Dataset:
    prepared, problems = file_dataset.prepared(file.name, saved, task)
    notes = file_dataset.assumptions(prepared.task, saved.values())
    return _Dataset(prepared=prepared, saved=saved, problems=problems, scoring=scoring, notes=notes)


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
    plan = _with_samples(file, plan, prepared.task, numbers.n, dataset.saved.values())
    check_sandbox(plan, (prepared,), ports)
    samples = plan.sampling.of(prepared.task).n
    claims = SampleClaims(pipelines(prepared.task), samples)
    store = ports.open_store(f"{plan.settings.out}/{hashlib.sha256(filter_name.encode()).hexdigest()}")
    replies = (
        reply
        for reply in file.read()
        if (reply.filter == filter_name and not (filtered and _is_dropped(reply))) or (reply.metrics and not filtered)
    )
    try:
        for reply, name, index in numbers.of(replies):
            problem = dataset.problems.get(name)
            if problem is None:
                continue
            claims.add(reply, problem.id, index)
            if reply.filter == filter_name:
                attempt = saved_replies.attempt(
                    file.name,
                    prepared.task.of(problem),
                    problem,
                    reply,
                    index,
                    filtered=filtered and bool(reply.metrics),
                )
                saved_replies.write(store, plan, prepared, problem, attempt)
        result = score.judge(plan, prepared, store, ports, partial=False)
        kinds, listed = disagreements(file.name, result, claims, saved_replies.read(store, plan, prepared))
        if on_disagreement is not None:
            for disagreement in listed:
                on_disagreement(disagreement)
        others = file.results.figures_of(filter_name) if file.results else {}
        figures = compare(
            result,
            pipelines(prepared.task)[0].metrics[0],
            file.claimed or claims.figures(others, filter_name),
            claims.of_samples,
        )
    finally:
        store.close()
    if not file.is_own:
        _check_result(file, prepared.task, result)
    return Rescored(
        name=file.name,
        filter=filter_name,
        scoring=dataset.scoring,
        problems=len(prepared.problems),
        samples=sum(len(problem.numbers) for problem in dataset.saved.values()),
        counts=result.counts,
        figures=figures,
        rows=result.rows,
        notes=(*dataset.notes, *result.notes, *([_NO_VALUES] if on_disagreement and not claims.of_samples else [])),
        differing=kinds.total(),
        kinds=dict(kinds),
        disagreements=tuple(listed[:_SHOWN]),
    ), result


def _with_samples(file: ReplyFile, plan: RunPlan, task: TaskSpec, n: int, saved: Iterable[SavedProblem]) -> RunPlan:
    """The plan with the number of samples that the file holds; that of a run of ours says it itself."""
    if file.is_own:
        return plan
    saved_replies.check_sizes(file.name, saved, file.n)
    n = file.n or n
    saved_replies.check_samples(file.name, task, n, plan.k)
    return replace(plan, sampling=replace(plan.sampling, n=n), k=plan.k or (n,))


def _check_result(file: ReplyFile, task: TaskSpec, result: DatasetResult) -> None:
    """Refuses a figure that is 0 only because the file lacks what its metric needs."""
    if task.kind != "generate" and result.counts.not_found:
        raise BadData(
            f"{file.name}: {result.counts.not_found:,} of {result.counts.answered:,} samples lack what {task.name} is "
            f"judged by ({pipelines(task)[0].metrics[0].name}), such as the number of tokens of each option."
        )
