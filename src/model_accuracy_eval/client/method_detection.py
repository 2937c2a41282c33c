"""Which log-likelihood method a service supports: tried from the most exact one down, with few small requests.

A server's claims are checked, not believed: log-probabilities of given tokens must be those with which the model
generated them.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from functools import reduce
from typing import NamedTuple

import msgspec

from model_accuracy_eval.client.dialects import (
    LOWEST_LOGPROB,
    MAX_TOKENS,
    TOP_LOGPROBS,
    PromptLogprobsMethod,
)
from model_accuracy_eval.client.given_texts import (
    EndingMethod,
    EndingsByIds,
    EndingsByText,
    GivenTextsClient,
)
from model_accuracy_eval.client.prompt_logprobs import (
    SAMPLE,
    JsonRequests,
    PromptReader,
    TextSpan,
    Token,
    echo_tokens,
    find_tokenizer,
    first_token_after,
)
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.errors import AdapterFailed, NoHonestScore
from model_accuracy_eval.records import (
    Fault,
    JSONObject,
    Loglikelihood,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Message,
    Reply,
    Request,
    RequestMethod,
)

# Scores the letters of options instead of their texts, for services without log-probabilities of given texts.


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DRAWS = 40
"""A server may leave the probabilities out when the token that it draws shows no text: one that ends the answer, or the
first bytes of a character. Which one it draws has no part in them, so they are asked for again. llama.cpp left them out
in 12 to 23 % of the draws of some questions: at 23 %, eight tries would break one run in twenty of 6,595 samples."""
_FIRST_DRAWS = 2
"""Of a server that has not shown yet that it gives any."""


class TopLogprob(msgspec.Struct):
    token: str
    logprob: float


class _Position(msgspec.Struct):
    top_logprobs: list[TopLogprob] = []


class _ChatLogprobs(msgspec.Struct):
    content: list[_Position] | None = None


class _ChatChoice(msgspec.Struct):
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


AskService = Callable[[Request], Awaitable[Reply]]
AnyLoglikelihoodClient = GivenTextsClient | TopLogprobsClient | ExtractedClient
Detected = tuple[AnyLoglikelihoodClient | None, str]
"""A client if the method works, and a sentence about it in any case."""

_LETTER_QUESTION = (
    "Which letter comes first in the alphabet?\n\nA. A\nB. B\n\nRespond only with the letter of the correct answer."
)
_TOLERANCE = 0.5
"""The largest difference of one token's log-probabilities; half precision and batching cause some hundredths."""
_GENERATED = 4
"""Tokens that the model generates for comparison."""


async def detect_method(
    client: ServiceClient, ask: AskService, setting: LoglikelihoodSetting, extra: JSONObject
) -> AnyLoglikelihoodClient:
    """The most exact client that works, or the one of the setting. `extra`: the user's fields for every request."""
    requests = JsonRequests(client)
    given_texts, letters = _GivenTextsDetection(requests), _LettersDetection(requests, ask, extra)
    detections: dict[str, Callable[[], Awaitable[Detected]]] = {
        "echo": lambda: given_texts.detect("echo"),
        "prompt-logprobs": lambda: given_texts.detect("prompt-logprobs"),
        "top-logprobs": letters.top_logprobs,
        "extracted": letters.extracted,
    }
    findings: list[str] = []
    for method, detect in detections.items():
        if setting in ("auto", method):
            found_client, finding = await detect()
            findings.append(f"{method}: {finding}")
            if found_client is not None:
                found_client.findings = tuple(findings)
                return found_client
    raise NoHonestScore(f"The service has no log-likelihoods by {setting}; {findings[-1]}")


class _LettersDetection:
    """Tries the methods that score option letters."""

    def __init__(self, requests: JsonRequests, ask: AskService, extra: JSONObject) -> None:
        self._requests = requests
        self._ask = ask
        self._extra = extra

    async def top_logprobs(self) -> Detected:
        request = LoglikelihoodRequest(request=self._request(_LETTER_QUESTION), candidates=(), options=2)
        finding = ""
        for count in TOP_LOGPROBS:
            client = TopLogprobsClient(self._requests, count)
            reply = await client.loglikelihood(request)
            if any(reply.loglikelihoods):
                return client, f"the {count} most likely first tokens of an answer are returned."
            if reply.fault is None:
                return None, f"no letter is among the {count} most likely first tokens of an answer."
            finding = _reason(reply.fault)
        return None, finding

    async def extracted(self) -> Detected:
        return ExtractedClient(self._ask), "letters are extracted from free answers."

    def _request(self, question: str) -> Request:
        return Request(messages=(Message(role="user", content=question),), extra=self._extra)


