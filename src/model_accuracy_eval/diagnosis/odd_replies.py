"""The odd replies of a dataset, from its journal: how many of each kind, and where they gather.

A run looks when it judges, `report` at runs that were kept before there was anything to look for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

from msgspec.structs import replace

from model_accuracy_eval.diagnosis import gathering
from model_accuracy_eval.diagnosis.anomalies import KINDS, SeenReply, kinds
from model_accuracy_eval.diagnosis.gathering import SampleName
from model_accuracy_eval.records import DatasetResult, Report, RunPlan, TaskSpec, Usage
from model_accuracy_eval.run_folder import journal

ReadLines = Callable[[str], Iterable[bytes]]
"""A file's name → its lines."""
_CAP_FIELDS = {"max_tokens", "max_completion_tokens"}


def looked_at(
    result: DatasetResult, plan: RunPlan, task: TaskSpec, read: ReadLines, is_late: Callable[[], bool] = bool
) -> DatasetResult:
    """The result with what its replies show: one pass over the journal, and another one where something is odd.
    `is_late`: whether no time is left."""
    names: dict[str, set[SampleName]] = {}
    first: dict[str, tuple[SampleName, SeenReply]] = {}
    for sample, reply in _replies(plan, task, read(journal.file(plan.settings.label, task.name))):
        for kind in kinds(reply):
            names.setdefault(kind, set()).add(sample)
            if kind not in first or sample < first[kind][0]:
                first[kind] = sample, reply
        if is_late():
            break
    counts = {kind: len(samples) for kind, samples in names.items()}
    odd = len(set[SampleName]().union(*names.values()))
    return replace(
        result,
        counts=replace(result.counts, anomalous=odd, filtered=counts.get("content filter", 0)),
        anomalies=counts,
        notes=(*(_notes(plan, task, read, names, first) if names else ()), *result.notes),
    )


def _replies(plan: RunPlan, task: TaskSpec, lines: Iterable[bytes]) -> Iterator[tuple[SampleName, SeenReply]]:
    """The samples of a request stand together, because they were written together."""
    tasks, cap = (task, *task.parts), _cap(plan, task)
    may_call = any(each.tools or each.functions for each in tasks)
    whole = not any(each.stop for each in tasks)
    read = ((journal.answer_of(line), line) for line in lines)
    for _, group in groupby(read, key=lambda each: each[0].request or (each[0].id, each[0].index)):
        answers = list(group)
        cut = sum(answer.finish_reason == "length" for answer, _ in answers)
        for answer, line in answers:
            usage = answer.usage or Usage()
            yield (
                (answer.id, answer.index),
                SeenReply(
                    text=answer.prediction,
                    reasoning=answer.reasoning,
                    finish_reason=answer.finish_reason,
                    method=answer.method,
                    loglikelihoods=answer.loglikelihoods,
                    tokens_told=answer.tokens,
                    chunks=answer.timings.chunks if answer.timings else 0,
                    tokens=usage.completion_tokens,
                    reasoning_tokens=usage.reasoning_tokens,
                    choices=len(answers),
                    cut=cut,
                    cap=cap,
                    has_media=bool(answer.media),
                    tools=may_call,
                    several=bool(answer.rounds or answer.earlier),
                    whole=whole,
                    prompt=lambda line=line: journal.whole_prompt(line).question,  # type: ignore[misc]
                ),
            )


def _cap(plan: RunPlan, task: TaskSpec) -> int | None:
    """How many tokens each request asked for; None if that differs, or others have said it."""
    if plan.is_of_saved_replies or not _CAP_FIELDS.isdisjoint(plan.sampling.extra):
        return None
    caps = {plan.sampling.of(each).max_tokens for each in task.parts or (task,) if each.kind == "generate"}
    return caps.pop() if len(caps) == 1 else None


def _notes(
    plan: RunPlan,
    task: TaskSpec,
    read: ReadLines,
    names: Mapping[str, set[SampleName]],
    first: Mapping[str, tuple[SampleName, SeenReply]],
) -> Iterator[str]:
    label = plan.settings.label
    own = map(journal.answer_of, read(journal.file(label, task.name)))
    of_run = (journal.answer_of(line) for each in plan.tasks for line in read(journal.file(label, each.name)))
    known = gathering.circumstances(own, of_run)
    for kind in KINDS:
        if odd := names.get(kind.name):
            (problem, index), reply = first[kind.name]
            gathers = gathering.where(odd, known, kinds=len(names), length=not kind.by_length)
            yield (
                f"Anomaly '{kind.name}' in {len(odd):,} of {len(known):,} replies: {kind.says} (the first"
                f"{kind.shows(reply)}: problem {problem}, sample {index}).{' ' * bool(gathers)}{gathers}"
            )


def report_looked_at(report: Report, read: ReadLines) -> Report:
    """A kept run's, where it was judged before anybody looked."""
    tasks = {task.name: task for task in report.plan.tasks}
    results = tuple(
        looked_at(result, report.plan, tasks[result.dataset], read)
        if result.anomalies is None and result.dataset in tasks
        else result
        for result in report.dataset_results
    )
    return replace(report, dataset_results=results)
