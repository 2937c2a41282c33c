"""Whether an answer depends on who else is served: alone, then among others, and after others hung up."""

import random
from collections.abc import Sequence

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import (
    ENOUGH,
    ChangedAnswers,
    Needle,
    ProbeResult,
    Subject,
    changed_answers,
    changing_anyway,
    known,
    question,
    unanswered,
)

_LOADS = (2, 4, 8, 16, 32, 64)
"""Requests in flight."""
_LONG = tuple(f"{'1 2 3 4 5 6 7 8 9 ' * times}12+" for times in (24, 60, 240))
"""Of some 400 to 4,000 tokens; those that do not fit are refused, and load nothing."""
_FILLERS = tuple(
    question(f"{text} {number}", max_tokens=64)
    for number in range(3)
    for text in ("Write a poem about the number", "Explain step by step", _LONG[number], "1 1 1 1 1 1", "12+")
)
_MOMENTS = (0.005, 0.02, 0.1, 0.5)
"""Seconds after which requests are given up: while they are read, and while they are written."""
_NEVER = 600.0
"""The same load without hanging up."""
_BESIDE = 8
"""Requests in flight beside those that are given up."""


def lacks_evidence(needles: Sequence[Needle]) -> ProbeResult | None:
    """Where too few answers stay the same by themselves, nothing can be said about what changes them."""
    if len(needles) >= ENOUGH:
        return None
    return ProbeResult("SKIP", f"Only {len(needles)} questions are answered alike twice, of {ENOUGH} that are needed.")


async def load(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """The needles among others, more and more of them; the smallest load at which answers change is searched for."""
    if skipped := lacks_evidence(needles):
        return skipped
    good = 1
    for level in _LOADS:
        changed = await _among(subject, needles, level)
        if silent := unanswered(changed.asked, len(needles)):
            return silent if good == 1 else _passed(needles, good, f" At {level}: {silent.sentence}")
        if changed.is_fault and (again := await _among(subject, needles, level)).is_fault:
            if anyway := await changing_anyway(subject, needles):
                return anyway
            good, bad, again = await _narrowed(subject, needles, good, level, again)
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
    subject: Subject, needles: Sequence[Needle], good: int, bad: int, changed: ChangedAnswers
) -> tuple[int, int, ChangedAnswers]:
    while bad - good > 1:
        middle = (good + bad) // 2
        found = await _among(subject, needles, middle)
        if found.is_fault:
            bad, changed = middle, found
        else:
            good = middle
    return good, bad, changed


async def _among(subject: Subject, needles: Sequence[Needle], level: int) -> ChangedAnswers:
    """As many requests in flight all the time, the needles anywhere among them."""
    dice = random.Random(level)  # noqa: S311 - the same order each time
    others = [*(replace(needle.request, max_tokens=64) for needle in _longest(needles)[:12]), *_FILLERS]
    dice.shuffle(others)
    fillers = [others[number % len(others)] for number in range(2 * level)]
    order = [*((needle, needle.request) for needle in needles), *((None, filler) for filler in fillers)]
    dice.shuffle(order)
    replies = await subject.ask([request for _, request in order], at_once=level)
    mine = [(needle, reply) for (needle, _), reply in zip(order, replies, strict=True) if needle is not None]
    return changed_answers([needle for needle, _ in mine], [reply for _, reply in mine])


def _longest(needles: Sequence[Needle]) -> list[Needle]:
    return sorted(needles, key=lambda needle: -len(needle.text))


async def hanging_up(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Requests that are given up leave nothing behind."""
    if skipped := lacks_evidence(needles):
        return skipped
    long_ones = [replace(needle.request, max_tokens=256) for needle in _longest(needles)[:8]]
    mine = [needle.request for needle in needles]
    for seconds in (_NEVER, *_MOMENTS):
        beside = await subject.abandon(long_ones, seconds, mine, _BESIDE)
        after = await subject.ask(mine, at_once=_BESIDE)
        for when, replies in (("While", beside), ("After", after)):
            changed = changed_answers(needles, replies)
            if silent := unanswered(changed.asked, len(needles)):
                return silent
            if changed.is_fault and seconds == _NEVER:
                return ProbeResult("SKIP", f"Answers change beside others where nobody hangs up: {changed.shown}.")
            if changed.is_fault:
                return ProbeResult(
                    "FAIL",
                    f"{when} {len(long_ones)} requests were given up, {changed.shown}.",
                    "look at what the server does with the cache and the slot of a request whose client hangs up",
                )
    given_up = len(long_ones) * len(_MOMENTS)
    return ProbeResult("PASS", f"{given_up} requests that were given up changed no answer beside and after them.")


async def history(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """A prompt that nobody has asked before, then again from the cache, beside another branch, and after a flood."""
    if skipped := lacks_evidence(needles):
        return skipped
    shots = "".join(f"Question: {37 * n % 101}+{n}. Answer: {37 * n % 101 + n} " for n in range(16))
    before = f"{subject.salt} {shots}"
    fresh = [question(f"{before}{needle.request.messages[-1].content}") for needle in needles]
    branches = [question(f"{before}Line {at}. Something else.") for at in range(len(needles))]
    cold = await subject.ask(fresh)
    warm = await known(subject, fresh)
    if len(warm) < len(fresh) or not any(needle.text for needle in warm):
        return ProbeResult("SKIP", "The service does not answer longer prompts, so nothing can be compared.")
    flood = [question(f"{number} {before[:200]} {number}?", max_tokens=8) for number in range(48)]
    for when, between in (("warm", ()), ("beside another branch", branches), ("after a flood of others", flood)):
        await subject.ask(between, at_once=8)
        later = cold if when == "warm" else await subject.ask(fresh)
        changed = changed_answers(warm, later)
        if silent := unanswered(changed.asked, len(warm)):
            return silent
        if changed.is_fault and (anyway := await changing_anyway(subject, warm)):
            return anyway
        if changed.is_fault:
            return ProbeResult(
                "FAIL",
                f"Prompts are answered otherwise cold than {when}: {changed.shown}.",
                "serve without the prefix cache (vLLM: --no-enable-prefix-caching), and diagnose again",
            )
    return ProbeResult("PASS", f"{len(warm)} prompts are answered alike cold, warm, beside branches and after a flood.")
