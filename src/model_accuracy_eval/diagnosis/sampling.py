"""Whether the service draws as it is told: temperature, top_p and top_k, alone and together, and nothing of its own.

Benchmarks cannot see this: a service that halves the temperature, or leaves rare tokens out, often scores better.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, unanswered
from model_accuracy_eval.diagnosis.token_chances import (
    REST,
    Chances,
    TokenSampler,
    among,
    as_shown,
    chances_of,
    entropy,
    is_open,
    likeliest_sampler,
    unlikely,
)
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, JSONObject, Request

_DRAWS = 300
"""Of each question and setting."""
_QUESTIONS = 2
_AT_ONCE = 16
_SUSPECTS = 3
"""Of the settings that are wrong, those that are asked for alone."""
_SURE = 0.002
"""How often a healthy service fails, over all settings together."""
_HOT = 1.5
_SETTINGS = (
    TokenSampler(),
    TokenSampler(temperature=0.5),
    TokenSampler(temperature=_HOT),
    TokenSampler(top_p=0.6),
    TokenSampler(top_p=0.9),
    TokenSampler(temperature=0.5, top_p=0.9),
    TokenSampler(temperature=_HOT, top_p=0.6),
    TokenSampler(temperature=_HOT, top_p=0.8),
    TokenSampler(top_k=2),
    TokenSampler(temperature=0.5, top_k=3),
    TokenSampler(temperature=_HOT, top_k=4, top_p=0.7),
)
"""Each alone, and each beside the others; those of top_k are for services that take it."""
_IN_ALL_FORMS = (TokenSampler(), TokenSampler(temperature=0.5, top_p=0.9))
"""Those that are asked for in other forms, too."""
_DEFAULTS = "look at the server's own sampling defaults (generation_config.json), or run with --sampling plain"
_UNKNOWN = "its draws fit no simple sampler"


class OpenQuestion(NamedTuple):
    """A question whose first token is open, and the chances of the tokens at temperature 1."""

    request: Request
    chances: Chances

    @property
    def text(self) -> str:
        return self.request.messages[-1].content

    @property
    def shown(self) -> Chances:
        """Of the texts that replies have."""
        return as_shown(self.chances)


async def spreads(subject: Subject, needles: Sequence[Needle]) -> list[OpenQuestion]:
    """The most open questions first; none of a service that shows no probabilities."""
    requests = [replace(needle.request, max_tokens=1, temperature=1.0) for needle in needles]
    found = []
    for request, scored in zip(requests, await subject.scored(requests), strict=True):
        if isinstance(scored, Fault) or not scored.tokens:
            continue
        chances = chances_of(scored.tokens[0])
        if is_open(chances):
            found.append(OpenQuestion(request, chances))
    return sorted(found, key=lambda spread: -entropy(spread.shown))


Draws = dict[str, Counter[str]]
"""Text of a question → how often each first token was drawn."""


async def draws(
    subject: Subject,
    questions: Mapping[TokenSampler, Sequence[OpenQuestion]],
    at_once: int,
    *,
    streamed: bool = False,
    told: bool = False,
    first_seed: int = 0,
) -> dict[TokenSampler, Draws]:
    """First tokens, each drawn with a seed of its own; all settings are in flight together. `told`: with
    log-probabilities."""
    asked = [
        (sampler, one, seed)
        for seed in range(first_seed, first_seed + _DRAWS)
        for sampler, ones in questions.items()
        for one in ones
    ]
    random.Random(0).shuffle(asked)  # noqa: S311 - the same order each time
    form: JSONObject = {"logprobs": True, "top_logprobs": 1} if told else {} if streamed else {"logprobs": False}
    requests = [
        replace(
            one.request,
            temperature=sampler.temperature,
            top_p=sampler.top_p,
            seed=seed,
            extra={**form, **({"top_k": sampler.top_k} if sampler.top_k else {})},
        )
        for sampler, one, seed in asked
    ]
    replies = await subject.answered([(request, streamed) for request in requests], at_once)
    drawn: dict[TokenSampler, Draws] = {
        sampler: {one.text: Counter() for one in ones} for sampler, ones in questions.items()
    }
    told_of = {one.text: one.shown for ones in questions.values() for one in ones}
    for (sampler, one, _), reply in zip(asked, replies, strict=True):
        if not isinstance(reply, Fault):
            drawn[sampler][one.text][among(told_of[one.text], reply.text)] += 1
    return drawn


async def samplers(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Draws of first tokens against what log-probabilities say of them: all settings mixed, then what was wrong alone,
    then one at a time, so that a wrong sampler, a mixed up batch and a wrong batch are told apart."""
    open_ones = await spreads(subject, needles)
    if not open_ones:
        return ProbeResult(
            "SKIP", "The service shows no log-probabilities of an open question, so what it should draw is not known."
        )
    takes_top_k = await _takes_top_k(subject, open_ones[0])
    questions = {
        sampler: asked
        for sampler in _SETTINGS
        if takes_top_k or not sampler.top_k
        if (asked := _telling(sampler, open_ones))
    }
    hot = TokenSampler(temperature=_HOT)
    questions[hot] = [
        one for one in open_ones if any(one in asked for each, asked in questions.items() if _is_hot(each))
    ]
    drawn = await draws(subject, questions, _AT_ONCE)
    answered = sum(counts.total() for seen in drawn.values() for counts in seen.values())
    if silent := unanswered(answered, _DRAWS * sum(map(len, questions.values()))):
        return silent
    rests = {name: (counts[REST] + 0.5) / (counts.total() + 1) for name, counts in drawn[hot].items()}
    wrong = _wrong(drawn, open_ones, rests)
    if wrong:
        # Chance does not do it twice.
        again = _wrong(await draws(subject, questions, _AT_ONCE, first_seed=_DRAWS), open_ones, rests)
        wrong = {sampler: words for sampler, words in wrong.items() if sampler in again}
    if not wrong:
        some = {sampler: questions[sampler] for sampler in _IN_ALL_FORMS if sampler in questions}
        streamed = await draws(subject, some, _AT_ONCE, streamed=True)
        told = await draws(subject, some, _AT_ONCE, told=True)
        for words, other in (("streamed", streamed), ("with log-probabilities", told)):
            if wrong := _wrong(other, open_ones, rests):  # the same seeds were right in the plain form
                return ProbeResult("FAIL", f"Only {words}: {_told(wrong)}.", _DEFAULTS)
        passed_over = "" if takes_top_k else " It does not take top_k."
        return ProbeResult(
            "PASS", f"{answered:,} first tokens are drawn as often as their log-probabilities say.{passed_over}"
        )
    for at_once, where, advice in _CAUSES:
        alone: dict[TokenSampler, Draws] = {}
        for sampler in sorted(wrong, key=lambda each: _UNKNOWN in wrong[each])[:_SUSPECTS]:
            alone |= await draws(subject, {sampler: questions[sampler]}, at_once)
        still = _wrong(alone, open_ones, rests)
        if not still:
            return ProbeResult("FAIL", f"{where.format(faults=_told(wrong))}.", advice)
        wrong = still
    return ProbeResult("FAIL", f"One at a time, too: {_told(wrong)}.", _DEFAULTS)


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


