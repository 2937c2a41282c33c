"""Whether whole answers are drawn as their own log-probabilities say, token after token.

The first token tells nothing about a sampler that changes while it writes: a temperature that falls, a penalty on
repetition, a mask. Over many answers, what was drawn is as surprising as the chances make one expect, at every place.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, Subject, unanswered
from model_accuracy_eval.diagnosis.token_chances import REST, Chances, chances_of, surprise_of
from model_accuracy_eval.records import Fault, ScoredToken

_ANSWERS = 400
_TOKENS = 64
_AT_ONCE = 16
_PLACES = (0, 1, 2, 4, 8, 16, 32, _TOKENS)
"""Where the groups of places begin that are judged together."""
_MOST = 5.0
"""Nats that a token counts at most: a sum of bounded numbers is soon normal."""
_SPREAD = 5.0
"""Nats of standard deviation that a sum must have before it is judged."""
_FRESH = 0.05
"""The chance of a token that was written before, below which a penalty on repetition changes nothing."""
_SURE = 4.5
"""Standard deviations off that are a fault, in any of some 14 sums: about 1 in 10,000 healthy services."""


class Score(NamedTuple):
    """A number that was drawn, and what to expect of it."""

    drawn: float
    mean: float
    variance: float


class Drawn(NamedTuple):
    """A token of an answer."""

    place: int
    surprise: Score
    again: Score | None
    """None: nothing was written before it."""


async def surprise(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Answers at temperature 1, with the log-probabilities of the likeliest tokens at each place."""
    rounds = -(-_ANSWERS // len(needles))
    asked = [
        replace(needle.request, temperature=1.0, max_tokens=_TOKENS, seed=seed)
        # Equal seeds are equal dice in whatever is asked: every answer has its own.
        for seed, needle in enumerate([*needles] * rounds)
    ]
    replies = await subject.scored(asked, at_once=_AT_ONCE)
    answers = [reply.tokens for reply in replies if not isinstance(reply, Fault)]
    if silent := unanswered(len(answers), len(asked)):
        return silent
    if not any(token.likeliest for tokens in answers for token in tokens[1:]):
        return ProbeResult("SKIP", "The service shows no log-probabilities of what it draws behind a first token.")
    drawn = [one for tokens in answers for one in _drawn(tokens)]
    again = [one.again for one in drawn if one.again]
    fresh = [one.surprise for one in drawn if one.again and one.again.mean < _FRESH]
    if (_off(again) or 0.0) < -_SURE and abs(_off(fresh) or 0.0) <= _SURE:
        seen, expected = sum(score.drawn for score in again), sum(score.mean for score in again)
        return ProbeResult(
            "FAIL",
            f"{seen:,.0f} tokens were written a second time in an answer, and {expected:,.0f} are to be expected.",
            "look for a penalty on repetition in the server's own defaults (generation_config.json), or run with "
            "--sampling plain",
        )
    judged = 0
    for begin, end in pairwise(_PLACES):
        scores = [one.surprise for one in drawn if begin <= one.place < end]
        off = _off(scores)
        judged += len(scores) if off is not None else 0
        if off is not None and abs(off) > _SURE:
            seen = sum(score.drawn for score in scores) / len(scores)
            expected = sum(score.mean for score in scores) / len(scores)
            return ProbeResult(
                "FAIL",
                f"From token {begin + 1} of an answer on, what is drawn is {'less' if off < 0 else 'more'} surprising "
                f"than its log-probabilities say: {seen:.2f} nats a token instead of {expected:.2f}.",
                "look at what changes the sampler while an answer is written: temperature, penalties, masks of tokens",
            )
    if not judged:
        return ProbeResult("SKIP", "The answers are too sure of themselves to tell how they are drawn.")
    return ProbeResult("PASS", f"{judged:,} tokens at all places are drawn as often as their log-probabilities say.")


def _surprise(chances: Chances, drawn: str) -> Score:
    """Tokens that are not among the likeliest are one, with the chance that is left."""
    worth = {text: min(surprise_of(chance), _MOST) for text, chance in chances.items()}
    mean = sum(chance * worth[text] for text, chance in chances.items())
    square = sum(chance * worth[text] ** 2 for text, chance in chances.items())
    return Score(worth.get(drawn, worth[REST]), mean, max(square - mean**2, 0.0))


def _again(chances: Chances, drawn: str, written: Set[str]) -> Score:
    """Whether one of the answer's own tokens comes again. One that is not among the likeliest has no known chance."""
    chance = min(1.0, sum(chance for text, chance in chances.items() if text in written))
    return Score(float(drawn in written and drawn in chances), chance, chance * (1 - chance))


def _drawn(tokens: Sequence[ScoredToken]) -> Iterator[Drawn]:
    """Every token whose chances are told."""
    written: set[str] = set()
    for place, token in enumerate(tokens):
        if token.likeliest:
            chances = chances_of(token)
            again = _again(chances, token.text, written) if written else None
            yield Drawn(place, _surprise(chances, token.text), again)
        written.add(token.text)


def _off(scores: Sequence[Score]) -> float | None:
    """By how many standard deviations the sum is not the expected one; None: there is too little to say."""
    spread = sqrt(sum(score.variance for score in scores))
    return sum(score.drawn - score.mean for score in scores) / spread if spread >= _SPREAD else None