class _GeneratedText(NamedTuple):
    text: str
    tokens: list[Token]


class _GivenTextsDetection:
    """Tries the methods that return log-probabilities of given texts."""

    def __init__(self, requests: JsonRequests) -> None:
        self._requests = requests
        self._generated: _GeneratedText | Fault | None = None

    async def detect(self, method: PromptLogprobsMethod) -> Detected:
        if self._generated is None:
            self._generated = await self._generate()
        if isinstance(self._generated, Fault):
            return None, f"the service has no completions: {self._generated.sentence}"
        objection = ""
        for count in (1, 0):  # some servers refuse 0, some refuse more than 0, and for some 0 means "no limit"
            reader = PromptReader(self._requests, method, count)
            answer = await reader.read_text(SAMPLE + self._generated.text)
            objection = _reason(answer) if isinstance(answer, Fault) else _objection(self._generated, *answer)
            if not objection:
                endings, finding = await self._ending_method(reader)
                return GivenTextsClient(self._requests, method, endings), finding
            if not (isinstance(answer, Fault) and answer.kind == "rejected"):
                break
        return None, objection

    async def _generate(self) -> _GeneratedText | Fault:
        """A few generated tokens, with the log-probabilities that they had then."""
        reader = PromptReader(self._requests, "echo", _GENERATED)
        answer = await reader.complete(SAMPLE, {"logprobs": 1, "seed": 0}, _GENERATED)
        if isinstance(answer, Fault):
            _reason(answer)
            return answer
        choice, _ = answer
        # Half a character cannot be sent back.
        text = choice.text.partition("\ufffd")[0]
        return _GeneratedText(text, echo_tokens(choice.logprobs) if choice.logprobs else [])

    async def _ending_method(self, reader: PromptReader) -> tuple[EndingMethod, str]:
        by_text = "endings are located by the texts of tokens, because"
        tokenizer = await find_tokenizer(self._requests)
        if isinstance(tokenizer, Fault):
            return EndingsByText(reader), f"{by_text} /tokenize fails: {_reason(tokenizer)}"
        ids = await tokenizer.encode(SAMPLE)
        id_tokens = ids if isinstance(ids, Fault) else await reader.read_ids(ids)
        if isinstance(id_tokens, Fault):
            return EndingsByText(reader), f"{by_text} prompts of token ids fail: {_reason(id_tokens)}"
        text_answer = await reader.read_text(SAMPLE)
        if isinstance(text_answer, Fault) or not _agree(id_tokens, text_answer[0]):
            return EndingsByText(reader), f"{by_text} the ids of /tokenize give other tokens than the text."
        length = tokenizer.context_length or await self._requests.context_length()
        sentence = f"token ids come from the service's tokenizer, context length {length or 'unknown'}."
        return EndingsByIds(reader, tokenizer, length), sentence


def _objection(generated: _GeneratedText, tokens: list[Token], span: TextSpan | None) -> str:
    """Why the returned log-probabilities cannot be used; empty if nothing speaks against them."""
    missing = sum(token.logprob is None for token in tokens)
    if len(tokens) < 3 or missing > 1:
        return "no log-probabilities are returned for the tokens of a given text."
    returned = tokens[first_token_after(tokens, span, len(SAMPLE)) :] if span else []
    for then, now in zip(generated.tokens, returned, strict=False):
        if then.text != now.text:
            break
        if then.logprob is not None and now.logprob is not None and abs(then.logprob - now.logprob) > _TOLERANCE:
            return (
                f"the log-probability of '{now.text}' is returned as {now.logprob:.2f}, but was {then.logprob:.2f} "
                "when the model generated that token, so it belongs to another token."
            )
    return ""


def _agree(first: list[Token], second: list[Token]) -> bool:
    pairs = [(token.logprob, other.logprob) for token, other in zip(first, second, strict=False)]
    same = all(a is b if a is None or b is None else abs(a - b) <= _TOLERANCE for a, b in pairs)
    return same and len(first) == len(second)


def _reason(fault: Fault) -> str:
    """The sentence of a fault; raises if the service is gone."""
    if fault.kind == "refused":
        raise AdapterFailed(f"The service is gone: {fault.sentence}", stage="infer")
    return fault.sentence
