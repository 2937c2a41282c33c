"""Sentences that keep a reader from misreading figures: lost, cut, empty and equal samples, and where programs ran."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from model_accuracy_eval.records import (
    Counts,
    ExecutionSummary,
    PreparedDataset,
    ProblemResult,
    RowsSource,
    RunPlan,
    Sampling,
)
from model_accuracy_eval.records.code import Execution

_ISOLATION: dict[str, str] = {
    "container": "in a container",
    "namespace": "in separate namespaces (bwrap)",
    "uid": "as a separate user who sees this machine",
    "none": "with limits only, on this machine itself",
}
_INTEGRITY: dict[str, str] = {
    "split": "judged out of the program's reach",
    "split+names": "judged out of the program's reach by tests that take further names from it",
    "shared+control": "judged in the program's process, with a control run",
    "shared": "judged in the program's process, without a control run",
    "exit code": "judged by their exit code",
}


_COUNTED = " and count as not correct, or not at all in perplexities: the figure lies between its least and greatest."


def notes(
    plan: RunPlan,
    sampling: Sampling,
    counts: Counts,
    problem_results: Sequence[ProblemResult],
    *,
    problems: int,
    all_equal: bool,
) -> tuple[str, ...]:
    """The notes on a dataset's samples, the most misleading circumstances first."""
    return (
        *_partial(len(problem_results), problems),
        *_lost(plan, counts),
        *_unjudged(counts),
        *_unreadable(plan, counts),
        *_sampling(plan, sampling, all_equal=all_equal),
    )


def of_sources(sources: Iterable[RowsSource]) -> Iterator[str]:
    """One sentence for each file whose rows nobody has compared with known ones."""
    for source in sources:
        if source.status == "pinned now":
            yield (
                f"The {source.count:,} rows of '{source.file}' were read for the first time ({source.places[0]}) and "
                "noted in the lock file: later runs get the same ones, but nothing says that these are the right ones."
            )


def cropped(contexts_by_size: Mapping[int, int]) -> Iterator[str]:
    """One sentence for each size, in tokens, that contexts were cropped to."""
    for window, contexts in contexts_by_size.items():
        yield (
            f"{contexts:,} contexts were longer than the {window:,} tokens that the model reads at once, and lost "
            "their beginning."
        )


def without_finish_reason(endings: Mapping[str | None, int]) -> Iterator[str]:
    """A sentence if some answers lack a finish_reason and others have one. `endings` counts the reasons."""
    if (count := endings.get(None, 0)) and len(endings) > 1:
        yield (
            f"{count:,} answers ended without a finish_reason although the service sends one, so they may be cut; "
            "go on with the run by --reuse, which asks for them again."
        )


def of_other_answers(problems: int) -> Iterator[str]:
    """A sentence if right answers have changed since their problems were asked."""
    if problems:
        yield (
            f"The right answer of {problems:,} problem{'s' * (problems > 1)} is not the one of the day of asking; the "
            "replies are judged by the present one."
        )


def _partial(judged: int, problems: int) -> Iterator[str]:
    if judged < problems:
        yield f"The run ended early: {judged} of {problems} problems have all their samples, and only those are judged."


def _lost(plan: RunPlan, counts: Counts) -> Iterator[str]:
    if not counts.answered and counts.planned:
        numbers = {"failed": counts.failed, "were rejected": counts.rejected, "were never asked": counts.missing}
        reasons = ", ".join(f"{number} {what}" for what, number in numbers.items() if number)
        yield f"None of the {counts.planned} samples was answered ({reasons}), so there is no figure."
        return
    if counts.missing and plan.absent_shards:
        shards = ", ".join(plan.absent_shards)
        yield (
            f"{counts.missing} of {counts.planned} samples were never asked, because the run was merged without "
            f"{shards}{_COUNTED}"
        )
    if counts.failed:
        tries = "" if plan.is_of_saved_replies else " after all retries"
        yield f"{counts.failed} of {counts.planned} samples failed{tries}{_COUNTED}"
    if counts.rejected:
        yield f"{counts.rejected} of {counts.planned} samples were rejected by the service{_COUNTED}"


def _unjudged(counts: Counts) -> Iterator[str]:
    if counts.unjudged:
        yield (
            f"{counts.unjudged} of {counts.answered} answers could not be judged{_COUNTED} "
            "--mode eval --reuse asks about them again."
        )


