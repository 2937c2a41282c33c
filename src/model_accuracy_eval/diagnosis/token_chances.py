"""How often each first token should be drawn under which samplers, and whether draws look like that."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import exp, log
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from model_accuracy_eval.records import ScoredToken

Shares = NDArray[numpy.float64]
Chances = dict[str, float]
"""Text of a token → its chance. What is not among the likeliest tokens is one text of its own, `REST`."""
REST = "\0 any other"
_LEAST = 1e-9
"""The chance of a token that was drawn though nothing is left for it."""
_SIMULATED = 4000
"""Draws of all draws: p-values are known down to 1 in 4,001."""
_BORDER = 0.01
_HOT_BORDER = 0.04
"""The same where the share of the rest is known from draws only."""
_FLOOR = 1e-4
"""The chance of what should never be drawn, so that one odd token is no proof."""


class TokenSampler(NamedTuple):
    """What decides about the next token. The neutral values change nothing."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    is_cut_first: bool = False
    """Whether tokens are left out before the temperature."""

    def of(self, chances: Chances, rest: float | None = None) -> Chances:
        """The chances after it, in the order of vLLM and transformers: temperature, top_k, top_p. `rest`: the share of
        all tokens that are not known after the temperature; above 1 it does not follow from their share at 1."""
        if self == NEUTRAL:
            return chances
        if not self.temperature:
            likeliest = max(chances, key=lambda text: chances[text])
            return {likeliest: 1.0}
        if self.is_cut_first:
            return self._warm(self._cut(chances), None)
        return self._cut(self._warm(chances, rest))

    def _warm(self, chances: Chances, rest: float | None) -> Chances:
        warm = {text: chance ** (1 / self.temperature) for text, chance in chances.items() if chance > 0}
        if rest is None:
            return _normal(warm)
        listed = _normal({text: chance for text, chance in warm.items() if text != REST})
        return {**{text: chance * (1 - rest) for text, chance in listed.items()}, REST: rest}

    def _ranked(self, chances: Chances) -> list[tuple[str, float]]:
        """What top_k leaves. Each token of the rest is less likely than all that are known, however many they are."""
        ranked = sorted(chances.items(), key=lambda pair: (pair[0] == REST, -pair[1]))
        return [*_normal(dict(ranked[: self.top_k or None])).items()]

    def _cut(self, chances: Chances) -> Chances:
        kept, before = [], 0.0
        ranked = self._ranked(chances)
        for text, chance in ranked:
            if before < self.top_p and chance >= self.min_p * ranked[0][1]:
                kept.append((text, chance))
            before += chance
        return _normal(dict(kept))

    def orders(self, chances: Chances) -> tuple[Chances, ...]:
        """The chances where tokens are left out behind the temperature, and before it: engines do either."""
        return self.of(chances), self._replace(is_cut_first=True).of(chances)

    def is_clear(self, chances: Chances, rest: float | None = None) -> bool:
        """Whether top_p ends well within a token: at its border, rounding decides whether one more is drawn."""
        if self.top_p == 1.0 or not self.temperature:
            return True
        border = _BORDER if rest is None else _HOT_BORDER
        sums = accumulate(chance for text, chance in self._ranked(self._warm(chances, rest)) if text != REST)
        return all(abs(sum_ - self.top_p) > border for sum_ in sums) and (
            rest is None or self.top_p < 1 - rest - border
        )

    def __str__(self) -> str:
        values = {"top_k": self.top_k, "top_p": self.top_p, "min_p": self.min_p}
        named = [f"{name} {value:g}" for name, value in values.items() if value != getattr(NEUTRAL, name)]
        warmth = (
            "always the likeliest token (temperature 0)"
            if not self.temperature
            else f"temperature {self.temperature:g}"
        )
        said = " and ".join([*([warmth] if self.temperature != 1.0 or not named else []), *named])
        return f"{said}, which are applied before the temperature" if self.is_cut_first else said


NEUTRAL = TokenSampler()


def chances_of(token: ScoredToken) -> Chances:
    """What could have stood at its place. A text that several tokens have, such as a part of a character or none, is
    none of them, and no other one is that is shown so: samplers tell them apart."""
    times = Counter(text for text, _ in token.likeliest)
    unclear = {shown(text) for text in times if times[text] > 1 or "\ufffd" in text}
    chances = {text: exp(min(logprob, 0.0)) for text, logprob in token.likeliest if shown(text) not in unclear}
    return {**chances, REST: max(0.0, 1.0 - sum(chances.values()))}


_SPREAD = 0.3
"""Nats of entropy that an open place must have: a sure token is drawn alike by every sampler."""
_KNOWN = 0.99
"""Of all chances that the likeliest tokens must hold: how the rest shares what is left is not told."""


def is_open(chances: Chances) -> bool:
    """Whether draws tell how they are drawn."""
    return is_known(chances) and entropy(as_shown(chances)) >= _SPREAD


def is_known(chances: Chances) -> bool:
    """Whether what a sampler makes of them is known."""
    return chances[REST] <= 1 - _KNOWN


def surprise_of(chance: float) -> float:
    """In nats."""
    return -log(max(chance, _LEAST))


def _normal(chances: Chances) -> Chances:
    total = sum(chances.values())
    return {text: chance / total for text, chance in chances.items()}


def entropy(chances: Mapping[str, float]) -> float:
    """In nats."""
    return -sum(chance * log(chance) for chance in chances.values() if chance > 0)


