"""Replies that some program saved, and the problems that they answer; such replies as the samples of a run."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import (
    Attempt,
    Fault,
    PreparedDataset,
    Problem,
    Record,
    RunPlan,
    TaskSpec,
)
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.records.exchange import SampleFields
from model_accuracy_eval.run_folder import journal

HEADLINE = "correct"


class SavedReply(SampleFields, frozen=True, kw_only=True):
    """One sample of a file, as far as the file describes it."""

    problem: str = ""
    """Its problem's id in the file: "HumanEval/12", "17", a UUID; empty: the file has none."""
    index: int | None = None
    """Number of the sample of its problem; None: the order in the file."""
    text: str = ""
    """The whole reply."""
    answer: str | None = None
    """What the tool's own filter left of the reply; None: the file does not say."""
    failure: str = ""
    """Why there is no reply; such a sample counts as failed."""
    rejected: bool = False
    """Whether the service rejected the request, which counts apart from other failures."""
    question: str = ""
    options: tuple[str, ...] = ()
    """Texts of the options in their order."""
    gold: tuple[str, ...] = ()
    part: str = ""
    """Subject, subset, language or category."""
    dataset: str = ""
    """The dataset that the row names."""
    filter: str = "none"
    """lm-eval judges the same replies by several filters, and writes each with its own answers."""
    metrics: tuple[str, ...] = ()
    claimed: dict[str, float] = {}  # noqa: RUF012 - msgspec copies it
    """The sample's values in the file, by metric."""
    main: str = ""
    """The metric among these that the tool calls the main one; files that have but one call it `HEADLINE`."""
    is_guess: bool = False
    """Whether the tool read no answer and guesses one: then its values are what a guess is worth."""
    at: float | None = None
    odd: str = ""
    """Why the row cannot be read, with its place; nothing else is known then."""


LEFT_OUT = -1
_FEW = 10
"""Problems are an exception where so many times as many are the rule."""
_BLANKS = re.compile(r"\s+")

ProblemName = tuple[str, str, str, int]
"""Part and id of a problem in its file; without an id its question, and a number where several problems have it."""


class SavedProblem(Record, frozen=True, kw_only=True):
    """One problem of a file."""

    id: str
    part: str
    question: str
    """The question with every run of blanks as one."""
    options: tuple[str, ...]
    gold: tuple[str, ...]
    numbers: tuple[int, ...]
    """The numbers of its samples from 0, in the order of the file; `LEFT_OUT` of replies that are none."""
    odd: str = ""
    """Why it cannot be judged, whatever the dataset is."""

    @property
    def samples(self) -> int:
        return len(self.numbers) - self.numbers.count(LEFT_OUT)

    @property
    def title(self) -> str:
        """How sentences call it."""
        return f"{self.part}/{self.id}" if self.part and self.id else self.id or f"{self.question[:60]!r}"


def plain(text: str) -> str:
    """The text with every run of blanks as one."""
    return _BLANKS.sub(" ", text).strip()


def name_of(reply: SavedReply) -> ProblemName:
    """The name of the first problem that the reply may belong to."""
    return reply.part, reply.problem, "" if reply.problem else plain(reply.question), 0


def problems(
    replies: Iterable[SavedReply], n: int | None = None, *, own: bool = False
) -> dict[ProblemName, SavedProblem]:
    """The problems in the order of the file. `n`: how many samples of a problem the user says that there are; `own`:
    the replies are those of a run of this program, so that all of them are samples."""
    groups: dict[ProblemName, list[SavedReply]] = {}
    for reply in replies:
        groups.setdefault(name_of(reply), []).append(reply)
    sizes = Counter(map(len, groups.values()))
    usual = max(sizes, key=lambda size: (sizes[size], -size), default=0)
    found: dict[ProblemName, SavedProblem] = {}
    for (part, number_in_file, question, _), members in groups.items():
        # Datasets repeat questions. Without ids, twice as many replies as usual are those of two problems.
        size = usual if not number_in_file and len(members) % usual == 0 else len(members)
        for copy, first in enumerate(range(0, len(members), size)):
            found[part, number_in_file, question, copy] = _problem(members[first : first + size])
    most = None if own else n or _usual_size(found.values())
    return found if most is None else {name: _with_at_most(most, problem) for name, problem in found.items()}


def _problem(replies: list[SavedReply]) -> SavedProblem:
    first = replies[0]
    golds = list(dict.fromkeys(reply.gold for reply in replies if any(reply.gold)))
    shown = " and ".join(repr(" / ".join(gold)[-60:]) for gold in golds[:2])
    return SavedProblem(
        id=first.problem,
        part=first.part,
        question=next((plain(reply.question) for reply in replies if reply.question), ""),
        options=next((reply.options for reply in replies if reply.options), ()),
        gold=golds[0] if golds else (),
        numbers=_numbers(replies),
        odd=f"its {len(replies)} samples have {len(golds)} different right answers, such as {shown}"
        if len(golds) > 1
        else "",
    )


def _numbers(replies: list[SavedReply]) -> tuple[int, ...]:
    """The samples' own numbers if all have one, otherwise their order. Of two with one number the first counts."""
    given = [reply.index for reply in replies if reply.index is not None]
    if len(given) < len(replies):
        return tuple(range(len(replies)))
    firsts = {number: place for place, number in reversed(list(enumerate(given)))}
    return tuple(number if firsts[number] == place else LEFT_OUT for place, number in enumerate(given))


def _usual_size(saved: Iterable[SavedProblem]) -> int | None:
    """How many samples nearly all problems have; None if that is not so of one number. A reply that is in the file
    twice would make every other problem lack one."""
    sizes = Counter(problem.samples for problem in saved)
    usual = max(sizes, key=lambda size: (sizes[size], size))
    more = sum(count for size, count in sizes.items() if size > usual)
    return usual if more * _FEW < sizes[usual] else None


def _with_at_most(most: int, problem: SavedProblem) -> SavedProblem:
    if problem.samples <= most:
        return problem
    kept = set([number for number in problem.numbers if number != LEFT_OUT][:most])
    numbers = tuple(number if number in kept else LEFT_OUT for number in problem.numbers)
    return replace(problem, numbers=numbers)


# Saved replies → the samples of a run, in the files in which a run keeps them; and back from such files.


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


def write_sample(
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


def read_samples(store: Store, plan: RunPlan, prepared: PreparedDataset) -> Iterator[Attempt]:
    """All samples that were written, answered or not."""
    label, dataset = plan.settings.label, prepared.task.name
    yield from map(journal.attempt, store.lines(journal.file(label, dataset)))
    yield from map(journal.failure, store.lines(journal.failures_file(label, dataset)))


def sample_of(name: str, task: TaskSpec, problem: Problem, reply: SavedReply, index: int, *, filtered: bool) -> Attempt:
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
    return filled(Attempt, reply, problem=problem.id, index=index, text=text)


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


def own_replies(answers: Iterable[bytes], failures: Iterable[bytes]) -> Iterator[SavedReply]:
    """The samples in the lines of both files. A failure that a later sample replaced is none."""
    answered: set[tuple[int, int]] = set()
    for line in answers:
        answer, shown = journal.answer_of(line), journal.shown(line)
        answered.add((answer.id, answer.index))
        gold = (shown.gold,) if shown.gold else ()
        yield filled(
            SavedReply,
            answer,
            problem=str(answer.id),
            text=answer.prediction,
            question=shown.question,
            gold=gold,
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
