"""Saved replies → the problems that they answer, as the file describes them."""

import re
from collections import Counter
from collections.abc import Iterable

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Record
from model_accuracy_eval.rescoring.saved_replies import SavedReply

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
