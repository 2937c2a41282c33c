"""Weighs the letters of options instead of their texts: the three lower rungs of the ladder."""

import math
from collections.abc import Awaitable, Callable, Sequence
from functools import reduce

import msgspec

from model_accuracy_eval.records import Ballot, Choice, Fault, JSONObject, Likelihood, Reply, Request, Rung, Timings
from model_accuracy_eval.rim.service.weighing.calls import Calls
from model_accuracy_eval.rim.service.weighing.tokens import LOWEST

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROOM = 16
"""Tokens for one of a few words, in quotes and braces."""


class _First(msgspec.Struct):
    token: str
    logprob: float


class _Place(msgspec.Struct):
    top_logprobs: list[_First] = []


class _Told(msgspec.Struct):
    content: list[_Place] | None = None


class _Said(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Said | None = None
    logprobs: _Told | None = None


class _Answer(msgspec.Struct):
    choices: list[_Choice]


def first_tokens(letters: Sequence[str], firsts: Sequence[_First]) -> list[Likelihood | None]:
    """What the first token says of each letter; with and without blanks around it, it is the same letter.

    None: the letter is not among the likeliest tokens, and more are not told.
    """
    found: list[Likelihood | None] = []
    for letter in letters:
        same = [max(first.logprob, LOWEST) for first in firsts if first.token.strip() == letter]
        found.append(Likelihood(logprob=reduce(_logaddexp, same), tokens=1) if same else None)
    return found


def _logaddexp(one: float, other: float) -> float:
    high, low = max(one, other), min(one, other)
    return high + math.log1p(math.exp(low - high))


class TopScale:
    """Implements `ports.Scale` by the likeliest first tokens of an answer."""

    rung: Rung = "top-logprobs"

    def __init__(self, calls: Calls, count: int) -> None:
        self._calls = calls
        self._count = count
        self.findings: tuple[str, ...] = ()

    async def weigh(self, ballot: Ballot) -> Reply:
        name = self._calls.next_id()
        body = {"logprobs": True, "top_logprobs": self._count, "max_tokens": 1, "temperature": 1.0}
        answer = await self._calls.post("chat/completions", _chat(ballot.request, body), _Answer)
        if isinstance(answer, Fault):
            return Reply(id=name, fault=answer)
        told = answer.choices[0].logprobs if answer.choices else None
        if told is None or not told.content:
            return Reply(id=name, fault=Fault(kind="failed", sentence="The answer tells no likeliest first tokens."))
        return Reply(id=name, weighed=tuple(first_tokens(LETTERS[: ballot.options], told.content[0].top_logprobs)))


Constraint = Callable[[Sequence[str]], JSONObject]
"""The request's fields that leave a service only some words to say."""
CONSTRAINTS: dict[str, Constraint] = {
    "structured_outputs": lambda words: {"structured_outputs": {"choice": list(words)}},
    "guided_choice": lambda words: {"guided_choice": list(words)},
    "response_format": lambda words: {
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {"answer": {"type": "string", "enum": list(words)}},
                    "required": ["answer"],
                    "additionalProperties": False,
                },
            },
        }
    },
}


class ConstrainedScale:
    """Implements `ports.Scale` by answers that can be nothing but a letter."""

    rung: Rung = "constrained"

    def __init__(self, calls: Calls, constraint: str) -> None:
        self._calls = calls
        self._constrain = CONSTRAINTS[constraint]
        self.findings: tuple[str, ...] = ()

    async def weigh(self, ballot: Ballot) -> Reply:
        return await self.choose(ballot.request, LETTERS[: ballot.options])

    async def choose(self, request: Request, words: Sequence[str]) -> Reply:
        """One of the words, as the text of the reply; anything else is a fault."""
        name = self._calls.next_id()
        body = {"max_tokens": _ROOM, "temperature": 0.0, **self._constrain(words)}
        answer = await self._calls.post("chat/completions", _chat(request, body), _Answer)
        if isinstance(answer, Fault):
            return Reply(id=name, fault=answer)
        said = answer.choices[0].message if answer.choices else None
        word = _word(said.content or "" if said else "")
        if word not in words:
            sentence = f"The answer was to be one of {', '.join(words)}, but is '{word[:40]}'."
            return Reply(id=name, fault=Fault(kind="failed", sentence=sentence))
        return Reply(id=name, choices=(Choice(text=word, finish_reason="stop", timings=Timings(e2e=0.0)),))


def _word(text: str) -> str:
    """By itself, or under `answer` in an object."""
    try:
        tree = msgspec.json.decode(text)
    except ValueError:
        return text.strip()
    answer = tree.get("answer") if isinstance(tree, dict) else tree
    return str(answer)


class ExtractedScale:
    """Implements `ports.Scale` by free answers, out of which somebody else has to read the letter."""

    rung: Rung = "extracted"

    def __init__(self, ask: Callable[[Request], Awaitable[Reply]]) -> None:
        self._ask = ask
        self.findings: tuple[str, ...] = ()

    async def weigh(self, ballot: Ballot) -> Reply:
        return await self._ask(ballot.request)


def _chat(request: Request, body: JSONObject) -> JSONObject:
    """The conversation, and what the user adds to every request."""
    return {"messages": request.messages, **request.extra, **body}
