"""Journals → results: judges every reply, problem by problem, and counts the samples that are missing."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum

from msgspec.structs import replace

from model_accuracy_eval.diagnosis import odd_replies
from model_accuracy_eval.errors import Defect, EvalError, NoHonestScore
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    PreparedDataset,
    ProblemResult,
    RunPlan,
    VerdictReason,
)
from model_accuracy_eval.records.exchange import FaultKind
from model_accuracy_eval.report import endings, figures
from model_accuracy_eval.run import outcome
from model_accuracy_eval.run.ask_store import AskStore
from model_accuracy_eval.run.early_stop import NO_STOP, EarlyStop, Follower, PartJudge
from model_accuracy_eval.run.early_stop import notes as part_notes
from model_accuracy_eval.run.run_progress import DatasetLog, journal_lines
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.answers import tools
from model_accuracy_eval.scoring.code import evalplus
from model_accuracy_eval.scoring.figures.notes import (
    ReplyTally,
    fault_notes,
    of_clusters,
    of_draw,
    of_other_answers,
    of_problems,
    of_sources,
    of_thoughts,
    sample_notes,
    unverified_result,
    without_finish_reason,
)
from model_accuracy_eval.scoring.figures.replica_statistics import replica_paces
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_table import reading_notes
from model_accuracy_eval.scoring.verdicts.following import Following, PrefixReader
from model_accuracy_eval.tasks.importers import own_questions, own_verdicts


def judge_each(
    plan: RunPlan,
    datasets: tuple[PreparedDataset, ...],
    store: Store,
    ports: Ports,
    *,
    partial: bool,
    stop: EarlyStop = NO_STOP,
) -> tuple[tuple[DatasetResult, ...], EvalError | None]:
    """Goes on where a dataset cannot be judged; the first such error comes with the results.

    `stop`: the datasets of which not all samples may have been needed.
    """
    results, errors = [], []
    for prepared in datasets:
        judge_one = functools.partial(judge, plan, prepared, store, ports, partial=partial, stop=stop)
        result = outcome.attempt(f"the judging of {prepared.task.name}", judge_one)
        if isinstance(result, EvalError):
            errors.append(result)
            DatasetLog("eval", plan, prepared.task.name, store, ports).write(f"{result.sentence}\n{result.detail}")
        else:
            results.append(result)
    return tuple(results), next(iter(errors), None)


def judge(
    plan: RunPlan, prepared: PreparedDataset, store: Store, ports: Ports, *, partial: bool, stop: EarlyStop = NO_STOP
) -> DatasetResult:
    """Judges one dataset. `partial`: the run ended early, so only problems with all their samples are judged."""
    name = prepared.task.name
    findings = AskStore(plan, prepared, store)
    findings.answer_all(ports)
    judge = _DatasetJudge(plan, prepared, store, ports, findings)
    following = stop.followings.get(name)
    if following is not None:
        follower = Follower(plan, prepared, following, store, findings)
        follower.read_again()
        judge.keep_to(following, follower.reader)
    result = judge.dataset_result(partial=partial)
    why = stop.reasons.get(name)
    result = replace(result, notes=(f"All of it was asked, because {why}.", *result.notes)) if why else result
    return unverified_result(result, plan.unverified)


class _DatasetJudge:
    """Judges one dataset in one pass over its journal; texts stay in memory until their problem has all its samples."""

    def __init__(
        self, plan: RunPlan, prepared: PreparedDataset, store: Store, ports: Ports, ask_store: AskStore
    ) -> None:
        self._plan = plan
        self._prepared = prepared
        self._store = store
        self._ports = ports
        self._sampling = plan.sampling.of(prepared.task)
        self._ask_store = ask_store
        self._card: Scorecard | PartJudge = self._new_card()
        self._needed: Mapping[int, Sequence[int]] | None = None
        """Problem → the samples that were needed; None: all."""
        self._problems = {problem.id: problem for problem in prepared.problems}
        self._failed: dict[tuple[int, int], Attempt] = {}
        self._unjudged: dict[int, dict[int, Attempt]] = {}
        self._results: dict[int, ProblemResult] = {}
        self._defects: dict[int, Defect] = {}
        self._finished: list[float] = []
        """Values of the replies that were not cut."""
        self._other_answers = 0
        """Problems whose right answer has changed since they were asked."""
        self._lost = Counts()
        """The samples of problems without a result."""
        self._tally = ReplyTally(prepared)
        self._misses = own_verdicts.Misses(prepared)

    def _new_card(self) -> Scorecard:
        return Scorecard(
            self._prepared.task,
            self._sampling.n,
            self._plan.k,
            ask_results=self._ask_store.look_up,
            draw=self._prepared.draw,
        )

    def keep_to(self, following: Following, reader: PrefixReader) -> None:
        """Judges no more than what was needed, if all of that is there and it is not everything."""
        part = PartJudge(self._plan, self._prepared, following, reader, self._new_card)
        if reader.is_done and part.part().read < following.planned:
            self._card, self._needed = part, part.indexes
            self._problems = {number: each for number, each in self._problems.items() if number in part.indexes}

    def _indexes(self, number: int) -> Sequence[int]:
        """The samples of a problem that count."""
        return range(self._sampling.n) if self._needed is None else self._needed.get(number, ())

    def dataset_result(self, *, partial: bool) -> DatasetResult:
        partial = self._read() or partial
        planned = self._sampling.n * len(self._prepared.problems)
        self._judge_the_rest(partial=partial)
        in_order = (problem.id for problem in self._prepared.problems)
        problem_results = tuple(self._results[number] for number in in_order if number in self._results)
        counts = self._counts(planned, problem_results)
        rows = self._card.rows(self._prepared.version, self._tally.mode, all_equal=self._tally.all_equal)
        if any(source.unpinned for source in self._prepared.sources):
            rows = tuple(replace(row, unpinned=True) for row in rows)
        readings = self._card.readings()
        if counts.cut and self._finished and rows and rows[0].share:
            rows = (replace(rows[0], finished=100 * fsum(self._finished) / len(self._finished)), *rows[1:])
        part = replace(self._card.part(), repeated=self._tally.all_equal) if isinstance(self._card, PartJudge) else None
        dataset_result = DatasetResult(
            dataset=self._prepared.task.name,
            version=self._prepared.version,
            rows=rows,
            problem_results=problem_results,
            counts=counts,
            part=part,
            look_first=self._misses.told(endings.go_on_command(self._plan.settings, self._store.root, asks=False)),
            notes=(
                *of_draw(self._prepared.draw, self._plan.shard),
                *part_notes(part, len(self._prepared.problems)),
                *self._ask_store.notes(),
                *sample_notes(
                    self._plan, self._sampling, counts, problem_results,
                    problems=len(self._problems) - len(self._defects), all_equal=self._tally.all_equal,
                    finished=rows[0].finished if rows else None,
                ),
                *of_thoughts(self._sampling, counts.thought, counts.answered, self._tally.stopwatch),
                *evalplus.notes(self._prepared.task),
                *own_questions.notes(self._prepared.task),
                *filter(None, [self._prepared.gold_fault]),
                *of_other_answers(self._other_answers),
                *of_clusters(rows),
                *of_problems(self._prepared),
                *(found.sentence for found in [*self._defects.values()][:1]),
                *fault_notes(self._faults("rejected"), self._faults("failed")),
                *without_finish_reason(self._tally.endings),
                *tools.notes(self._prepared.tasks, counts),
                *self._tally.loglikelihood_notes(),
                *of_sources(self._prepared.sources),
                *reading_notes(readings, rows),
            ),
            speed=self._tally.stopwatch.speed(),
            ran=self._ask_store.ran(),
            readings=readings,
            paces=replica_paces(self._tally.gaps),
            timed=tuple(self._tally.stopwatch.timed()),
        )  # fmt: skip
        dataset_result = odd_replies.looked_at(
            dataset_result, self._plan, self._prepared.task, self._store.lines, self._ports.clock.overdue
        )
        self._log(dataset_result)
        return dataset_result

    def _read(self) -> bool:
        """Reads both files; returns True when there was no time to read them to their ends."""
        label, dataset = self._plan.settings.label, self._prepared.task.name
        for line in self._store.lines(journal.failures_file(label, dataset)):
            attempt = journal.failure(line)
            self._failed[attempt.problem, attempt.index] = attempt
        log = DatasetLog("eval", self._plan, dataset, self._store, self._ports)
        for line in journal_lines(log, "scored"):
            attempt = journal.attempt(line)
            if attempt.problem not in self._unjudged and attempt.problem in self._problems:
                self._other_answers += journal.shown(line).gold != self._problems[attempt.problem].right[0]
            self._take(attempt)
            if self._ports.clock.overdue():
                return True
        return False

    def _take(self, attempt: Attempt) -> None:
        if self._needed is not None and attempt.index not in self._needed.get(attempt.problem, ()):
            return
        if attempt.problem in self._results or attempt.problem not in self._problems:
            reason = f"({attempt.index}) that was not asked"
            if attempt.problem in self._results:
                reason = f"too many ({attempt.index}), which would count it twice"
            raise NoHonestScore(
                f"The replies to '{self._prepared.task.name}' have a sample of problem {attempt.problem} {reason}: a "
                "run leaves each of its samples once, so find out who wrote into its folder.",
                stage="score",
            )
        samples = self._unjudged.setdefault(attempt.problem, {})
        samples[attempt.index] = attempt
        self._tally.add(attempt)
        if len(samples) == len(self._indexes(attempt.problem)):
            self._judge(attempt.problem)

    def _judge(self, number: int) -> None:
        answered = self._unjudged.pop(number, {})
        samples = [answered.get(index) or self._failed.get((number, index)) for index in self._indexes(number)]
        self._tally.add_problem(answered.values())
        problem = self._problems[number]
        result = outcome.attempt(f"the judging of problem {number}", lambda: self._card.judge(problem, samples))
        if isinstance(result, Defect):
            self._defects[number] = result
            self._lost = self._lost.plus(unjudged=len(answered), **self._lost_counts(number, answered))
        elif isinstance(result, EvalError):
            raise result
        else:
            self._misses.add(problem, samples, result.why)
            self._finished += (
                value
                for sample, value in zip(samples, result.values, strict=False)
                if sample and not sample.fault and sample.finish_reason != "length"
            )
            replicas = tuple(answered[at].replica if at in answered else "" for at in self._indexes(number))
            self._results[number] = replace(result, replicas=replicas) if any(replicas) else result

    def _judge_the_rest(self, *, partial: bool) -> None:
        """Judges the problems that lack samples or, when the run ended early, counts their samples."""
        unjudged = [number for number in self._problems if number not in self._results and number not in self._defects]
        left_out = []
        for number in unjudged:
            answered = self._unjudged.get(number, {})
            lost = self._lost_counts(number, answered)
            if partial and lost["failed"] + lost["missing"]:
                left_out.append(number)
                self._lost = self._lost.plus(**lost)
            else:
                self._judge(number)
        for number in [*left_out, *self._defects] if self._results else ():
            self._card.leave_out(self._problems[number])

    def _lost_counts(self, number: int, answered: Mapping[int, Attempt]) -> dict[str, int]:
        """The counts of a problem's samples that get no verdict."""
        lost = [self._failed.get((number, index)) for index in self._indexes(number) if index not in answered]
        rejected = sum(1 for sample in lost if sample and sample.fault and sample.fault.kind == "rejected")
        missing = lost.count(None)
        return {
            "answered": len(answered),
            "rejected": rejected,
            "failed": len(lost) - rejected - missing,
            "missing": missing,
            "cut": sum(sample.finish_reason == "length" for sample in answered.values()),
            "empty": sum(sample.is_empty for sample in answered.values()),
        }

    def _counts(self, planned: int, problem_results: Sequence[ProblemResult]) -> Counts:
        reasons: Counter[VerdictReason] = Counter()
        cut = doubtful = 0
        for problem_result in problem_results:
            reasons.update(problem_result.why)
            cut += problem_result.cut
            doubtful += len(problem_result.doubtful)
        needed = sum(len(self._indexes(problem)) for problem in self._problems)
        return self._lost.plus(
            planned=planned,
            unneeded=planned - needed,
            answered=sum(reasons[reason] for reason in ("right", "wrong", "empty", "not found", "unjudged")),
            rejected=reasons["rejected"],
            failed=reasons["failed"],
            missing=reasons["missing"],
            cut=cut,
            empty=reasons["empty"],
            not_found=reasons["not found"],
            doubtful=doubtful,
            unjudged=reasons["unjudged"],
            **self._tally.counts(),
        )

    def _faults(self, kind: FaultKind) -> list[str]:
        """Why samples of the judged problems have no answer."""
        return [
            sample.fault.sentence
            for sample in self._failed.values()
            if sample.problem in self._results and sample.fault is not None and sample.fault.kind == kind
        ]

    def _log(self, dataset_result: DatasetResult) -> None:
        counts = dataset_result.counts
        lines = [
            f"{row.metric}: {row.value}{f' ({figures.range_of(row.bounds)})' if row.bounds else ''}"
            for row in dataset_result.rows
        ]
        lines.append(f"{counts.answered} of {counts.planned} samples judged, {counts.not_found} with no answer found")
        log = DatasetLog("eval", self._plan, dataset_result.dataset, self._store, self._ports)
        for line in [*lines, *dataset_result.notes, *self._ask_store.troubles]:
            log.write(line)
        for found in self._defects.values():
            log.write(f"{found.sentence}\n{found.detail}")
