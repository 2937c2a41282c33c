"""Replies that some program saved, and the problems that they answer, as the file describes them."""

import re
from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from model_accuracy_eval.records import EarlierReply, Loglikelihood, Record, RequestMethod, Timings, ToolRound, Usage

HEADLINE = "correct"


class SavedReply(Record, frozen=True, kw_only=True):
    """One sample of a file, as far as the file describes it."""

    problem: str = ""
    """Its problem's id in the file: "HumanEval/12", "17", a UUID; empty: the file has none."""
    index: int | None = None
    """Number of the sample of its problem; None: the order in the file."""
    text: str = ""
    """The whole reply."""
    answer: str | None = None
    """What the tool's own filter left of the reply; None: the file does not say."""
    reasoning: str = ""
    finish_reason: str | None = None
    rounds: tuple[ToolRound, ...] = ()
    earlier: tuple[EarlierReply, ...] = ()
    method: RequestMethod = "chat"
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
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()
    request: str = ""
    """Of replies of our own, which request they were asked with, and what is known of it."""
    usage: Usage | None = None
    timings: Timings | None = None
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
