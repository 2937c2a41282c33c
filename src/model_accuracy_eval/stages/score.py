"""Journals → sheets: every kept reply judged, problem by problem, and what went missing counted."""

from collections import Counter
from collections.abc import Iterator

from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import Attempt, Counts, Exam, RunPlan, Sheet, Tally, Verdict
from model_accuracy_eval.reporting import journal
from model_accuracy_eval.scoring import pipeline
from model_accuracy_eval.scoring.notes import notes
from model_accuracy_eval.scoring.speed import Stopwatch


def mark(plan: RunPlan, exams: tuple[Exam, ...], store: Store, ports: Ports, *, partial: bool) -> tuple[Sheet, ...]:
    """One sheet a dataset. `partial`: the run ended early, so only problems with all their samples are marked."""
    return tuple(_Marking(plan, exam, store, ports).sheet(partial=partial) for exam in exams)


class _Marking:
    """The verdicts of one dataset, gathered in one pass over its journal."""

    def __init__(self, plan: RunPlan, exam: Exam, store: Store, ports: Ports) -> None:
        self._plan = plan
        self._exam = exam
        self._store = store
        self._ports = ports
        self._pipeline = exam.task.pipelines[0]
        self._places = {problem.id: place for place, problem in enumerate(exam.problems)}
        self._verdicts = [[pipeline.MISSING] * plan.sampling.n for _ in exam.problems]
        self._texts: list[set[int]] = [set() for _ in exam.problems]
        self._reasoning_only = 0
        self._stopwatch = Stopwatch()

    def sheet(self, *, partial: bool) -> Sheet:
        for attempt in self._attempts():
            self._take(attempt)
            if self._ports.clock.overdue():
                partial = True
                break
        tallies = self._tallies(partial=partial)
        n, k = self._plan.sampling.n, self._plan.k
        counts = self._counts()
        sheet = Sheet(
            dataset=self._exam.task.name,
            version=self._exam.version,
            rows=pipeline.rows(self._exam.task, self._exam.version, tallies, n, k),
            tallies=tallies,
            counts=counts,
            notes=notes(self._plan, counts, tallies, problems=len(self._exam.problems), all_equal=self._all_equal()),
            speed=self._stopwatch.read(),
        )
        self._log(sheet)
        return sheet

    def _attempts(self) -> Iterator[Attempt]:
        """Failures first: an answer of the same sample, if there is one, has the last word."""
        label, dataset = self._plan.label, self._exam.task.name
        for line in self._store.lines(journal.failures_file(label, dataset)):
            yield journal.failure(line)
        for line in self._store.lines(journal.file(label, dataset)):
            yield journal.attempt(line)

    def _take(self, attempt: Attempt) -> None:
        place = self._places[attempt.problem]
        problem = self._exam.problems[place]
        self._verdicts[place][attempt.index] = pipeline.judge(
            attempt, problem, self._pipeline, score_reasoning=self._plan.score_reasoning
        )
        if attempt.fault is None:
            self._texts[place].add(hash((attempt.text, attempt.reasoning)))
            self._reasoning_only += not attempt.text.strip() and bool(attempt.reasoning.strip())
            self._stopwatch.take(attempt)

    def _tallies(self, *, partial: bool) -> tuple[Tally, ...]:
        return tuple(
            pipeline.tally(problem, verdicts, self._pipeline)
            for problem, verdicts in zip(self._exam.problems, self._verdicts, strict=True)
            if not (partial and _unfinished(verdicts))
        )

    def _counts(self) -> Counts:
        verdicts = [verdict for verdicts in self._verdicts for verdict in verdicts]
        why = Counter(verdict.why for verdict in verdicts)
        lost = why["rejected"] + why["failed"] + why["missing"]
        return Counts(
            planned=len(verdicts),
            answered=len(verdicts) - lost,
            rejected=why["rejected"],
            failed=why["failed"],
            missing=why["missing"],
            cut=sum(verdict.cut for verdict in verdicts),
            empty=why["empty"],
            reasoning_only=self._reasoning_only,
            not_found=why["not found"],
        )

    def _all_equal(self) -> bool:
        """Whether the samples of every problem are the same text: sampling that samples nothing."""
        return self._plan.sampling.n > 1 and bool(self._texts) and all(len(texts) == 1 for texts in self._texts)

    def _log(self, sheet: Sheet) -> None:
        counts = sheet.counts
        lines = [f"{row.metric}: {row.value}" for row in sheet.rows]
        lines.append(
            f"{counts.answered} of {counts.planned} samples judged, {counts.not_found} without an answer in them"
        )
        for line in [*lines, *sheet.notes]:
            if self._plan.debug:
                self._ports.screen.say(f"{sheet.dataset}: {line}")
            else:
                name = f"logs/eval/{self._plan.label}/{sheet.dataset}.out"
                stamp = self._ports.clock.local("%Y-%m-%d %H:%M:%S")
                self._store.append(name, f"{stamp} {line}\n".encode())


def _unfinished(verdicts: list[Verdict]) -> bool:
    return any(verdict.why in {"missing", "failed"} for verdict in verdicts)
