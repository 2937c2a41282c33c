"""Two services told apart by the questions that one of them answers wrongly: in which situations, how often, and when
enough was asked to be sure. It is what variants and commits are judged by, which answer by chance, too.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import chain, cycle, groupby, islice
from math import ceil
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.cache import SHOTS
from model_accuracy_eval.diagnosis.known_answers import Complaint, Known, known_answers
from model_accuracy_eval.diagnosis.neighbours import FILLERS, kept_going
from model_accuracy_eval.diagnosis.probe import QUESTIONS, question, short
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Request, ScoredReply
from model_accuracy_eval.scoring.figures.quantiles import beta_cdf, share_limits
from model_accuracy_eval.scoring.verdicts.sequential import MeanDecider

_DRAWN, _STOPPED = "drawn with seeds", "with stop strings"
SITUATIONS = {"alone": 1, "from the cache": 1, "among 8": 8, "among 64": 64, _DRAWN: 1, _STOPPED: 1}
"""How a question is asked, and how many are in flight then."""
_LONG = "from the cache"
_LONG_EACH = 3
"""Long prompts take long: every third question will do."""
_CROWD, _LONG_ONES = sorted(FILLERS, key=lambda filler: len(filler.messages[-1].content)), 3
"""What is asked for beside: one long prompt of each size, and short ones."""
_CHUNK = 24
"""Answers between two looks at whether enough was asked."""
_LIMIT = 0.005
"""How often a rate lies beyond the limit that is taken for it."""
_LOOKS = 8
"""At the wrong service, to know how often it is wrong."""
_MOST = 2000
"""Answers that may be needed to tell one service."""


class Case(NamedTuple):
    """A question in a situation, and its right answer."""

    situation: str
    known: Known
    streamed: bool


async def cases(
    subject: Subject, *, is_right: bool, trusted: Mapping[str, ScoredReply] | None = None
) -> tuple[Case, ...]:
    """Every question in every situation. Right is what this service says to it the first time, and alone twice.
    `is_right`: so it is in what only another service could tell, too. `trusted`: question → what such a one said."""
    short_ones = [question(text) for text in QUESTIONS]
    long_ones = [question(f"{SHOTS}{text}") for text in QUESTIONS[::_LONG_EACH]]
    first = zip(long_ones, await subject.scored(long_ones), strict=True)
    right = {_LONG: [Known(request, reply) for request, reply in first if not isinstance(reply, Fault)]}
    if trusted is None:
        alone = await known_answers(subject, short_ones)
    else:
        alone = [Known(question(text), reply) for text, reply in trusted.items()]
    if is_right:
        dice = [replace(one, temperature=1.0, seed=seed, n=2) for seed, one in enumerate(short_ones, 1)]
        stopped = [replace(one.request, extra={"stop": ["~~", one.reply.text[-1]]}) for one in alone if one.reply.text]
        right |= {_DRAWN: await known_answers(subject, dice), _STOPPED: await known_answers(subject, stopped)}
    # Every second one is streamed: users' requests mostly are, and the others show their tokens.
    return tuple(
        Case(situation, known, bool(number % 2))
        for situation in SITUATIONS
        for number, known in enumerate(right.get(situation, [] if situation in {_DRAWN, _STOPPED} else alone))
    )


SeenAnswer = Complaint | Fault | None
"""What is wrong with an answer; None: nothing. A fault: there was no answer."""


async def wrong(subject: Subject, asked: Sequence[Case]) -> list[SeenAnswer]:
    """What is wrong with each answer."""
    found: dict[int, SeenAnswer] = {}
    crowd = await kept_going(subject, _CROWD)
    order = sorted(range(len(asked)), key=lambda at: asked[at].situation)
    for situation, places in groupby(order, key=lambda at: asked[at].situation):
        mine, at_once = list(places), SITUATIONS[situation]
        fillers = islice(chain(crowd[-_LONG_ONES:], cycle(crowd[:-_LONG_ONES])), 2 * at_once if at_once > 1 else 0)
        together: list[tuple[int | None, tuple[Request, bool]]] = [
            *((at, (asked[at].known.request, asked[at].streamed)) for at in mine),
            *((None, (filler, True)) for filler in fillers),
        ]
        random.Random(at_once).shuffle(together)  # noqa: S311 - the same order each time
        replies = await subject.answered([request for _, request in together], at_once)
        for (at, _), reply in zip(together, replies, strict=True):
            if at is not None:
                found[at] = reply if isinstance(reply, Fault) else asked[at].known.complaint(reply)
    return [found[at] for at in range(len(asked))]


class WrongAnswers(NamedTuple):
    """Of cases that were asked."""

    asked: int
    """Those that were answered."""
    wrong: tuple[tuple[Case, Complaint], ...]

    @property
    def is_fault(self) -> bool:
        """More than rounding, as for all probes: see `ChangedAnswers`."""
        return any(complaint.is_sure for _, complaint in self.wrong) or len(self.wrong) >= max(3, self.asked / 5)

    @property
    def shown(self) -> str:
        """Such as: 39 of 144 answers are wrong (36 among 64, 3 among 8): the text is '4' instead of '42' ('17+25=')."""
        told = [case.situation for case, _ in self.wrong]
        where = ", ".join(f"{told.count(name)} {name}" for name in SITUATIONS if name in told)
        case, complaint = max(self.wrong, key=lambda each: (each[1].is_sure, each[1].rule == "text"))
        example = f"{complaint.says} ({short(case.known.text)})"
        return f"{len(self.wrong)} of {self.asked} answers are wrong ({where}): {example}"


def wrong_answers(asked: Sequence[Case], found: Sequence[SeenAnswer]) -> WrongAnswers:
    pairs = [(case, each) for case, each in zip(asked, found, strict=True) if not isinstance(each, Fault)]
    return WrongAnswers(len(pairs), tuple((case, each) for case, each in pairs if each is not None))


class Rates(NamedTuple):
    """How often answers are wrong, at most in a right service and at least in a wrong one."""

    right: float
    wrong: float

    @property
    def are_apart(self) -> bool:
        return self.right < self.wrong and self.draws(_LIMIT) <= _MOST

    @property
    def line(self) -> float:
        return (self.right + self.wrong) / 2

    def draws(self, error: float) -> int:
        """Answers of which both, by chance, have so many or so few wrong ones that they are taken for the other, in
        at most that share of cases."""
        for number in range(1, _MOST + 1):
            least = ceil(self.line * number)
            taken = (
                beta_cdf(self.right, least, number - least + 1),
                1 - beta_cdf(self.wrong, least, number - least + 1),
            )
            if max(taken) <= error:
                return number
        return _MOST + 1


class Apart(NamedTuple):
    """What tells a wrong service from a right one."""

    seen: WrongAnswers
    """At first sight."""
    cases: tuple[Case, ...] = ()
    rates: Rates = Rates(1.0, 0.0)


async def told_apart(subject: Subject, asked: Sequence[Case], right: Sequence[Sequence[SeenAnswer]] | None) -> Apart:
    """`subject` is the wrong one. `right`: looks at the right one; None: there is none, and it would be right in all.

    What was wrong at first sight may have been so by chance: how often it is wrong is seen from further looks alone.
    """
    first = await wrong(subject, asked)
    seen, places = wrong_answers(asked, first), [at for at, each in enumerate(first) if isinstance(each, Complaint)]
    if not places:
        return Apart(seen)
    chosen = [asked[at] for at in places]
    looks = [wrong_answers(chosen, await wrong(subject, chosen))]
    if 2 * len(looks[0].wrong) < len(chosen):  # no question has to do with it: any may be hit
        places, chosen, looks = [*range(len(asked))], [*asked], [seen]
    good = [wrong_answers(chosen, [found[at] for at in places]) for found in right or ()]
    asked_good, wrong_good = sum(each.asked for each in good), sum(len(each.wrong) for each in good)
    least = 0.0 if right is None else share_limits(wrong_good, asked_good, 1 - _LIMIT)[1] if asked_good else 1.0
    while True:
        count, total = sum(len(each.wrong) for each in looks), sum(each.asked for each in looks)
        known = Rates(least, share_limits(count, total, 1 - _LIMIT)[0] if total else 0.0)
        if known.are_apart or len(looks) == _LOOKS:
            return Apart(seen, tuple(chosen), known)
        looks.append(wrong_answers(chosen, await wrong(subject, chosen)))


class Judgement(NamedTuple):
    """Of a service that was asked until it was clear. None: it did not answer enough."""

    is_wrong: bool | None
    answers: WrongAnswers


async def judge(subject: Subject, apart: Apart, error: float, *, whole: bool = False) -> Judgement:
    """Whether answers are wrong as often as in the wrong service, or as seldom as in the right one. `error`: how often
    it may be said falsely; half of it is for stopping early, half for the chance in all answers. `whole`: where it
    seems right, every question is asked."""
    known, pool = apart.rates, list(apart.cases)
    units = max(known.draws(error / 2), len(pool) if whole else 0)
    decider = MeanDecider(units, (known.line, known.line), (error / 2, error / 2), binary=True)
    dice = random.Random(0)  # noqa: S311 - the same order each time
    dice.shuffle(pool)
    order = [*islice(cycle(pool), units)]
    dice.shuffle(order)
    seen: list[SeenAnswer] = []
    while len(seen) < units and not decider.is_above and (whole or not decider.is_below):
        for each in await wrong(subject, order[len(seen) : len(seen) + max(_CHUNK, units // 8)]):
            decider.tell(*((0.0, 1.0) if isinstance(each, Fault) else 2 * (float(each is not None),)))
            seen.append(each)
    verdict = True if decider.is_above else False if decider.is_below else None
    return Judgement(verdict, wrong_answers(order[: len(seen)], seen))
