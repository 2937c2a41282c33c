"""Whether the service draws as it is told: temperature, top_p, seeds, several choices, and nothing of its own.

Benchmarks cannot see this: a service that halves the temperature, or leaves rare tokens out, often scores better.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, Subject, text_of, unanswered
from model_accuracy_eval.diagnosis.token_chances import (
    REST,
    Chances,
    TokenSampler,
    chances_of,
    entropy,
    likeliest_sampler,
    unlikely,
)
from model_accuracy_eval.records import Fault, Request

_DRAWS = 300
"""Of each question and setting."""
_QUESTIONS = 2
_AT_ONCE = 16
_SPREAD = 0.3
"""Nats of entropy that a first token must have: a sure one is drawn alike by every sampler."""
_KNOWN = 0.99
"""Of all chances that the likeliest tokens must hold: how the rest shares what is left is not told."""
_SURE = 0.002
"""How often a healthy service fails, over all settings together."""
_SETTINGS = (TokenSampler(), TokenSampler(temperature=0.5), TokenSampler(top_p=0.6), TokenSampler(top_p=0.9))


class OpenQuestion(NamedTuple):
    """A question whose first token is open, and the chances of the tokens at temperature 1."""

    request: Request
    chances: Chances

    @property
    def text(self) -> str:
        return self.request.messages[-1].content


async def spreads(subject: Subject, needles: Sequence[Needle]) -> list[OpenQuestion]:
    """The most open questions first; none of a service that shows no probabilities."""
    requests = [replace(needle.request, max_tokens=1, temperature=1.0) for needle in needles]
    found = []
    for request, scored in zip(requests, await subject.scored(requests), strict=True):
        if isinstance(scored, Fault) or not scored.tokens:
            continue
        chances = chances_of(scored.tokens[0], _shown)
        if chances[REST] <= 1 - _KNOWN and entropy(chances) >= _SPREAD:
            found.append(OpenQuestion(request, chances))
    return sorted(found, key=lambda spread: -entropy(spread.chances))


def _shown(token: str) -> str:
    """A token as a reply has it: tokens that end an answer show no text."""
    bare = token.strip()
    is_special = bare.startswith("<") and bare.endswith(">") and len(bare) > 2
    return "" if is_special else bare


Draws = dict[str, Counter[str]]
"""Text of a question → how often each first token was drawn."""


async def draws(
    subject: Subject, questions: Mapping[TokenSampler, Sequence[OpenQuestion]], at_once: int
) -> dict[TokenSampler, Draws]:
    """First tokens, each drawn with a seed of its own; all settings are in flight together."""
    asked = [(sampler, one, seed) for seed in range(_DRAWS) for sampler, ones in questions.items() for one in ones]
    random.Random(0).shuffle(asked)  # noqa: S311 - the same order each time
    replies = await subject.ask(
        [
            replace(one.request, temperature=sampler.temperature, top_p=sampler.top_p, seed=seed)
            for sampler, one, seed in asked
        ],
        at_once,
    )
    drawn: dict[TokenSampler, Draws] = {
        sampler: {one.text: Counter() for one in ones} for sampler, ones in questions.items()
    }
    for (sampler, one, _), reply in zip(asked, replies, strict=True):
        if reply.fault is None:
            text = text_of(reply).strip()
            drawn[sampler][one.text][text if text in one.chances else REST] += 1
    return drawn


async def samplers(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Draws of first tokens against what log-probabilities say of them: all settings mixed, then what was wrong alone,
    then one at a time, so that a wrong sampler, a mixed up batch and a wrong batch are told apart."""
    open_ones = await spreads(subject, needles)
    if not open_ones:
        return ProbeResult(
            "SKIP",
            "The service shows no log-probabilities of an open question, so what it should draw is not known.",
        )
    questions = {
        sampler: [one for one in open_ones if sampler.is_clear(one.chances)][:_QUESTIONS] for sampler in _SETTINGS
    }
    drawn = await draws(subject, questions, _AT_ONCE)
    asked = sum(counts.total() for seen in drawn.values() for counts in seen.values())
    if silent := unanswered(asked, _DRAWS * sum(map(len, questions.values()))):
        return silent
    wrong = _wrong(drawn, open_ones)
    if not wrong:
        return ProbeResult("PASS", f"{asked:,} first tokens are drawn as often as their log-probabilities say.")
    for at_once, where, advice in _CAUSES:
        again: dict[TokenSampler, Draws] = {}
        for sampler in wrong:
            again |= await draws(subject, {sampler: questions[sampler]}, at_once)
        still = _wrong(again, open_ones)
        if not still:
            return ProbeResult("FAIL", f"{where.format(faults='; '.join(wrong.values()))}.", advice)
        wrong = still
    return ProbeResult(
        "FAIL",
        f"One at a time, too: {'; '.join(wrong.values())}.",
        "look at the server's own sampling defaults (generation_config.json), or run with --sampling plain",
    )


