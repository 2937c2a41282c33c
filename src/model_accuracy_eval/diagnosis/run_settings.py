"""Before a run: whether first tokens are drawn as the run's own settings say.

A service that leaves rare tokens out, or halves the temperature, often scores better: no figure shows it, and a gate
would let it pass.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

from model_accuracy_eval.diagnosis.probe import QUESTIONS, SURE, ProbeResult, question
from model_accuracy_eval.diagnosis.token_chances import (
    Chances,
    FirstTokens,
    TokenSampler,
    among,
    as_shown,
    chances_of,
    entropy,
    is_open,
    likelier_samplers,
    unlikely,
)
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, JSONObject, Request
from model_accuracy_eval.records.exchange import NEUTRAL_SAMPLERS

_OPEN = (
    "Say a digit from 1 to 9.",
    "Heads or tails? Answer with one word.",
    "Choose one letter of A, B, C and D.",
    "Name a colour in one word.",
    "Say yes or no.",
)
"""Questions whose first token hardly a model is sure of."""
_QUESTIONS = 2
_ALMOST_NEVER = 1e-4
"""How often a right service may seem to draw by another sampler."""
_UNLIKELY = 0.002
"""Draws that fit no sampler and are so unlikely are drawn again, and are a finding if they are as unlikely then."""
_NAMED = 3
_PLAIN: JSONObject = {name: NEUTRAL_SAMPLERS[name][-1] for name in ("top_k", "min_p", "repetition_penalty")}
"""What a service may add by its own defaults, with the values that change nothing."""
_FORCED = {"logit_bias", "response_format"}
"""Fields behind which it is not known how often a token should be drawn; so it is behind all samplers but two."""


class DrawSetting(NamedTuple):
    """How a run asks for tokens."""

    temperature: float
    top_p: float
    fields: JSONObject
    """What its requests have beside."""
    own: Mapping[str, float]
    """Samplers that the service says it applies where a request leaves them out."""

    @property
    def sampler(self) -> TokenSampler | None:
        """None: it is not known how often a token should be drawn."""
        sent = {**self.own, **self.fields}
        known = {name: sent[name] for name in NEUTRAL_SAMPLERS if name in sent}
        changing = {name: value for name, value in known.items() if value not in NEUTRAL_SAMPLERS[name]}
        if changing.keys() - {"top_k", "min_p"} or sent.keys() & _FORCED:
            return None
        return TokenSampler(self.temperature, changing.get("top_k", 0), self.top_p, changing.get("min_p", 0.0))

    def ask(self, text: str, **fields: object) -> Request:
        return question(text, max_tokens=1, extra=self.fields, **fields)


async def run_settings(
    subject: Subject, settings: Sequence[DrawSetting], *, draws: int, choices: int, seed: int | None, at_once: int
) -> ProbeResult:
    """`draws`: how many in all, `choices` of them with one request."""
    told = []
    for setting in settings:
        sampler = setting.sampler
        if sampler is None or sampler.temperature > 1:
            # Above 1, the many tokens that are not told have a share that cannot be known.
            unknown = "How often tokens are drawn above temperature 1 or behind penalties is not known."
            told.append(ProbeResult("SKIP", unknown))
            continue
        opened = await _open_questions(subject, setting, sampler, at_once)
        if isinstance(opened, ProbeResult):
            return opened
        look = _Look(subject, setting, opened, draws // len(settings), choices, seed, at_once)
        told.append(await _looked_at(look, sampler))
    order = ("FAIL", "PASS", "SKIP")
    return min(told, key=lambda result: (order.index(result.state), not result.next_step))


class _Look(NamedTuple):
    subject: Subject
    setting: DrawSetting
    questions: Mapping[str, Chances]
    draws: int
    choices: int
    seed: int | None
    at_once: int

    async def drawn(self, round_: int, fields: JSONObject) -> tuple[list[FirstTokens], list[int]]:
        """First tokens, with seeds that no other round has; and how many different ones each request got."""
        asked = [*self.questions] * max(1, self.draws // len(self.questions) // self.choices)
        # Equal seeds are equal dice in whatever is asked: every request has its own.
        base = None if self.seed is None else self.seed + round_ * len(asked) * self.choices
        requests = [
            self.setting._replace(fields={**self.setting.fields, **fields}).ask(
                text,
                temperature=self.setting.temperature,
                top_p=self.setting.top_p,
                n=self.choices,
                seed=None if base is None else base + at * self.choices,
            )
            for at, text in enumerate(asked)
        ]
        kinds, told = [], {text: as_shown(chances) for text, chances in self.questions.items()}
        found: dict[str, FirstTokens] = {
            text: FirstTokens(chances, Counter()) for text, chances in self.questions.items()
        }
        for request, reply in zip(requests, await self.subject.ask(requests, self.at_once), strict=True):
            counts = found[request.messages[-1].content].counts
            texts = [choice.reasoning + choice.text for choice in reply.choices]
            kinds += [len(set(texts))] if texts else []
            counts.update(among(told[request.messages[-1].content], text) for text in texts)
        return list(found.values()), kinds


async def _open_questions(
    subject: Subject, setting: DrawSetting, sampler: TokenSampler, at_once: int
) -> dict[str, Chances] | ProbeResult:
    """The most open ones; of greedy ones those whose likeliest token no rounding tips over."""
    found: dict[str, Chances] = {}
    for texts in (_OPEN[:1], _OPEN[1:], QUESTIONS):
        answers = await subject.scored([setting.ask(text, temperature=1.0) for text in texts], at_once)
        tokens = [None if isinstance(each, Fault) or not each.tokens else each.tokens[0] for each in answers]
        if not any(tokens):
            return ProbeResult("SKIP", "The service shows no log-probabilities, so what it should draw is not known.")
        for text, token in zip(texts, tokens, strict=True):
            if token is None or not (sampler.temperature or (token.margin or 0.0) > SURE):
                continue
            chances = chances_of(token)
            if is_open(chances) and sampler.is_clear(chances):
                found[text] = chances
        if len(found) >= _QUESTIONS:
            break
    if not found:
        return ProbeResult("SKIP", "The model is sure of the first token of every question that was tried.")
    return dict(sorted(found.items(), key=lambda pair: -entropy(pair[1]))[:_QUESTIONS])


async def _looked_at(look: _Look, sampler: TokenSampler) -> ProbeResult:
    drawn, kinds = await look.drawn(0, {})
    total = sum(counts.total() for _, counts in drawn)
    if total < look.draws / 4:
        return ProbeResult("SKIP", f"Only {total} of {look.draws} first tokens came.")
    if look.choices > 1 and (copies := _copies(drawn, kinds, total)):
        return ProbeResult("FAIL", copies, "ask with --num-return-sequences 1, or mend how choices are drawn")
    others, p = likelier_samplers(drawn, sampler)
    if p > _ALMOST_NEVER:
        if _p_value(drawn, sampler) > _UNLIKELY or _p_value((await look.drawn(1, {}))[0], sampler) > _UNLIKELY:
            return ProbeResult("PASS", f"{total} first tokens were drawn as often as with {sampler}.")
        p = _UNLIKELY**2
    fitting = [str(other) for other in others if _p_value(drawn, other) > _UNLIKELY][:_NAMED]
    looks = f"it draws as with {', or '.join(fitting)}" if fitting else "its draws fit no simple sampler"
    sentence = f"Asked for {sampler}, {looks} ({total} first tokens, p ≤ {p:.1g})"
    plain, _ = await look.drawn(2, {name: value for name, value in _PLAIN.items() if name not in look.setting.fields})
    answered = sum(counts.total() for _, counts in plain) >= look.draws / 4
    if answered and likelier_samplers(plain, sampler)[1] > _ALMOST_NEVER and _p_value(plain, sampler) > _UNLIKELY:
        return ProbeResult(
            "PASS",
            f"{sentence}: a default of its own, as it draws right where requests send neutral values.",
            "--sampling plain sends them",
        )
    return ProbeResult("FAIL", f"{sentence}.", "diagnose the service, which tells the causes apart")


def _copies(drawn: Sequence[FirstTokens], kinds: Sequence[int], total: int) -> str:
    """What is said where the choices of a request are the same token far more often than chance makes them."""
    same, choices = kinds.count(1), round(total / len(kinds))
    by_chance = max(sum((count / each.counts.total()) ** choices for count in each.counts.values()) for each in drawn)
    if choices < 2 or same * log(1 / by_chance) + (len(kinds) - same) * log(0.01) < log(1 / _ALMOST_NEVER):
        return ""
    return (
        f"The {choices} choices of a request are copies: in {same} of {len(kinds)} requests they were the same token."
    )


def _p_value(drawn: Sequence[FirstTokens], sampler: TokenSampler) -> float:
    return min(max(unlikely(counts, as_shown(each)) for each in sampler.orders(chances)) for chances, counts in drawn)
