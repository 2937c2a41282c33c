"""What completions say of the tokens of their prompt: OpenAI's `logprobs`, and vLLM's `prompt_logprobs`."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

import msgspec

from model_accuracy_eval.records import Fault, Likelihood

LOWEST = -9999.0
"""Stands for minus infinity, as in vLLM's answers: JSON has no word for it."""


class Token(NamedTuple):
    """One token of a prompt as the service shows it."""

    key: int | str
    """Its number where that is known, else its text: equal tokens have equal keys."""
    text: str | None
    logprob: float | None
    """None: the service says nothing about it, as of the first one."""
    likeliest: bool | None


class Legacy(msgspec.Struct, gc=False):
    """The `logprobs` of a completion: four lists, one entry a token."""

    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    top_logprobs: list[dict[str, float] | None] | None = None


class Entry(msgspec.Struct, gc=False):
    """One of the tokens that vLLM considers at a place."""

    logprob: float
    decoded_token: str | None = None


Considered = Mapping[str, Entry]
"""Number → entry; the first is the token that stands there, the others are the likeliest."""


class Choice(msgspec.Struct):
    text: str = ""
    logprobs: Legacy | None = None
    prompt_logprobs: list[dict[str, Entry] | None] | None = None


class Counted(msgspec.Struct):
    completion_tokens: int | None = None


class Completion(msgspec.Struct):
    """An answer of `/v1/completions`, as far as weighing needs it."""

    choices: list[Choice]
    usage: Counted | None = None


def echoed(legacy: Legacy) -> list[Token]:
    """Every token of prompt and answer, one behind the other."""
    tops = legacy.top_logprobs or [None] * len(legacy.tokens)
    if not len(legacy.tokens) == len(legacy.token_logprobs) == len(tops):
        return []
    return [
        Token(text, text, _bounded(logprob), _likeliest(logprob, list(top.values()) if top else []))
        for text, logprob, top in zip(legacy.tokens, legacy.token_logprobs, tops, strict=True)
    ]


def considered(places: Sequence[Considered | None], ids: Sequence[int] | None) -> list[Token]:
    """Every token of the prompt; `ids`: their numbers, where they are known."""
    return [_considered(place, None if ids is None else ids[at]) for at, place in enumerate(places)]


def _considered(place: Considered | None, number: int | None) -> Token:
    if not place:
        return Token(-1 if number is None else number, None, None, None)
    name = next(iter(place)) if number is None or str(number) not in place else str(number)
    entry = place[name]
    values = [one.logprob for one in place.values()]
    return Token(int(name), entry.decoded_token, _bounded(entry.logprob), _likeliest(entry.logprob, values))


def _likeliest(logprob: float | None, others: Sequence[float]) -> bool | None:
    return logprob >= max(others) if others and logprob is not None else None


def _bounded(logprob: float | None) -> float | None:
    """NaN is no word about a token."""
    if logprob is None or isnan(logprob):
        return None
    return max(logprob, LOWEST)


def summed(tokens: Sequence[Token]) -> Likelihood | Fault:
    """What the tokens of an ending say together; a token that nothing is said about leaves nothing to be said."""
    told = [token.logprob for token in tokens if token.logprob is not None]
    if len(told) < len(tokens):
        silent = len(tokens) - len(told)
        sentence = f"The service tells no log-probability of {silent} of the {len(tokens)} tokens of an ending."
        return Fault(kind="rejected", sentence=sentence)
    greedy = [token.likeliest for token in tokens]
    return Likelihood(logprob=sum(told), tokens=len(told), greedy=None if None in greedy else all(greedy))
