"""Whether an answer depends on what else is asked for beside it: other samplers, other choices, other things told."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.known_answers import Judged, Known, hot_requests, judged, known_answers
from model_accuracy_eval.diagnosis.neighbours import lacks_evidence
from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, unanswered
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Request

_DRAWN = 12
"""Answers with seeds that are asked for, of each kind."""
_AT_ONCE = 12
_BESIDE = 3
"""Others for each known one."""


class Company(NamedTuple):
    """What the others ask for."""

    sampled: bool = False
    told: bool = False
    several: bool = False
    stopped: bool = False

    def of(self, request: Request) -> Request:
        return replace(
            request,
            temperature=request.temperature if self.sampled else 0.0,
            n=4 if self.several else 1,
            max_tokens=3 if self.stopped else 64,
            extra={"logprobs": self.told, **({"top_logprobs": 5} if self.told else {})}
            | ({"stop": ["1", " ", "e"]} if self.stopped else {}),
        )


WORDS: Mapping[str, tuple[str, str]] = {
    "sampled": ("requests at temperature 0", "sampled requests"),
    "told": ("requests that want no log-probabilities", "requests with log-probabilities"),
    "several": ("requests for one choice", "requests for several choices"),
    "stopped": ("requests without stop strings", "requests with stop strings and low caps"),
}
"""How the two values of a field are told."""
COMPANIES = (
    Company(),
    Company(told=True),
    Company(sampled=True),
    Company(sampled=True, told=True),
    Company(sampled=True, several=True),
    Company(sampled=True, told=True, several=True),
    Company(sampled=True, stopped=True),
    Company(told=True, stopped=True),
)


class _Mine(NamedTuple):
    """Known answers that are asked for in one way."""

    words: str
    knowns: Sequence[Known]
    streamed: bool


async def company(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Known answers of each kind in each company, then again where something is wrong."""
    if skipped := lacks_evidence(needles):
        return skipped
    hot = await hot_requests(subject, needles, _DRAWN)
    mild = [replace(needle.request, temperature=1.0, seed=500 + at) for at, needle in enumerate(needles[:_DRAWN])]
    greedy = await known_answers(subject, [needle.request for needle in needles])
    if skipped := lacks_evidence(greedy):
        return skipped
    kinds = (
        _Mine("Greedy answers with log-probabilities", greedy, streamed=False),
        _Mine("Greedy answers that are streamed", greedy, streamed=True),
        _Mine("Answers drawn with seeds", await known_answers(subject, [*mild, *hot]), streamed=False),
    )
    others = [replace(request, seed=None) for request in hot] or [needle.request for needle in needles]
    asked = 0
    for mine in kinds:
        seen = {each: await _among(subject, mine, [each.of(other) for other in others]) for each in COMPANIES}
        usual = seen[COMPANIES[0]]
        if mine.knowns is greedy and (silent := unanswered(usual.asked, len(greedy))):
            return silent
        asked += sum(found.asked for found in seen.values())
        wrong = [each for each, found in seen.items() if found.exceeds(usual)]
        again = [
            each for each in wrong if (await _among(subject, mine, [each.of(one) for one in others])).exceeds(usual)
        ]
        if again:
            return ProbeResult(
                "FAIL",
                f"{mine.words} are others beside {_words(again)}: {seen[again[0]].shown}.",
                "look at how the server hands each request of a batch its own sampler, log-probabilities and ends",
            )
    return ProbeResult("PASS", f"{asked:,} answers are the same in {len(COMPANIES)} kinds of company.")


def _words(wrong: Sequence[Company]) -> str:
    """What all wrong companies have in common, and no right one has; else the first one."""
    if len(wrong) == len(COMPANIES):
        return "any others"
    for name, words in WORDS.items():
        for value, said in enumerate(words):
            if [each for each in COMPANIES if getattr(each, name) == value] == wrong:
                return f"{said}, and beside no others"
    return " that are ".join(words[getattr(wrong[0], name)] for name, words in WORDS.items() if getattr(wrong[0], name))


async def _among(subject: Subject, mine: _Mine, others: Sequence[Request]) -> Judged:
    """All in one order, so many in flight."""
    order: list[tuple[Known | None, Request, bool]] = []
    for number, known in enumerate(mine.knowns):
        order.append((known, known.request, mine.streamed))
        order += [(None, others[(_BESIDE * number + at) % len(others)], True) for at in range(_BESIDE)]
    random.Random(0).shuffle(order)  # noqa: S311 - the same order each time
    replies = await subject.answered([(request, streamed) for _, request, streamed in order], _AT_ONCE)
    answers = [reply for (known, *_), reply in zip(order, replies, strict=True) if known is not None]
    return judged([known for known, *_ in order if known is not None], answers)
