"""Whether requests that are given up leave something behind: in what is written beside them, or after them."""

from collections.abc import Sequence

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.known_answers import hot_requests, judged, known_answers
from model_accuracy_eval.diagnosis.neighbours import kept_going, lacks_evidence
from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, unanswered
from model_accuracy_eval.ports import Subject

_ROUNDS, _MOST_ROUNDS, _SECONDS = 9, 40, 5.0
"""Of a service whose answers are short, more: fewer of them are under way when somebody hangs up."""
_SHARES = (0.02, 0.9, 0.3, 0.6, 0.1, 0.45, 0.75)
"""Of the time that a request takes, when it is given up: while it is read, and while it is written."""
_NEVER = 600.0
"""The same load without hanging up."""
_BESIDE = 8
"""Requests in flight beside those that are given up."""
_LONG_ONES = 12
_TIMES = 4
"""How often each is given up at a time: some have ended before."""
_TOKENS = 128
"""Of each, where the service writes on: a busy machine is late by a part of that time, and not by all of it."""


async def hanging_up(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Known answers, also long ones that are drawn with seeds, beside requests that end early, and after them."""
    if skipped := lacks_evidence(needles):
        return skipped
    hot = await hot_requests(subject, needles, _LONG_ONES)
    knowns = await known_answers(subject, [*hot, *(needle.request for needle in needles)])
    if skipped := lacks_evidence(knowns):
        return skipped
    longest = hot or [needle.request for needle in sorted(needles, key=lambda needle: -len(needle.text))[:8]]
    endless = await kept_going(subject, [replace(each, max_tokens=_TOKENS, seed=None) for each in longest])
    given_up = [*endless] * _TIMES
    asked = [(known.request, bool(number % 2)) for number, known in enumerate(knowns)]
    usual = judged(knowns, await subject.abandon([(each, _NEVER) for each in given_up], asked, _BESIDE))
    if silent := unanswered(usual.asked, len(knowns)):
        return silent
    if usual.exceeds(usual):
        return ProbeResult("SKIP", f"Answers change beside others where nobody hangs up: {usual.shown}.")
    whole = await subject.ask(given_up, len(given_up))
    seconds = [max((choice.timings.e2e for choice in reply.choices), default=1.0) for reply in whole]
    rounds = max(_ROUNDS, min(_MOST_ROUNDS, int(_SECONDS / max(seconds))))
    for round_ in range(rounds):
        # Half of them within the time of the shortest answer: then nearly all others are under way.
        times = (takes if at % 2 else min(seconds) for at, takes in enumerate(seconds))
        patience = (takes * _SHARES[(at + round_) % len(_SHARES)] for at, takes in enumerate(times))
        leaving = list(zip(given_up, patience, strict=True))
        beside = judged(knowns, await subject.abandon(leaving, asked, _BESIDE))
        after = judged(knowns, await subject.answered(asked, _BESIDE))
        for when, found in (("While", beside), ("After", after)):
            if found.exceeds(usual):
                return ProbeResult(
                    "FAIL",
                    f"{when} {len(given_up)} requests were given up, {found.shown}.",
                    "look at what the server does with the cache and the slot of a request whose client hangs up",
                )
    count = len(given_up) * rounds
    return ProbeResult(
        "PASS", f"{count} requests that were given up changed none of {len(knowns)} answers beside and after them."
    )
