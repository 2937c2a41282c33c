"""Journals → sheets: every kept reply judged, problem by problem, and what went missing counted."""

from collections import Counter

import msgspec

from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import Attempt, Counts, Exam, Rung, RunPlan, Sheet, Tally
from model_accuracy_eval.reporting import journal
from model_accuracy_eval.scoring import rungs, tools
from model_accuracy_eval.scoring.notes import cropped, notes
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.speed import Stopwatch
from model_accuracy_eval.stages import asking
from model_accuracy_eval.stages.asking import Inquiry
from model_accuracy_eval.stages.desk import tasks_of

_MODES: dict[Rung, str] = {"chat": "gen", "text": "gen"}
"""AISBench's word for figures of generated texts; weighed options tell how they were weighed."""


def mark(plan: RunPlan, exams: tuple[Exam, ...], store: Store, ports: Ports, *, partial: bool) -> tuple[Sheet, ...]:
    """One sheet a dataset. `partial`: the run ended early, so only problems with all their samples are marked."""
    inquiries = (asking.find_out(plan, exam, store, ports) for exam in exams)
    return tuple(
        _Marking(plan, exam, store, ports, inquiry).sheet(partial=partial)
        for exam, inquiry in zip(exams, inquiries, strict=True)
    )


class _Marking:
    """One dataset, judged in one pass over its journal; a problem's texts are kept until all its samples came."""

    def __init__(self, plan: RunPlan, exam: Exam, store: Store, ports: Ports, inquiry: Inquiry) -> None:
        self._plan = plan
        self._exam = exam
        self._store = store
        self._ports = ports
        self._sampling = plan.sampling.of(exam.task)
        self._inquiry = inquiry
        self._card = Scorecard(
            exam.task,
            self._sampling.n,
            plan.k,
            score_reasoning=plan.score_reasoning,
            findings=inquiry.look_up,
        )
        self._problems = {problem.id: problem for problem in exam.problems}
        self._failed: dict[tuple[int, int], Attempt] = {}
        self._open: dict[int, dict[int, Attempt]] = {}
        self._tallies: dict[int, Tally] = {}
        self._rungs: Counter[Rung] = Counter()
        self._unseen = 0
        self._cropped: Counter[int] = Counter()
        self._differ = False
        self._reasoning_only = self._used_tools = self._unfinished = 0
        self._stopwatch = Stopwatch()

    def sheet(self, *, partial: bool) -> Sheet:
        partial = self._read() or partial
        planned = self._sampling.n * len(self._problems)
        lost = self._close(partial=partial)
        tallies = tuple(self._tallies[problem] for problem in self._problems if problem in self._tallies)
        counts = self._counts(planned, tallies, lost)
        sheet = Sheet(
            dataset=self._exam.task.name,
            version=self._exam.version,
            rows=self._card.rows(self._exam.version, _MODES.get(self._rung(), self._rung())),
            tallies=tallies,
            counts=counts,
            notes=self._inquiry.notes() + notes(
                self._plan, self._sampling, counts, tallies,
                problems=len(self._problems), all_equal=self._all_equal(tallies),
            ) + (*tools.notes(tasks_of(self._exam), counts), *self._weighing()),
            speed=self._stopwatch.read(),
            ran=self._inquiry.ran(),
        )  # fmt: skip
        self._log(sheet)
        return sheet

    def _read(self) -> bool:
        """Takes in both files; True when there was no time to read them to their ends."""
        label, dataset = self._plan.label, self._exam.task.name
        for line in self._store.lines(journal.failures_file(label, dataset)):
            attempt = journal.failure(line)
            self._failed[attempt.problem, attempt.index] = attempt
        for line in self._store.lines(journal.file(label, dataset)):
            self._take(journal.attempt(line))
            if self._ports.clock.overdue():
                return True
        return False

    def _take(self, attempt: Attempt) -> None:
        samples = self._open.setdefault(attempt.problem, {})
        samples[attempt.index] = attempt
        self._rungs[attempt.rung] += 1
        self._unseen += any(attempt.weighed) and None in attempt.weighed
        self._cropped.update({one.cropped_to for one in attempt.weighed if one and one.cropped_to})
        self._reasoning_only += not attempt.text.strip() and bool(attempt.reasoning.strip())
        self._used_tools += bool(attempt.rounds)
        self._unfinished += attempt.finish_reason == tools.UNFINISHED
        self._stopwatch.take(attempt)
        if len(samples) == self._sampling.n:
            self._judge(attempt.problem)

    def _judge(self, number: int) -> None:
        answered = self._open.pop(number, {})
        samples = [answered.get(index) or self._failed.get((number, index)) for index in range(self._sampling.n)]
        self._differ |= len({hash((sample.text, sample.reasoning)) for sample in answered.values()}) > 1
        self._tallies[number] = self._card.take(self._problems[number], samples)

    def _close(self, *, partial: bool) -> Counts:
        """Judges the problems that lack samples, or, when the run ended early, counts what they have."""
        left = [number for number in self._problems if number not in self._tallies]
        if not partial:
            for number in left:
                self._judge(number)
            return Counts()
        counts = Counts()
        for number in left:
            answered = self._open.get(number, {})
            lost = [self._failed.get((number, index)) for index in range(self._sampling.n) if index not in answered]
            rejected = sum(sample is not None and _rejected(sample) for sample in lost)
            if len(answered) + rejected == self._sampling.n:
                self._judge(number)
                continue
            counts = _plus(
                counts,
                answered=len(answered),
                rejected=rejected,
                failed=sum(sample is not None and not _rejected(sample) for sample in lost),
                missing=lost.count(None),
                cut=sum(sample.finish_reason == "length" for sample in answered.values()),
                empty=sum(not (sample.text.strip() or sample.weighed) for sample in answered.values()),
            )
        return counts

    def _counts(self, planned: int, tallies: tuple[Tally, ...], left: Counts) -> Counts:
        why = Counter(why for tally in tallies for why in tally.why)
        return _plus(
            left,
            planned=planned,
            answered=sum(why[one] for one in ("right", "wrong", "empty", "not found", "unjudged")),
            rejected=why["rejected"],
            failed=why["failed"],
            missing=why["missing"],
            cut=sum(tally.cut for tally in tallies),
            empty=why["empty"],
            reasoning_only=self._reasoning_only,
            not_found=why["not found"],
            unjudged=why["unjudged"],
            cropped=self._cropped.total(),
            used_tools=self._used_tools,
            unfinished=self._unfinished,
        )

    def _weighing(self) -> tuple[str, ...]:
        """What has to be known about weighed options."""
        weighed = [rung for rung, _ in self._rungs.most_common() if rung not in _MODES]
        tasks = [task for task in tasks_of(self._exam) if task.kind != "generate"]
        told = (note for rung in weighed for task in tasks for note in rungs.notes(task, rung, self._unseen))
        return (*cropped(self._cropped), *dict.fromkeys(told))

    def _rung(self) -> Rung:
        """How the figures came about; of several ways the commonest."""
        return next((rung for rung, _ in self._rungs.most_common(1)), "chat")

    def _all_equal(self, tallies: tuple[Tally, ...]) -> bool:
        """Whether the samples of every problem are the same text: sampling that samples nothing."""
        return self._sampling.n > 1 and bool(tallies) and not self._differ

    def _log(self, sheet: Sheet) -> None:
        counts = sheet.counts
        lines = [f"{row.metric}: {row.value}" for row in sheet.rows]
        lines.append(
            f"{counts.answered} of {counts.planned} samples judged, {counts.not_found} without an answer in them"
        )
        for line in [*lines, *sheet.notes, *self._inquiry.troubles]:
            if self._plan.debug:
                self._ports.screen.say(f"{sheet.dataset}: {line}")
            else:
                name = f"logs/eval/{self._plan.label}/{sheet.dataset}.out"
                stamp = self._ports.clock.local("%Y-%m-%d %H:%M:%S")
                self._store.append(name, f"{stamp} {line}\n".encode())


def _rejected(sample: Attempt) -> bool:
    return sample.fault is not None and sample.fault.kind == "rejected"


def _plus(counts: Counts, **more: int) -> Counts:
    return msgspec.structs.replace(counts, **{name: getattr(counts, name) + by for name, by in more.items()})
