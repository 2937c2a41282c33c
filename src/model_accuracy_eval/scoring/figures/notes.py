"""Sentences that keep a reader from misreading figures: lost, cut, empty and equal samples, and where programs ran."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    Draw,
    ExecutionSummary,
    Media,
    PreparedDataset,
    ProblemResult,
    RequestMethod,
    RowsSource,
    RunPlan,
    Sampling,
    Shard,
    Spread,
    SummaryRow,
)
from model_accuracy_eval.records.code import Execution
from model_accuracy_eval.records.exchange import DOES_NOT_FIT, GENERATING_METHODS
from model_accuracy_eval.records.plan import THINKING_ROOM, thinking_budget
from model_accuracy_eval.scoring.answers import tools
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.run_speed import Stopwatch
from model_accuracy_eval.scoring.metrics import metric_table

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


_AS_ONE = "they count as one, pass@k and cons@k say no more than accuracy, and what asking again would give is unknown."
_COUNTED = " and count as not correct, or not at all in perplexities: the figure lies between its least and greatest."


def sample_notes(
    plan: RunPlan,
    sampling: Sampling,
    counts: Counts,
    problem_results: Sequence[ProblemResult],
    *,
    problems: int,
    all_equal: bool,
    finished: float | None = None,
) -> Iterator[str]:
    """The notes on a dataset's samples, the most misleading circumstances first. `finished`: the first figure of those
    that were not cut."""
    if (judged := len(problem_results)) < problems:
        yield f"The run ended early: {judged} of {problems} problems have all their samples, and only those are judged."
    yield from _lost(plan, counts)
    if counts.unjudged:
        yield (
            f"{counts.unjudged} of {counts.answered} answers could not be judged{_COUNTED} "
            "--mode eval --reuse asks about them again."
        )
    if counts.cut:
        cap = f" (max_tokens {sampling.max_tokens:,})" if sampling.max_tokens and not plan.is_of_saved_replies else ""
        alone = f"; {counts.reasoning_only} replies hold a thought and nothing else" if counts.reasoning_only else ""
        share = f"{counts.cut} of {counts.answered} replies ({100 * counts.cut / counts.answered:.2g} %)"
        others = "" if finished is None else f" Without them the first figure is {finished:.2f}."
        yield f"{share} were cut by length{cap}{alone}.{others}{_room(sampling, counts)}"
    if counts.not_found:
        yield f"In {counts.not_found} of {counts.answered} replies no answer was found; they count as not correct."
    if counts.doubtful:
        yield (
            f"{counts.doubtful} of {counts.answered} answers are doubtful: the reply states none, or several, and the "
            "last number, formula or letter was read."
        )
    if all_equal and plan.is_of_saved_replies:
        yield f"All {sampling.n} samples of every problem are equal: {_AS_ONE}"
    elif all_equal and sampling.temperature:
        yield (
            f"All {sampling.n} samples are the same text in every problem although temperature is "
            f"{sampling.temperature:g}: the service decodes greedily; {_AS_ONE}"
        )
    elif all_equal:
        yield f"Temperature is 0 and the {sampling.n} samples of every problem are equal: {_AS_ONE}"


def _room(sampling: Sampling, counts: Counts) -> str:
    """What gives thoughts more room."""
    if not counts.reasoning_only or not sampling.max_tokens:
        return ""
    if sampling.thinking == "server" and sampling.max_tokens < THINKING_ROOM:
        return f" --thinking on gives thoughts and answers {THINKING_ROOM:,} tokens."
    return " A larger --max-tokens gives thoughts more room, --thinking budget=N keeps them shorter."


def of_thoughts(sampling: Sampling, thought: int, answered: int, stopwatch: Stopwatch) -> Iterator[str]:
    """How long thoughts and answers are. `thought`: as many of the answered samples have one."""
    speed, budget = stopwatch.speed(), thinking_budget(sampling.thinking)
    if not thought:
        return
    lengths = ""
    if speed.thought and speed.answer:
        (middle, high), (of_answer, high_of_answer) = map(_p50_and_p95, (speed.thought, speed.answer))
        lengths = f": {middle} tokens of thought at p50 and {high} at p95, {of_answer} and {high_of_answer} of answer"
    yield f"{thought:,} of {answered:,} replies begin with a thought{lengths}."
    longer = sum(tokens > budget for tokens, _ in stopwatch.tokens) if budget else 0
    if longer:
        yield f"{longer:,} thoughts are longer than the budget of {budget:,} tokens, which the service did not keep."


def _p50_and_p95(spread: Spread) -> tuple[str, str]:
    return f"{spread.p50:,.0f}", f"{spread.p95 or spread.p90:,.0f}"


def of_sources(sources: Iterable[RowsSource]) -> Iterator[str]:
    """One sentence for each file of which nothing says that its rows are the right ones."""
    endings = {
        "pinned now": "were read for the first time ({place}) and noted in the lock file: later runs get the same ones",
        "as pinned": "are those that the lock file noted at their first use ({place})",
        "not compared": "come from {place}, and were compared with no others",
    }
    for source in sources:
        if source.unpinned:
            ending = endings[source.status].format(place=source.places[0])
            yield (
                f"The {source.count:,} rows of '{source.file}' {ending}, but nothing says that these are the right "
                "ones."
            )


def of_clusters(rows: Iterable[SummaryRow]) -> Iterator[str]:
    """A sentence if problems share passages or the like."""
    known = next(((row.certainty, row.of) for row in rows if row.certainty), None)
    if known and (sharing := known[0].sharing):
        what = "gates over problems of the kind" if known[1] else "intervals and gates over problems"
        yield (
            f"The {known[0].problems:,} problems share {sharing}: {what} count these, because answers about one of "
            "them go wrong together."
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


def unverified_result(result: DatasetResult, doubts: Iterable[str]) -> DatasetResult:
    """The result with what is in doubt about its replies: a note each, and a mark at every figure."""
    said = tuple(f"Unverified: {doubt}." for doubt in doubts)
    if not said:
        return result
    rows = tuple(replace(row, unverified=True) for row in result.rows)
    return replace(result, rows=rows, notes=(*said, *(note for note in result.notes if note not in said)))


def of_other_answers(problems: int) -> Iterator[str]:
    """A sentence if right answers have changed since their problems were asked."""
    if problems:
        yield (
            f"The right answer of {problems:,} problem{'s' * (problems > 1)} is not the one of the day of asking; the "
            "replies are judged by the present one."
        )


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


_PARTS_NAMED = 5
"""The other parts are counted."""


def of_draw(draw: Draw | None, shard: Shard | None) -> Iterator[str]:
    """Of what the figures are, where not all problems were asked."""
    if draw is None:
        return
    here = f", of which this is the shard {shard}" if shard else ""
    if draw.is_sample:
        yield f"The problems are {draw}{here}: the interval is that of all {draw.of:,} problems."
    else:
        others = f"the other {draw.of - draw.asked:,}"
        yield f"The problems are {draw}{here}: they are no sample, so nothing is said of {others}."


def of_problems(prepared: PreparedDataset) -> Iterator[str]:
    """How old the problems are, and of which of them too few are asked for a figure."""
    column, problems = prepared.task.dated, prepared.problems
    if days := sorted(str(problem.extras[column])[:10] for problem in problems if column in problem.extras):
        # A model may have read older ones, with their solutions.
        yield (
            f"The problems are of {days[0]} to {days[-1]} ({column}); a model may have read those that are older than "
            "the end of its data."
        )
    for use in (use for task in prepared.tasks for pipeline in task.pipelines for use in pipeline.metrics):
        if use.name != "whole_group":
            continue
        found = [problem.extras.get(use.args.get("group", "group")) for problem in problems]
        named = [one for one in found if isinstance(one, dict)]
        sizes = {one["name"]: one["rows"] for one in named}
        asked = Counter(one["name"] for one in named)
        if partial := sum(number < sizes[name] for name, number in asked.items()):
            yield (
                f"{use.label or use.name} leaves out {partial:,} of {len(asked):,} groups of rows, because a limit or "
                "a shard takes only a part of them."
            )
    parts = prepared.draw.parts if prepared.draw else {}
    of_part = Counter(groups.part(prepared.task, problem) for problem in problems)
    few = sorted(part for part in parts if of_part[part] < min(2, parts[part]))
    none = sum(not of_part[part] for part in few)
    if few and len(parts) > 1:
        shown = ", ".join(few[:_PARTS_NAMED]) + (" and others" if len(few) > _PARTS_NAMED else "")
        yield (
            f"{len(few):,} of {len(parts):,} parts ({shown}) have fewer than 2 problems in the sample"
            f"{f', {none:,} of them none' if none else ''}: nothing is said of these alone."
        )


def shared_program_notes(programs: Counter[str]) -> tuple[str, ...]:
    """A sentence if some samples hold the same program; `programs` counts the samples of each."""
    if programs.total() == len(programs):
        return ()
    return (f"{programs.total():,} programs were judged by running {len(programs):,}: equal ones share a verdict.",)


_MODES: dict[RequestMethod, str] = {"chat": "gen", "text": "gen"}
"""AISBench's word for figures of generated texts; figures of log-likelihoods name their method instead."""


