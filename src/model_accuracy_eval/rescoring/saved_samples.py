"""Saved replies → the samples of a run, in the files in which a run keeps them; and back from such files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import Attempt, Fault, PreparedDataset, Problem, RunPlan, TaskSpec
from model_accuracy_eval.rescoring.saved_replies import LEFT_OUT, ProblemName, SavedProblem, SavedReply, name_of
from model_accuracy_eval.run_folder import journal


class SampleNumbers:
    """The numbers of a file's samples, from 0. Some programs count from 1."""

    def __init__(self, saved: Mapping[ProblemName, SavedProblem], *, own: bool) -> None:
        self._places: dict[ProblemName, list[tuple[ProblemName, int]]] = {}
        for name, problem in saved.items():
            first = (*name[:3], 0)
            self._places.setdefault(first, []).extend((name, number) for number in problem.numbers)
        numbers = [number for problem in saved.values() for number in problem.numbers if number != LEFT_OUT]
        lowest, highest = min(numbers), max(numbers)
        most = max(problem.samples for problem in saved.values())
        self._counts_rows = not own and most == 1
        """Whether every problem has one sample, whose number can only be that of its row."""
        self._first = 1 if not own and lowest == 1 and highest == most else 0
        self.n = 1 if self._counts_rows else highest + 1 - self._first

    def of(self, replies: Iterable[SavedReply]) -> Iterator[tuple[SavedReply, ProblemName, int]]:
        """Each reply with its problem and its number. lm-eval writes the same samples once for every filter."""
        seen: Counter[tuple[str, ProblemName]] = Counter()
        for reply in replies:
            name = name_of(reply)
            place = seen[reply.filter, name]
            seen[reply.filter, name] += 1
            places = self._places.get(name, [])
            # What another filter adds is no sample.
            problem, number = places[place] if place < len(places) else (name, LEFT_OUT)
            if number != LEFT_OUT:
                yield reply, problem, 0 if self._counts_rows else number - self._first


def check_samples(name: str, task: TaskSpec, n: int, k: Iterable[int]) -> None:
    """Refuses more samples than log-likelihoods have, and a k that the samples do not allow."""
    if task.kind != "generate" and n > 1:
        raise BadData(
            f"{name} holds up to {n} samples of a problem, but {task.name} compares log-likelihoods, of which there is "
            "one set for each problem."
        )
    largest = max(k, default=0)
    if largest > n:
        raise BadValue(
            f"k = {largest} needs at least {largest} samples of every problem, but {name} holds {n} at most: "
            f"give --k up to {n}."
        )


def write(
    store: Store, plan: RunPlan, prepared: PreparedDataset, problem: Problem, attempt: Attempt, *, at: float | None
) -> None:
    """Adds the sample to the journal, or to the failures where there is no reply. `at`: when it was written first."""
    label, dataset = plan.settings.label, prepared.task.name
    if attempt.fault is None:
        store.append(journal.file(label, dataset), journal.line(prepared, problem, attempt, at))
    else:
        store.append(
            journal.failures_file(label, dataset), journal.failure_line(prepared, problem, attempt, attempt.fault)
        )


def read(store: Store, plan: RunPlan, prepared: PreparedDataset) -> Iterator[Attempt]:
    """All samples that were written, answered or not."""
    label, dataset = plan.settings.label, prepared.task.name
    yield from map(journal.attempt, store.lines(journal.file(label, dataset)))
    yield from map(journal.failure, store.lines(journal.failures_file(label, dataset)))


def attempt(name: str, task: TaskSpec, problem: Problem, reply: SavedReply, index: int, *, filtered: bool) -> Attempt:
    """The sample of a run. `filtered`: what the other program's filter left stands in place of the reply."""
    if reply.failure:
        fault = Fault(kind="rejected" if reply.rejected else "failed", sentence=reply.failure)
        return Attempt(problem=problem.id, index=index, fault=fault)
    if task.kind != "generate":
        _check_loglikelihoods(name, task, problem, reply)
    elif reply.loglikelihoods:
        raise BadData(
            f"{name} holds log-likelihoods, but {task.name} judges texts: name a dataset that compares likelihoods "
            f"with --task, such as {task.name}_choice."
        )
    text = reply.answer or "" if filtered else reply.text or reply.answer or ""
    return Attempt(
        problem=problem.id,
        index=index,
        text=text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        rounds=reply.rounds,
        earlier=reply.earlier,
        method=reply.method,
        loglikelihoods=reply.loglikelihoods,
        request=reply.request,
        usage=reply.usage,
        timings=reply.timings,
    )


def _check_loglikelihoods(name: str, task: TaskSpec, problem: Problem, reply: SavedReply) -> None:
    if reply.method == "extracted":
        return
    found, wanted = len(reply.loglikelihoods), len(problem.candidates) or len(problem.choices) or 1
    if not found:
        raise BadData(
            f"{task.name} is judged by log-likelihoods, but {name} holds texts without any: name a dataset with --task "
            "that judges texts."
        )
    if found not in {wanted, len(problem.choices)}:
        raise BadData(
            f"{name} holds {found} log-likelihoods of problem '{reply.problem}', but {task.name} compares {wanted}."
        )


def replies(answers: Iterable[bytes], failures: Iterable[bytes]) -> Iterator[SavedReply]:
    """The samples in the lines of both files. A failure that a later sample replaced is none."""
    answered: set[tuple[int, int]] = set()
    for line in answers:
        answer, shown = journal.answer_of(line), journal.shown(line)
        answered.add((answer.id, answer.index))
        yield SavedReply(
            problem=str(answer.id),
            index=answer.index,
            text=answer.prediction,
            reasoning=answer.reasoning,
            finish_reason=answer.finish_reason,
            rounds=answer.rounds,
            earlier=answer.earlier,
            method=answer.method,
            loglikelihoods=answer.loglikelihoods,
            request=answer.request,
            usage=answer.usage,
            timings=answer.timings,
            at=answer.at,
            question=shown.question,
            gold=(shown.gold,) if shown.gold else (),
        )
    for line in failures:
        failed, shown = journal.failure(line), journal.shown(line)
        if failed.fault is not None and (failed.problem, failed.index) not in answered:
            yield SavedReply(
                problem=str(failed.problem),
                index=failed.index,
                failure=failed.fault.sentence,
                rejected=failed.fault.kind == "rejected",
                question=shown.question,
            )