async def _takes_top_k(subject: Subject, one: OpenQuestion) -> bool:
    """Whether top_k 1 draws the likeliest token alone; the API does not know the field."""
    (seen,) = (await draws(subject, {TokenSampler(top_k=1): [one]}, _AT_ONCE)).values()
    return len(seen[one.text]) == 1


def _is_hot(sampler: TokenSampler) -> bool:
    return sampler.temperature > 1


def _telling(sampler: TokenSampler, open_ones: Sequence[OpenQuestion]) -> list[OpenQuestion]:
    """The questions whose draws tell most: where top_p ends within a token, and its order beside the temperature
    matters."""
    clear = [one for one in open_ones if sampler.is_clear(one.chances)]
    if sampler.temperature != 1.0 and (sampler.top_p < 1.0 or sampler.top_k):
        other = sampler._replace(is_cut_first=True)
        clear.sort(key=lambda one: -_apart(sampler.of(one.chances), other.of(one.chances)))
    return clear[:_QUESTIONS]


def _apart(one: Chances, two: Chances) -> float:
    return sum(abs(one.get(text, 0.0) - two.get(text, 0.0)) for text in {*one, *two})


def _wrong(
    drawn: Mapping[TokenSampler, Draws], open_ones: Sequence[OpenQuestion], rests: Mapping[str, float]
) -> dict[TokenSampler, str]:
    """What the draws of each setting look like, where they are not as asked. `rests`: the shares of unknown tokens of
    each question at the high temperature."""
    chances = {one.text: one.chances for one in open_ones}
    tests, found = sum(map(len, drawn.values())), {}
    for sampler, all_seen in drawn.items():
        rest = rests if _is_hot(sampler) else {}
        seen = {name: counts for name, counts in all_seen.items() if sampler.is_clear(chances[name], rest.get(name))}
        p = min(
            (unlikely(counts, as_shown(sampler.of(chances[name], rest.get(name)))) for name, counts in seen.items()),
            default=1.0,
        )
        if p * tests <= _SURE or p <= 1 / 4001:
            actual = likeliest_sampler(seen, chances, sampler, rest)
            looks = f"it draws as with {actual}" if actual else _UNKNOWN
            found[sampler] = f"asked for {sampler}, {looks} (p ≤ {min(1.0, p * tests):.1g})"
    return found


def _told(wrong: Mapping[TokenSampler, str]) -> str:
    """What is known of the cause, or that nothing is: what fits one setting explains the others."""
    return "; ".join([words for words in wrong.values() if _UNKNOWN not in words] or wrong.values())
