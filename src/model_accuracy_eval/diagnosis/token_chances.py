"""How often each first token should be drawn under which samplers, and whether draws look like that."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from math import exp, log
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from model_accuracy_eval.records import ScoredToken

Shares = NDArray[numpy.float64]
Chances = dict[str, float]
"""Text of a token → its chance. What is not among the likeliest tokens is one text of its own, `REST`."""
REST = "\0"
_LEAST = 1e-9
"""The chance of a token that was drawn though nothing is left for it."""
_SIMULATED = 4000
"""Draws of all draws: p-values are known down to 1 in 4,001."""
_BORDER = 0.01
_FLOOR = 1e-4
"""The chance of what should never be drawn, so that one odd token is no proof."""


class TokenSampler(NamedTuple):
    """What decides about the next token. The neutral values change nothing."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def of(self, chances: Chances) -> Chances:
        """The chances after it, in the order of vLLM and transformers: temperature, then what is left out."""
        if not self.temperature:
            likeliest = max(chances, key=lambda text: chances[text])
            return {likeliest: 1.0}
        warm = _normal({text: chance ** (1 / self.temperature) for text, chance in chances.items() if chance > 0})
        # Each token of the rest is less likely than all that are known, however many they are together.
        ranked = sorted(warm.items(), key=lambda pair: (pair[0] == REST, -pair[1]))
        kept, before = [], 0.0
        for place, (text, chance) in enumerate(ranked):
            if (not self.top_k or place < self.top_k) and (before < self.top_p) and chance >= self.min_p * ranked[0][1]:
                kept.append((text, chance))
            before += chance
        return _normal(dict(kept))

    def is_clear(self, chances: Chances) -> bool:
        """Whether top_p ends well within a token: at its border, rounding decides whether one more is drawn."""
        sums = accumulate(sorted((chance for text, chance in chances.items() if text != REST), reverse=True))
        return self.top_p == 1.0 or all(abs(sum_ - self.top_p) > _BORDER for sum_ in sums)

    def __str__(self) -> str:
        values = {"top_k": self.top_k, "top_p": self.top_p, "min_p": self.min_p}
        named = [f"{name} {value:g}" for name, value in values.items() if value != getattr(TokenSampler(), name)]
        warmth = (
            "always the likeliest token (temperature 0)"
            if not self.temperature
            else f"temperature {self.temperature:g}"
        )
        return " and ".join([*([warmth] if self.temperature != 1.0 or not named else []), *named])


def chances_of(token: ScoredToken, shown: Callable[[str], str] = str) -> Chances:
    """What could have stood at its place. `shown`: a token's text as it is compared."""
    chances: Chances = {}
    for text, logprob in token.likeliest:
        chances[shown(text)] = chances.get(shown(text), 0.0) + exp(min(logprob, 0.0))
    return {**chances, REST: max(0.0, 1.0 - sum(chances.values()))}


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


def _others() -> Iterator[TokenSampler]:
    yield from (TokenSampler(temperature) for temperature in (0, 0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2))
    yield from (TokenSampler(top_k=k) for k in (1, 2, 3, 4, 5, 8, 10, 20))
    yield from (TokenSampler(top_p=p) for p in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95))
    yield from (TokenSampler(min_p=p) for p in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5))


def likeliest_sampler(draws: Mapping[str, Counter[str]], chances: Mapping[str, Chances]) -> TokenSampler | None:
    """What the draws of several questions look like; None where nothing simple fits them."""

    def fit(sampler: TokenSampler) -> float:
        total = 0.0
        for name, drawn in draws.items():
            expected = sampler.of(chances[name])
            total += sum(count * log(expected.get(text, 0.0) + _FLOOR) for text, count in drawn.items())
        return total

    best = max(_others(), key=fit)
    fits = all(unlikely(drawn, best.of(chances[name])) > 0.01 / len(draws) for name, drawn in draws.items())
    return best if fits else None
