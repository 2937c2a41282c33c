"""Scores the letters of options instead of their texts, for services without log-probabilities of given texts."""

import math
from collections.abc import Awaitable, Callable, Sequence
from functools import reduce

import msgspec

from model_accuracy_eval.client.dialects import CHOICE_CONSTRAINTS, LOWEST_LOGPROB, MAX_TOKENS
from model_accuracy_eval.client.prompt_logprobs import JsonRequests
from model_accuracy_eval.records import (
    Choice,
    Fault,
    JSONObject,
    Loglikelihood,
    LoglikelihoodRequest,
    Reply,
    Request,
    RequestMethod,
    Timings,
)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DRAWS = 40
"""A server may leave the probabilities out when the token that it draws shows no text: one that ends the answer, or the
first bytes of a character. Which one it draws has no part in them, so they are asked for again. llama.cpp left them out
in 12 to 23 % of the draws of some questions: at 23 %, eight tries would break one run in twenty of 6,595 samples."""
_FIRST_DRAWS = 2
"""Of a server that has not shown yet that it gives any."""
_CONSTRAINED_TOKENS = 16
"""Enough for one of a few words, in quotes and braces."""


class TopLogprob(msgspec.Struct):
    token: str
    logprob: float


class _Position(msgspec.Struct):
    top_logprobs: list[TopLogprob] = []


class _ChatLogprobs(msgspec.Struct):
    content: list[_Position] | None = None


class _ChatMessage(msgspec.Struct):
    content: str | None = None


class _ChatChoice(msgspec.Struct):
    message: _ChatMessage | None = None
    logprobs: _ChatLogprobs | None = None


class _ChatAnswer(msgspec.Struct):
    choices: list[_ChatChoice]


def letter_loglikelihoods(letters: Sequence[str], top: Sequence[TopLogprob]) -> list[Loglikelihood | None]:
    """The log-likelihood of each letter as first token; with blanks around it, a token is the same letter.

    None for a letter that is not among the most likely tokens, since the service returns no others.
    """
    results: list[Loglikelihood | None] = []
    for letter in letters:
        logprobs = [max(entry.logprob, LOWEST_LOGPROB) for entry in top if entry.token.strip() == letter]
        results.append(Loglikelihood(logprob=reduce(_logaddexp, logprobs), tokens=1) if logprobs else None)
    return results


def _logaddexp(first: float, second: float) -> float:
    high, low = max(first, second), min(first, second)
    return high + math.log1p(math.exp(low - high))


class TopLogprobsClient:
    """Implements `ports.LoglikelihoodClient` by the most likely first tokens of an answer."""

    method: RequestMethod = "top-logprobs"

    def __init__(self, requests: JsonRequests, count: int) -> None:
        self._requests = requests
        self._count = count
        self._has_given_some = False
        self.findings: tuple[str, ...] = ()

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        reply_id = self._requests.next_id()
        fields = {"logprobs": True, "top_logprobs": self._count, MAX_TOKENS: 1, "temperature": 1.0}
        tries = 0
        while tries < (_DRAWS if self._has_given_some else _FIRST_DRAWS):
            tries += 1
            answer = await self._requests.post("chat/completions", _chat_fields(request.request, fields), _ChatAnswer)
            if isinstance(answer, Fault):
                return Reply(id=reply_id, tries=tries, fault=answer)
            logprobs = answer.choices[0].logprobs if answer.choices else None
            self._has_given_some |= logprobs is not None
            if logprobs is not None and logprobs.content:
                results = letter_loglikelihoods(LETTERS[: request.options], logprobs.content[0].top_logprobs)
                return Reply(id=reply_id, tries=tries, loglikelihoods=tuple(results))
        sentence = f"The answer has no top_logprobs, in {tries} tries."
        if self._has_given_some:
            sentence += " Others had them; --loglikelihood extracted needs none."
        fault = Fault(kind="failed", sentence=sentence)
        return Reply(id=reply_id, tries=tries, fault=fault)


class ConstrainedClient:
    """Implements `ports.LoglikelihoodClient` by answers that are constrained to one letter."""

    method: RequestMethod = "constrained"

    def __init__(self, requests: JsonRequests, constraint: str) -> None:
        self._requests = requests
        self._constraint = CHOICE_CONSTRAINTS[constraint]
        self.findings: tuple[str, ...] = ()

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        return await self.choose(request.request, LETTERS[: request.options])

    async def choose(self, request: Request, words: Sequence[str]) -> Reply:
        """A reply whose text is one of the words; any other answer is a fault."""
        reply_id = self._requests.next_id()
        fields = {MAX_TOKENS: _CONSTRAINED_TOKENS, "temperature": 0.0, **self._constraint.fields(words)}
        answer = await self._requests.post("chat/completions", _chat_fields(request, fields), _ChatAnswer)
        if isinstance(answer, Fault):
            return Reply(id=reply_id, fault=answer)
        message = answer.choices[0].message if answer.choices else None
        word = _answer_word(message.content or "" if message else "")
        if word not in words:
            sentence = f"The answer should be one of {', '.join(words)}, but is '{word[:40]}'."
            return Reply(id=reply_id, fault=Fault(kind="failed", sentence=sentence))
        return Reply(id=reply_id, choices=(Choice(text=word, finish_reason="stop", timings=Timings(e2e=0.0)),))


def _answer_word(text: str) -> str:
    """The word alone, from a bare text, a JSON string, or the `answer` of a JSON object."""
    try:
        tree = msgspec.json.decode(text)
    except ValueError:
        return text.strip()
    answer = tree.get("answer") if isinstance(tree, dict) else tree
    return str(answer)


class ExtractedClient:
    """Implements `ports.LoglikelihoodClient` by free answers, from which a filter extracts the letter later."""

    method: RequestMethod = "extracted"

    def __init__(self, ask: Callable[[Request], Awaitable[Reply]]) -> None:
        self._ask = ask
        self.findings: tuple[str, ...] = ()

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        return await self._ask(request.request)


def _chat_fields(request: Request, fields: JSONObject) -> JSONObject:
    """The messages, with the user's extra fields."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"messages": messages, **request.extra, **fields}
