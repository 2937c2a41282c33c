"""Saved replies → the samples of a run, in the files in which a run keeps them; and back from such files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import Attempt, Fault, PreparedDataset, Problem, RunPlan, TaskSpec
from model_accuracy_eval.rescoring.saved_replies import ProblemName, SavedProblem, SavedReply, name_of
from model_accuracy_eval.run_folder import journal

_FEW = 10
"""Problems are an exception where so many times as many are the rule."""
_LETTER_METHODS = ("constrained", "extracted")
"""How a run asks for a letter where a service gives no log-likelihoods."""


class SampleNumbers:
    """The numbers of a file's samples, from 0. Some programs count from 1."""

    def __init__(self, saved: Mapping[ProblemName, SavedProblem], *, own: bool) -> None:
        self._places: dict[ProblemName, list[tuple[ProblemName, int]]] = {}
        for name, problem in saved.items():
            first = (*name[:3], 0)
            self._places.setdefault(first, []).extend((name, number) for number in problem.numbers)
        numbers = [problem.numbers for problem in saved.values()]
        lowest, highest, most = min(map(min, numbers)), max(map(max, numbers)), max(map(len, numbers))
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
            if place < len(places):  # what another filter adds is no sample
                problem, number = places[place]
                yield reply, problem, 0 if self._counts_rows else number - self._first


def check_sizes(name: str, saved: Iterable[SavedProblem], n: int | None) -> None:
    """Refuses problems with more samples than `n`, which the user gave; or than nearly all others have, because a
    reply that is in the file twice would make every other problem lack one."""
    sizes = Counter(len(problem.numbers) for problem in saved)
    usual = max(sizes, key=lambda size: (sizes[size], size)) if n is None else n
    more = {size: count for size, count in sizes.items() if size > usual}
    few = sum(more.values()) * _FEW < sizes[usual]
    if not more or (n is None and not few):
        return
    raise BadData(
        f"{sum(more.values()):,} of {sizes.total():,} problems of {name} have up to {max(more)} samples, where "
        + (f"{sizes[usual]:,} have {usual}: " if n is None else f"-n says {n}: ")
        + f"take out the replies that are there twice, or give -n {max(more)} if they are samples."
    )


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


def write(store: Store, plan: RunPlan, prepared: PreparedDataset, problem: Problem, attempt: Attempt) -> None:
    """Adds the sample to the journal, or to the failures where there is no reply."""
    label, dataset = plan.settings.label, prepared.task.name
    if attempt.fault is None:
        store.append(journal.file(label, dataset), journal.line(prepared, problem, attempt))
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
    )


def _check_loglikelihoods(name: str, task: TaskSpec, problem: Problem, reply: SavedReply) -> None:
    if reply.method in _LETTER_METHODS:
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
        attempt, shown = journal.attempt(line), journal.shown(line)
        answered.add((attempt.problem, attempt.index))
        yield SavedReply(
            problem=str(attempt.problem),
            index=attempt.index,
            text=attempt.text,
            reasoning=attempt.reasoning,
            finish_reason=attempt.finish_reason,
            rounds=attempt.rounds,
            earlier=attempt.earlier,
            method=attempt.method,
            loglikelihoods=attempt.loglikelihoods,
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