def unlikely(drawn: Counter[str], expected: Chances) -> float:
    """The p-value of a G-test of draws, by simulation: rare tokens need no rule for small numbers."""
    texts = sorted({*expected, *drawn})
    shares = numpy.array([expected.get(text, 0.0) + _FLOOR for text in texts])
    shares /= shares.sum()
    counts = numpy.array([[drawn[text] for text in texts]])
    simulated = numpy.random.default_rng(0).multinomial(drawn.total(), shares, size=_SIMULATED)
    seen, chance = _g(counts, shares)[0], _g(simulated, shares)
    return float((1 + (chance >= seen - 1e-9).sum()) / (1 + _SIMULATED))


def _g(counts: NDArray[numpy.int64], shares: Shares) -> Shares:
    expected = counts.sum(axis=1, keepdims=True) * shares
    with numpy.errstate(divide="ignore", invalid="ignore"):
        terms = numpy.where(counts > 0, counts * numpy.log(counts / expected), 0.0)
    total: Shares = 2 * terms.sum(axis=1)
    return total


def as_shown(chances: Chances) -> Chances:
    """The chances of texts as a reply has them: several tokens show the same one, which samplers tell apart."""
    merged: Chances = {}
    for token, chance in chances.items():
        text = token if token == REST else shown(token)
        merged[text] = merged.get(text, 0.0) + chance
    return merged


def shown(token: str) -> str:
    """A token as a reply has it: tokens that end an answer show no text."""
    bare = token.strip()
    is_special = bare.startswith("<") and bare.endswith(">") and len(bare) > 2
    return "" if is_special else bare


def among(told: Chances, text: str) -> str:
    """What of the texts that were told a reply is."""
    return bare if (bare := shown(text)) in told else REST


class FirstTokens(NamedTuple):
    """As they were drawn for one question."""

    chances: Chances
    """At temperature 1, with nothing left out."""
    counts: Counter[str]


_STRAYS = 0.001
"""The share of draws that another sampler is taken to leave to the one that was asked for."""
_ALIKE = 1.0
"""Nats by which samplers have to differ to be told apart."""


def likelier_samplers(drawn: Sequence[FirstTokens], asked: TokenSampler) -> tuple[list[TokenSampler], float]:
    """The samplers that explain the draws best, and a bound of the p-value of their being no better than `asked`.

    Another sampler makes them x times as likely with a chance of 1/x at most where all is right (Markov), so no
    distribution has to be known; this counts for as many samplers as were tried.
    """
    gains = {other: _gain(other, asked, drawn) for other in {*_with_one_changed(asked)} - {asked}}
    most = max(gains.values())
    best = sorted(other for other, gain in gains.items() if gain >= most - _ALIKE)
    return best, min(1.0, len(gains) * exp(-max(0.0, most)))


def _gain(other: TokenSampler, asked: TokenSampler, drawn: Sequence[FirstTokens]) -> float:
    """By how many nats the draws are likelier with another sampler, in the better one of both orders of `asked`."""
    gains = [0.0, 0.0]
    for chances, counts in drawn:
        other_chances = as_shown(other.of(chances))
        for order, expected in enumerate(map(as_shown, asked.orders(chances))):
            for text, count in counts.items():
                right = max(expected.get(text, 0.0), _LEAST)
                mixed = (1 - _STRAYS) * other_chances.get(text, 0.0) + _STRAYS * right
                gains[order] += count * log(mixed / right)
    return min(gains)


_VARIED: Mapping[str, Sequence[float]] = {
    "temperature": (0.0, 0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0),
    "top_k": (0, 1, 2, 3, 4, 5, 8, 10, 20),
    "top_p": (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0),
    "min_p": (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
}


def _with_one_changed(sampler: TokenSampler) -> Iterator[TokenSampler]:
    for name, values in _VARIED.items():
        yield from (TokenSampler(**{**sampler._asdict(), name: value}) for value in values)


def _others(asked: TokenSampler) -> Iterator[TokenSampler]:
    """What may be drawn with instead: what was asked for with one thing changed, or something else alone."""
    yield asked
    yield asked._replace(is_cut_first=True)
    yield from (asked._replace(**{name: getattr(NEUTRAL, name)}) for name in ("temperature", "top_k", "top_p"))
    yield from (asked._replace(top_k=asked.top_k + more) for more in (-1, 1) if asked.top_k > 1)
    yield from (asked._replace(temperature=asked.temperature * by) for by in (0.5, 2))
    yield from (asked._replace(min_p=p) for p in (0.02, 0.05, 0.1, 0.2))
    yield from _with_one_changed(NEUTRAL)


def likeliest_sampler(
    draws: Mapping[str, Counter[str]],
    chances: Mapping[str, Chances],
    asked: TokenSampler = NEUTRAL,
    rests: Mapping[str, float] | None = None,
) -> TokenSampler | None:
    """What the draws of several questions look like; None where nothing simple fits them. `rests`: the shares of all
    unknown tokens at the temperature that was asked for."""

    def of(sampler: TokenSampler, name: str) -> Chances:
        is_as_asked = sampler.temperature == asked.temperature
        return as_shown(sampler.of(chances[name], (rests or {}).get(name) if is_as_asked else None))

    def fit(sampler: TokenSampler) -> float:
        total = 0.0
        for name, drawn in draws.items():
            expected = of(sampler, name)
            total += sum(count * log(expected.get(text, 0.0) + _FLOOR) for text, count in drawn.items())
        return total

    best = max(_others(asked), key=fit)
    fits = all(unlikely(drawn, of(best, name)) > 0.01 / len(draws) for name, drawn in draws.items())
    return best if fits else None
