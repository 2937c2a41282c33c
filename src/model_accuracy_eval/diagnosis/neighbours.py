"""Whether an answer depends on how many others are served: alone, then among more and more of them."""

import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import (
    ENOUGH,
    ChangedAnswers,
    Needle,
    ProbeResult,
    changed_answers,
    changing_anyway,
    question,
    unanswered,
)
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Request

_LOADS = (2, 4, 8, 16, 32, 64)
"""Requests in flight."""
_LONG = tuple(f"{'1 2 3 4 5 6 7 8 9 ' * times}12+" for times in (24, 60, 240))
"""Of some 400 to 4,000 tokens; those that do not fit are refused, and load nothing."""
FILLERS = tuple(
    question(f"{text} {number}", max_tokens=64)
    for number in range(3)
    for text in ("Write a poem about the number", "Explain step by step", _LONG[number], "1 1 1 1 1 1", "12+")
)


async def kept_going(subject: Subject, fillers: Sequence[Request]) -> Sequence[Request]:
    """The same with answers up to their caps, where the service can be told so. Of short ones, fewer are in flight than
    are asked for at once."""
    endless = [replace(filler, extra={**filler.extra, "ignore_eos": True}) for filler in fillers]
    return fillers if (await subject.ask(endless[:1]))[0].fault else endless


def lacks_evidence(needles: Sequence[object]) -> ProbeResult | None:
    """Where too few answers stay the same by themselves, nothing can be said about what changes them."""
    if len(needles) >= ENOUGH:
        return None
    return ProbeResult("SKIP", f"Only {len(needles)} answers came alike twice, of {ENOUGH} that are needed.")


async def load(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """The needles among others, more and more of them; the smallest load at which answers change is searched for."""
    if skipped := lacks_evidence(needles):
        return skipped
    longest = sorted(needles, key=lambda needle: -len(needle.text))[:12]
    others = await kept_going(subject, [*(replace(each.request, max_tokens=64) for each in longest), *FILLERS])
    among, good = partial(_among, subject, needles, others), 1
    for level in _LOADS:
        changed = await among(level)
        if silent := unanswered(changed.asked, len(needles)):
            return silent if good == 1 else _passed(needles, good, f" At {level}: {silent.sentence}")
        if changed.is_fault and (again := await among(level)).is_fault:
            if anyway := await changing_anyway(subject, needles):
                return anyway
            good, bad, again = await _narrowed(among, good, level, again)
            return ProbeResult(
                "FAIL",
                f"Right at {good} in flight, wrong from {bad}: {again.shown}.",
                f"serve at most {good} sequences at once (vLLM: --max-num-seqs {good}), then without graphs "
                "(--enforce-eager), and diagnose again",
            )
        good = level
    return _passed(needles, good)


def _passed(needles: Sequence[Needle], good: int, more: str = "") -> ProbeResult:
    return ProbeResult("PASS", f"{len(needles)} answers are the same with up to {good} requests in flight.{more}")


async def _narrowed(
    among: Callable[[int], Awaitable[ChangedAnswers]], good: int, bad: int, changed: ChangedAnswers
) -> tuple[int, int, ChangedAnswers]:
    while bad - good > 1:
        middle = (good + bad) // 2
        found = await among(middle)
        if found.is_fault:
            bad, changed = middle, found
        else:
            good = middle
    return good, bad, changed


async def _among(subject: Subject, needles: Sequence[Needle], others: Sequence[Request], level: int) -> ChangedAnswers:
    """As many requests in flight all the time, the needles anywhere among them."""
    dice = random.Random(level)  # noqa: S311 - the same order each time
    crowd = [*others]
    dice.shuffle(crowd)
    fillers = [crowd[number % len(crowd)] for number in range(2 * level)]
    order = [*((needle, needle.request) for needle in needles), *((None, filler) for filler in fillers)]
    dice.shuffle(order)
    replies = await subject.ask([request for _, request in order], at_once=level)
    mine = [(needle, reply) for (needle, _), reply in zip(order, replies, strict=True) if needle is not None]
    return changed_answers([needle for needle, _ in mine], [reply for _, reply in mine])
