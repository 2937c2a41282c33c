"""Which log-likelihood method a service supports: tried from the most exact one down, with few small requests.

A server's claims are checked, not believed: log-probabilities of given tokens must be those with which the model
generated them.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from model_accuracy_eval.client.dialects import (
    LOWEST_LOGPROB,
    MAX_TOKENS,
    TOP_LOGPROBS,
    ChatAnswer,
    PromptLogprobsMethod,
    TokenLogprob,
)
from model_accuracy_eval.client.given_texts import (
    EndingsByIds,
    EndingsByText,
    GivenTextsClient,
)
from model_accuracy_eval.client.prompt_logprobs import (
    SAMPLE,
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


def _letter_loglikelihoods(letters: Sequence[str], top: Sequence[TokenLogprob]) -> list[Loglikelihood | None]:
    """The log-likelihood of each letter as first token; with blanks around it, a token is the same letter.

    None for a letter that is not among the most likely tokens, since the service returns no others.
    """
    results: list[Loglikelihood | None] = []
    for letter in letters:
        logprobs = [max(entry.logprob, LOWEST_LOGPROB) for entry in top if entry.token.strip() == letter]
        high = max(logprobs, default=0.0)
        total = math.log(math.fsum(math.exp(one - high) for one in logprobs)) if logprobs else 0.0
        results.append(Loglikelihood(logprob=high + total, tokens=1) if logprobs else None)
    return results


class TopLogprobsClient:
    """Implements `ports.LoglikelihoodClient` by the most likely first tokens of an answer."""

    method: RequestMethod = "top-logprobs"

    def __init__(self, client: ServiceClient, count: int) -> None:
        self._client = client
        self._count = count
        self._has_given_some = False
        self.findings: tuple[str, ...] = ()

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        reply_id = self._client.next_id()
        fields = {
            "messages": [{"role": each.role, "content": each.content} for each in request.request.messages],
            **request.request.extra,
            "logprobs": True,
            "top_logprobs": self._count,
            MAX_TOKENS: 1,
            "temperature": 1.0,
        }
        tries = 0
        while tries < (_DRAWS if self._has_given_some else _FIRST_DRAWS):
            tries += 1
            answer = await self._client.post_json("chat/completions", fields, ChatAnswer)
            if isinstance(answer, Fault):
                return Reply(id=reply_id, tries=tries, fault=answer)
            logprobs = answer.choices[0].logprobs if answer.choices else None
            self._has_given_some |= logprobs is not None
            if logprobs is not None and logprobs.content:
                results = _letter_loglikelihoods(LETTERS[: request.options], logprobs.content[0].top_logprobs)
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
    findings: list[str] = []
    generated: _GeneratedText | Fault | None = None
    methods: tuple[PromptLogprobsMethod | None, ...] = ("echo", "prompt-logprobs", None)
    for given_texts in methods:
        method = given_texts or "top-logprobs"
        if setting in ("auto", method):
            if given_texts is None:
                found_client, finding = await _top_logprobs(client, extra)
            else:
                generated = generated or await _generate(client)
                found_client, finding = await _given_texts(client, given_texts, generated)
            findings.append(f"{method}: {finding}")
            if found_client is not None:
                found_client.findings = tuple(findings)
                return found_client
    if setting in ("auto", "extracted"):
        extracted = ExtractedClient(ask)
        extracted.findings = (*findings, "extracted: letters are extracted from free answers.")
        return extracted
    raise NoHonestScore(f"The service has no log-likelihoods by {setting}; {findings[-1]}")


async def _top_logprobs(client: ServiceClient, extra: JSONObject) -> Detected:
    question = Request(messages=(Message(role="user", content=_LETTER_QUESTION),), extra=extra)
    finding = ""
    for count in TOP_LOGPROBS:
        found = TopLogprobsClient(client, count)
        reply = await found.loglikelihood(LoglikelihoodRequest(request=question, candidates=(), options=2))
        if any(reply.loglikelihoods):
            return found, f"the {count} most likely first tokens of an answer are returned."
        if reply.fault is None:
            return None, f"no letter is among the {count} most likely first tokens of an answer."
        finding = _reason(reply.fault)
    return None, finding


class _GeneratedText(NamedTuple):
    text: str
    tokens: list[Token]


async def _generate(client: ServiceClient) -> _GeneratedText | Fault:
    """A few generated tokens, with the log-probabilities that they had then."""
    reader = PromptReader(client, "echo", _GENERATED)
    answer = await reader.complete(SAMPLE, {"logprobs": 1, "seed": 0}, _GENERATED)
    if isinstance(answer, Fault):
        _reason(answer)
        return answer
    choice, _ = answer
    # Half a character cannot be sent back.
    text = choice.text.partition("\ufffd")[0]
    return _GeneratedText(text, echo_tokens(choice.logprobs) if choice.logprobs else [])


async def _given_texts(
    client: ServiceClient, method: PromptLogprobsMethod, generated: _GeneratedText | Fault
) -> Detected:
    if isinstance(generated, Fault):
        return None, f"the service has no completions: {generated.sentence}"
    objection = ""
    for count in (1, 0):  # some servers refuse 0, some refuse more than 0, and for some 0 means "no limit"
        reader = PromptReader(client, method, count)
        answer = await reader.read_text(SAMPLE + generated.text)
        objection = _reason(answer) if isinstance(answer, Fault) else _objection(generated, *answer)
        if not objection:
            endings, finding = await _ending_method(client, reader)
            return GivenTextsClient(client, method, endings), finding
        if not (isinstance(answer, Fault) and answer.kind == "rejected"):
            break
    return None, objection


async def _ending_method(client: ServiceClient, reader: PromptReader) -> tuple[EndingsByIds | EndingsByText, str]:
    by_text = "endings are located by the texts of tokens, because"
    tokenizer = await find_tokenizer(client)
    if isinstance(tokenizer, Fault):
        return EndingsByText(reader), f"{by_text} /tokenize fails: {_reason(tokenizer)}"
    ids = await tokenizer.encode(SAMPLE)
    id_tokens = ids if isinstance(ids, Fault) else await reader.read_ids(ids)
    if isinstance(id_tokens, Fault):
        return EndingsByText(reader), f"{by_text} prompts of token ids fail: {_reason(id_tokens)}"
    text_answer = await reader.read_text(SAMPLE)
    if isinstance(text_answer, Fault) or not _agree(id_tokens, text_answer[0]):
        return EndingsByText(reader), f"{by_text} the ids of /tokenize give other tokens than the text."
    length = tokenizer.context_length or await client.context_length()
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
