"""Whether whole answers are drawn as their own log-probabilities say, token after token.

The first token tells nothing about a sampler that changes while it writes: a temperature that falls, a penalty on
repetition, a mask. Over many answers, what was drawn is as surprising as the chances make one expect, at every place.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, unanswered
from model_accuracy_eval.diagnosis.token_chances import (
    NEUTRAL,
    REST,
    Chances,
    TokenSampler,
    chances_of,
    is_known,
    surprise_of,
)
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, ScoredToken

_SETTINGS = {
    TokenSampler(): 400,
    TokenSampler(temperature=0.5): 200,
    TokenSampler(top_p=0.9): 200,
    TokenSampler(temperature=0.7, top_p=0.8): 200,
}
"""Sampler → answers."""
_RAW = 0.1
"""Nats by which log-probabilities that are told before the temperature may depend on it."""
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
_MOST_UNTOLD = 0.02
"""Of answers: what is left out by what was drawn makes the others less surprising."""
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
    """Answers of some samplers, with the log-probabilities of the likeliest tokens at each place."""
    told, is_raw = [], await _are_raw(subject, needles)
    for sampler, answers in _SETTINGS.items():
        if is_raw or sampler == NEUTRAL:
            found = await _drawn_with(sampler, answers, subject, needles)
            if found.state == "FAIL" or (sampler == NEUTRAL and found.state == "SKIP"):
                return found
            told += [found.sentence] if found.state == "PASS" else []
    return ProbeResult("PASS", f"Tokens at all places are drawn as their log-probabilities say: {', '.join(told)}.")


async def _are_raw(subject: Subject, needles: Sequence[Needle]) -> bool:
    """Whether log-probabilities are those before the temperature: each server has its own mind there."""
    asked = [replace(needle.request, max_tokens=1, temperature=1.0) for needle in needles]
    colder = [replace(request, temperature=0.5) for request in asked]
    pairs = zip(await subject.scored(asked), await subject.scored(colder), strict=True)
    gaps = [
        abs(one.tokens[0].likeliest[0][1] - two.tokens[0].likeliest[0][1])
        for one, two in pairs
        if not isinstance(one, Fault) and not isinstance(two, Fault)
        if one.tokens and two.tokens and one.tokens[0].likeliest and two.tokens[0].likeliest
    ]
    return bool(gaps) and max(gaps) <= _RAW


async def _drawn_with(sampler: TokenSampler, count: int, subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    rounds = -(-count // len(needles))
    asked = [
        replace(needle.request, temperature=sampler.temperature, top_p=sampler.top_p, max_tokens=_TOKENS, seed=seed)
        # Equal seeds are equal dice in whatever is asked: every answer has its own.
        for seed, needle in enumerate([*needles] * rounds)
    ]
    replies = await subject.scored(asked, at_once=_AT_ONCE)
    answers = [reply.tokens for reply in replies if not isinstance(reply, Fault)]
    if silent := unanswered(len(answers), len(asked)) or _untold(answers):
        return silent
    drawn = [one for tokens in answers for one in _drawn(tokens, sampler)]
    with_ = f"With {sampler}, "
    if shunned := _shunned(drawn):
        return ProbeResult(
            "FAIL",
            f"{with_}{shunned}",
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
                f"{with_}what is drawn from token {begin + 1} of an answer on is {'less' if off < 0 else 'more'} "
                f"surprising than its log-probabilities say: {seen:.2f} nats a token instead of {expected:.2f}.",
                "look at what changes the sampler while an answer is written: temperature, penalties, masks of tokens",
            )
    if not judged:
        return ProbeResult("SKIP", "The answers are too sure of themselves to tell how they are drawn.")
    return ProbeResult("PASS", f"{judged:,} with {sampler}")


def _untold(answers: Sequence[Sequence[ScoredToken]]) -> ProbeResult | None:
    if not any(token.likeliest for tokens in answers for token in tokens[1:]):
        return ProbeResult("SKIP", "The service shows no log-probabilities of what it draws behind a first token.")
    untold = sum(not tokens for tokens in answers)
    if untold <= _MOST_UNTOLD * len(answers):
        return None
    return ProbeResult(
        "SKIP", f"The service does not tell the tokens of {untold} of {len(answers)} answers one by one."
    )


def _shunned(drawn: Sequence[Drawn]) -> str:
    """What shows that tokens of an answer are avoided in its rest; empty: nothing."""
    again = [one.again for one in drawn if one.again]
    fresh = [one.surprise for one in drawn if one.again and one.again.mean < _FRESH]
    if (_off(again) or 0.0) >= -_SURE or abs(_off(fresh) or 0.0) > _SURE:
        return ""
    seen, expected = sum(score.drawn for score in again), sum(score.mean for score in again)
    return f"{seen:,.0f} tokens were written a second time in an answer, and {expected:,.0f} are to be expected."


def _surprise(chances: Chances, drawn: str) -> Score:
    """Tokens that are not among the likeliest are one, with the chance that is left."""
    worth = {text: min(surprise_of(chance), _MOST) for text, chance in chances.items()}
    mean = sum(chance * worth[text] for text, chance in chances.items())
    square = sum(chance * worth[text] ** 2 for text, chance in chances.items())
    return Score(worth.get(drawn, worth.get(REST, _MOST)), mean, max(square - mean**2, 0.0))


def _again(chances: Chances, drawn: str, written: Set[str]) -> Score:
    """Whether one of the answer's own tokens comes again. One that is not among the likeliest has no known chance."""
    chance = min(1.0, sum(chance for text, chance in chances.items() if text in written))
    return Score(float(drawn in written and drawn in chances), chance, chance * (1 - chance))


def _drawn(tokens: Sequence[ScoredToken], sampler: TokenSampler) -> Iterator[Drawn]:
    """Every token whose chances are told, and clear."""
    written: set[str] = set()
    for place, token in enumerate(tokens):
        # Some services tell the drawn token in the place of the last of the likeliest. Without that one, what is told
        # does not depend on the draw.
        likeliest = sorted(token.likeliest, key=lambda pair: -pair[1])[:-1]
        told = chances_of(replace(token, likeliest=tuple(likeliest)))
        if token.likeliest and (sampler == NEUTRAL or (is_known(told) and sampler.is_clear(told))):
            chances = sampler.of(told)
            again = _again(chances, token.text, written) if written else None
            yield Drawn(place, _surprise(chances, token.text), again)
        written.add(token.text)


def _off(scores: Sequence[Score]) -> float | None:
    """By how many standard deviations the sum is not the expected one; None: there is too little to say."""
    spread = sqrt(sum(score.variance for score in scores))
    return sum(score.drawn - score.mean for score in scores) / spread if spread >= _SPREAD else None