def _unreadable(plan: RunPlan, counts: Counts) -> Iterator[str]:
    if counts.reasoning_only:
        yield f"{counts.reasoning_only} replies hold reasoning and nothing else; they count as empty."
    if counts.cut:
        yield f"{counts.cut} of {counts.answered} replies were cut by length: consider a larger --max-tokens."
    if counts.not_found:
        yield f"In {counts.not_found} of {counts.answered} replies no answer was found; they count as not correct."


def _sampling(plan: RunPlan, sampling: Sampling, *, all_equal: bool) -> Iterator[str]:
    if not all_equal:
        return
    if plan.is_of_saved_replies:
        yield f"All {sampling.n} samples of every problem are equal: pass@k and cons@k say no more than accuracy."
    elif sampling.temperature:
        yield (
            f"All {sampling.n} samples are the same text in every problem although temperature is "
            f"{sampling.temperature:g}: the service decodes greedily; pass@k and cons@k say no more than accuracy."
        )
    else:
        yield f"Temperature is 0 and the {sampling.n} samples of every problem are equal: they are one sample."


def execution_summaries(executions: Iterable[Execution]) -> tuple[ExecutionSummary, ...]:
    """How many programs ran in each place, the commonest place first."""
    places: dict[tuple[str, str, str], list[Execution]] = {}
    for execution in executions:
        places.setdefault((execution.isolation, execution.image, execution.integrity), []).append(execution)
    return tuple(
        ExecutionSummary(
            isolation=isolation,
            image=image,
            integrity=integrity,
            programs=len(there),
            passed=sum(execution.passed is True for execution in there),
        )
        for (isolation, image, integrity), there in sorted(places.items(), key=lambda item: -len(item[1]))
    )


def execution_notes(summaries: Iterable[ExecutionSummary]) -> tuple[str, ...]:
    """One sentence on where programs ran and how certain their verdicts are; empty if none ran."""
    places: Counter[tuple[str, str]] = Counter()
    integrities: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for summary in summaries:
        places[summary.isolation, summary.image] += summary.programs
        integrities[summary.integrity] += summary.programs
        passed[summary.integrity] += summary.passed
    if not places:
        return ()
    where = ", ".join(f"{_ISOLATION[isolation]} on {image}" for (isolation, image), _ in places.most_common())
    how = ", ".join(
        f"{count} {_INTEGRITY[integrity]} ({passed[integrity]} passed)"
        for integrity, count in integrities.most_common()
    )
    return (f"Programs ran {where}: {how}.",)


_NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def missing_modules(executions: Iterable[Execution]) -> Iterator[str]:
    """One sentence if programs failed because the place where they ran lacks what they import."""
    found = (_NO_MODULE.search(execution.detail) for execution in executions if execution.passed is False)
    names = Counter(match[1].partition(".")[0] for match in found if match)
    if names:
        listed = ", ".join(f"{name} {count:,}" for name, count in names.most_common(8))
        yield (
            f"{names.total():,} programs failed for modules that are not there to be imported ({listed}): those that a "
            "benchmark allows need an image that has them (--sandbox-image)."
        )


def problem_dates(prepared: PreparedDataset) -> Iterator[str]:
    """One sentence on how old the problems are: a model may have read older ones, with their solutions."""
    column = prepared.task.dated
    if days := sorted(str(problem.extras[column])[:10] for problem in prepared.problems if column in problem.extras):
        yield (
            f"The problems are of {days[0]} to {days[-1]} ({column}); a model may have read those that are older than "
            "the end of its data."
        )


def groups_in_part(prepared: PreparedDataset) -> Iterator[str]:
    """A sentence for each figure of groups of rows that leaves some out, because not all of their rows are asked."""
    uses = [use for task in prepared.tasks for pipeline in task.pipelines for use in pipeline.metrics]
    for use in uses:
        if use.name != "whole_group":
            continue
        found = [problem.extras.get(use.args.get("group", "group")) for problem in prepared.problems]
        groups = [one for one in found if isinstance(one, dict)]
        sizes = {one["name"]: one["rows"] for one in groups}
        asked = Counter(one["name"] for one in groups)
        partial = sum(number < sizes[name] for name, number in asked.items())
        if partial:
            yield (
                f"{use.label or use.name} leaves out {partial:,} of {len(asked):,} groups of rows, because a limit or "
                "a shard takes only a part of them."
            )


def shared_program_notes(programs: Counter[str]) -> tuple[str, ...]:
    """A sentence if some samples hold the same program; `programs` counts the samples of each."""
    if programs.total() == len(programs):
        return ()
    return (f"{programs.total():,} programs were judged by running {len(programs):,}: equal ones share a verdict.",)