_CAUSES = (
    (
        _AT_ONCE,
        "Among requests with other settings, {faults}; alone, all is right",
        "look at how the server hands each request of a batch its own temperature and top_p",
    ),
    (
        1,
        f"With {_AT_ONCE} in flight, {{faults}}; one at a time, all is right",
        "the batch is at fault, not the sampler: serve fewer sequences at once, and see `load`",
    ),
)
"""How much is in flight when what was wrong is asked again, and what it means that it is right then."""


def _wrong(drawn: Mapping[TokenSampler, Draws], open_ones: Sequence[OpenQuestion]) -> dict[TokenSampler, str]:
    """What the draws of each setting look like, where they are not as asked."""
    chances = {one.text: one.chances for one in open_ones}
    tests, found = sum(map(len, drawn.values())), {}
    for sampler, seen in drawn.items():
        p = min((unlikely(counts, sampler.of(chances[name])) for name, counts in seen.items()), default=1.0)
        if p * tests <= _SURE or p <= 1 / 4001:
            actual = likeliest_sampler(seen, chances)
            looks = f"it draws as with {actual}" if actual else "its draws fit no simple sampler"
            found[sampler] = f"asked for {sampler}, {looks} (p ≤ {min(1.0, p * tests):.1g})"
    return found


async def seeds(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Different seeds give different answers where the first token is open."""
    open_ones = await spreads(subject, needles)
    if not open_ones:
        return ProbeResult("SKIP", "No question is known to have an open answer.")
    request = replace(open_ones[0].request, max_tokens=8)
    numbers = [*range(100, 120), *range(100, 120)]
    replies = await subject.ask([replace(request, seed=seed) for seed in numbers], at_once=4)
    if any(reply.fault is not None for reply in replies):
        return ProbeResult("SKIP", "The service refuses seeds.")
    texts = [text_of(reply) for reply in replies]
    first, second = texts[:20], texts[20:]
    kinds = len(set(first))
    collision = sum(chance**2 for chance in open_ones[0].chances.values())
    if kinds == 1 and collision**19 < _SURE:
        return ProbeResult(
            "FAIL",
            f"20 seeds gave one answer, {first[0]!r}, where the first token alone should differ.",
            "look at how the server seeds its sampler: samples of a problem must not be copies",
        )
    alike = sum(one == two for one, two in zip(first, second, strict=True))
    return ProbeResult("PASS", f"20 seeds gave {kinds} answers; asked again, {alike} of 20 gave theirs once more.")


async def choices(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Five choices of one request are drawn one by one."""
    open_ones = await spreads(subject, needles)
    if not open_ones:
        return ProbeResult("SKIP", "No question is known to have an open answer.")
    spread = open_ones[0]
    replies = await subject.ask([replace(spread.request, n=5, seed=seed) for seed in range(1000, 1060)], at_once=4)
    sets = [[choice.text.strip() for choice in reply.choices] for reply in replies if len(reply.choices) == 5]
    if len(sets) < len(replies) / 2:
        return ProbeResult("SKIP", "The service gives fewer choices than a request asks for.")
    same = sum(len(set(texts)) == 1 for texts in sets)
    expected = sum(chance**5 for chance in spread.chances.values())
    drawn = Counter({"same": same, "different": len(sets) - same})
    p = unlikely(drawn, {"same": expected, "different": 1 - expected})
    sentence = f"In {same} of {len(sets)} requests all five choices are equal; {expected:.0%} is to be expected"
    if same > expected * len(sets) and p <= _SURE:
        return ProbeResult(
            "FAIL", f"{sentence} (p ≤ {p:.1g}).", "ask with --num-return-sequences 1, or one request a sample"
        )
    return ProbeResult("PASS", f"{sentence}.")
