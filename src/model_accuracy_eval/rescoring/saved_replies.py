"""Replies that some program saved, and the problems that they answer, as the file describes them."""

import re
from collections import Counter
from collections.abc import Iterable

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import EarlierReply, Loglikelihood, Record, RequestMethod, ToolRound


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
    loglikelihoods: tuple[Loglikelihood | None, ...] = ()


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
    """The numbers of its samples from 0, in the order of the file."""

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


def problems(name: str, replies: Iterable[SavedReply]) -> dict[ProblemName, SavedProblem]:
    """The problems in the order of the file `name`. Refuses replies without a problem and right answers that differ."""
    groups: dict[ProblemName, list[SavedReply]] = {}
    for number, reply in enumerate(replies, start=1):
        if not reply.problem and not reply.question.strip():
            raise BadData(f"{name}, reply {number}: there is neither the id nor the question of its problem.")
        groups.setdefault(name_of(reply), []).append(reply)
    sizes = Counter(map(len, groups.values()))
    usual = max(sizes, key=lambda size: (sizes[size], -size), default=0)
    found: dict[ProblemName, SavedProblem] = {}
    for (part, number_in_file, question, _), members in groups.items():
        # Datasets repeat questions. Without ids, twice as many replies as usual are those of two problems.
        size = usual if not number_in_file and len(members) % usual == 0 else len(members)
        for copy, first in enumerate(range(0, len(members), size)):
            found[part, number_in_file, question, copy] = _problem(name, members[first : first + size])
    return found


def _problem(name: str, replies: list[SavedReply]) -> SavedProblem:
    first = replies[0]
    return SavedProblem(
        id=first.problem,
        part=first.part,
        question=next((plain(reply.question) for reply in replies if reply.question), ""),
        options=next((reply.options for reply in replies if reply.options), ()),
        gold=_gold(name, replies),
        numbers=_numbers(name, replies),
    )


def _gold(name: str, replies: list[SavedReply]) -> tuple[str, ...]:
    golds = list(dict.fromkeys(reply.gold for reply in replies if reply.gold))
    if len(golds) > 1:
        first, second = (" / ".join(gold)[-60:] for gold in golds[:2])
        raise BadData(
            f"{name}: the {len(replies)} samples of problem '{replies[0].problem}' have {len(golds)} different right "
            f"answers, such as {first!r} and {second!r}, so they are not samples of one problem."
        )
    return golds[0] if golds else ()


def _numbers(name: str, replies: list[SavedReply]) -> tuple[int, ...]:
    """The samples' own numbers if all have one, otherwise their order."""
    given = [reply.index for reply in replies if reply.index is not None]
    if len(given) < len(replies):
        return tuple(range(len(replies)))
    if repeated := [number for number in given if given.count(number) > 1]:
        raise BadData(
            f"{name} holds sample {repeated[0]} of problem '{replies[0].problem}' {given.count(repeated[0])} times."
        )
    return tuple(given)