def _is_sound(media: Iterable[Media]) -> bool:
    return any(one.kind == "audio" for one in media)


class ReplyTally:
    """One pass over the replies."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._prepared = prepared
        self._methods: Counter[RequestMethod] = Counter()
        self._without_letter = 0
        self._cropped: Counter[int] = Counter()
        self._texts_differ = self._several_texts = False
        self._odd: Counter[str] = Counter()
        self.endings: Counter[str | None] = Counter()
        """Finish reasons of generated answers, but for those that a stop string may have given here."""
        self.stopwatch = Stopwatch()
        self.gaps: list[tuple[str, float]] = []
        """Seconds between chunks, each with the replica that sent them."""

    def add(self, attempt: Attempt) -> None:
        self._methods[attempt.method] += 1
        self._without_letter += any(attempt.loglikelihoods) and None in attempt.loglikelihoods
        self._cropped.update({item.cropped_to for item in attempt.loglikelihoods if item and item.cropped_to})
        thought, said = self.stopwatch.add(attempt)
        self._odd["thought"] += bool(thought or (attempt.usage and attempt.usage.reasoning_tokens))
        self._odd["reasoning_only"] += bool(thought) and not said
        self._odd["with_media"] += bool(attempt.media)
        unread = attempt.spoken and not self._prepared.task.spoken
        self._odd["audio_only"] += unread or (_is_sound(attempt.media) and not attempt.text.strip())
        self._odd["used_tools"] += bool(attempt.rounds)
        self._odd["unfinished"] += attempt.finish_reason == tools.UNFINISHED
        if attempt.method in GENERATING_METHODS and not (attempt.finish_reason == "stop" and self._prepared.task.stop):
            self.endings[attempt.finish_reason] += 1
        if attempt.replica and attempt.timings and attempt.timings.gap_mean is not None:
            self.gaps.append((attempt.replica, attempt.timings.gap_mean))

    def add_problem(self, answered: Collection[Attempt]) -> None:
        """All samples of a problem that have an answer."""
        self._several_texts |= len(answered) > 1
        self._texts_differ |= len({hash((sample.text, sample.reasoning)) for sample in answered}) > 1

    @property
    def all_equal(self) -> bool:
        """Whether all samples of every problem have the same text, which means that sampling had no effect."""
        return self._several_texts and not self._texts_differ

    @property
    def mode(self) -> str:
        """How most samples were taken, in the words of the summary."""
        method: RequestMethod = next((most for most, _ in self._methods.most_common(1)), "chat")
        return _MODES.get(method, method)

    def counts(self) -> dict[str, int]:
        """Fields of `Counts`."""
        return {**self._odd, "cropped": self._cropped.total()}

    def loglikelihood_notes(self) -> tuple[str, ...]:
        """What a reader has to know about figures of log-likelihoods."""
        methods = [method for method, _ in self._methods.most_common() if method not in _MODES]
        tasks = [task for task in self._prepared.tasks if task.kind != "generate"]
        method_notes = (
            note
            for method in methods
            for task in tasks
            for note in metric_table.method_notes(task, method, self._without_letter)
        )
        return (*cropped(self._cropped), *dict.fromkeys(method_notes))


# What the service rejected, and what to do about it.


_ADVICE = "serve the model with a longer context, lower --max-tokens, or take a task with fewer or shorter examples"


def step_after_rejection(sentence: str) -> str:
    """What to do about a rejection, as a sentence; empty if its own sentence is all that is known."""
    return f" To do: {_ADVICE}." if sentence.startswith(DOES_NOT_FIT) else ""


def fault_notes(rejected: Sequence[str], failed: Sequence[str]) -> Iterator[str]:
    """Why samples were rejected, and why they failed; each has one sentence."""
    too_long = [sentence for sentence in rejected if sentence.startswith(DOES_NOT_FIT)]
    other = [sentence for sentence in rejected if not sentence.startswith(DOES_NOT_FIT)]
    if too_long:
        yield (
            f"{len(too_long)} of the {len(rejected)} rejected samples are longer than the model's context: {_ADVICE}. "
            f"The first: {too_long[0]}"
        )
    for what, sentences in (("rejections", other), ("failures", failed)):
        if sentences:
            yield f"The first of {len(sentences)} {what}: {sentences[0]}"
