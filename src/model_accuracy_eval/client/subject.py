"""A service as probes ask it: many requests at once, answers in one piece with their tokens, and hanging up."""

import asyncio
import contextlib
import secrets
from collections.abc import Coroutine, Iterable, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.chat import StreamingChat
from model_accuracy_eval.client.dialects import MAX_TOKENS, TOP_LOGPROBS
from model_accuracy_eval.client.prompt_logprobs import JsonRequests, PromptReader, Token
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.records import Fault, JSONObject, ReadAgain, Reply, Request, ScoredReply, ScoredToken

T = TypeVar("T")


class _Entry(msgspec.Struct):
    token: str
    logprob: float
    top_logprobs: list["_Entry"] = []


class _Logprobs(msgspec.Struct):
    content: list[_Entry] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: msgspec.Raw = msgspec.Raw()


class ServiceSubject:
    """Implements `diagnosis.probe.Subject`. Use it within one event loop."""

    def __init__(self, client: ServiceClient) -> None:
        self.salt = f"{secrets.randbelow(10**8):08}"
        self._chat = StreamingChat(client)
        self._requests = JsonRequests(client)
        self._tops: int | None = max(TOP_LOGPROBS)
        """How many of the likeliest tokens are asked for; None: the service gives none."""

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        return await _in_order((self._chat.ask(request) for request in requests), at_once)

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return await _in_order((self._scored(request) for request in requests), at_once)

    async def _scored(self, request: Request) -> ScoredReply | Fault:
        answer = await self._requests.post("chat/completions", _fields(request, self._tops), _Answer)
        while isinstance(answer, Fault) and answer.kind == "rejected" and self._tops is not None:
            self._tops = min(TOP_LOGPROBS) if self._tops > min(TOP_LOGPROBS) else None
            answer = await self._requests.post("chat/completions", _fields(request, self._tops), _Answer)
        if isinstance(answer, Fault):
            return answer
        if not answer.choices:
            return Fault(kind="failed", sentence="The answer has no choices.")
        choice = answer.choices[0]
        entries = (choice.logprobs.content if choice.logprobs else None) or []
        message = choice.message
        return ScoredReply(
            text=(message.reasoning or message.reasoning_content or "") + (message.content or ""),
            finish_reason=choice.finish_reason,
            tokens=tuple(
                ScoredToken(each.token, each.logprob, tuple((top.token, top.logprob) for top in each.top_logprobs))
                for each in entries
            ),
            usage=wire_format.read_usage(answer.usage),
        )

    async def rescored(self, prompt: str, tokens: int) -> ReadAgain | Fault:
        fields: JSONObject = {"logprobs": 1, "temperature": 0.0}
        reader = PromptReader(self._requests, "echo", 1)
        written = await reader.complete(prompt, fields, tokens)
        if isinstance(written, Fault):
            return written
        logprobs = written[0].logprobs
        pieces = list(zip(logprobs.tokens, logprobs.token_logprobs, strict=False)) if logprobs else []
        # Tokens without a text, such as the end of an answer, cannot be sent again, nor what follows them.
        shown, texts = written[0].text, accumulate(text for text, _ in pieces)
        pieces = [piece for piece, so_far in zip(pieces, texts, strict=True) if piece[0] and shown.startswith(so_far)]
        if not pieces:
            return Fault(kind="rejected", sentence="its completions have no log-probabilities.")
        whole = prompt + "".join(text for text, _ in pieces)
        read = await reader.read_text(whole)
        if isinstance(read, Fault):
            return read
        wrote = tuple(ScoredToken(text, logprob or 0.0) for text, logprob in pieces)
        return ReadAgain(written=wrote, read=_last(read[0], len(pieces)), length=len(read[0]))

    async def abandon(
        self, requests: Sequence[Request], seconds: float, beside: Sequence[Request], at_once: int
    ) -> list[Reply]:
        tasks = [asyncio.ensure_future(self._chat.ask(request)) for request in requests]
        others = asyncio.ensure_future(self.ask(beside, at_once))
        await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        return await others

    async def close(self) -> None:
        await self._chat.close()


def _fields(request: Request, tops: int | None) -> JSONObject:
    """The same request without a stream."""
    body: JSONObject = {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": request.temperature,
        "top_p": request.top_p,
        MAX_TOKENS: request.max_tokens,
        **request.extra,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    return body if tops is None else {**body, "logprobs": True, "top_logprobs": tops}


def _last(tokens: Sequence[Token], count: int) -> tuple[ScoredToken, ...]:
    known = [ScoredToken(token.text or "", token.logprob) for token in tokens if token.logprob is not None]
    return tuple(known[-count:])


async def _in_order(calls: Iterable[Coroutine[Any, Any, T]], at_once: int) -> list[T]:
    room = asyncio.Semaphore(at_once)

    async def one(call: Coroutine[Any, Any, T]) -> T:
        async with room:
            return await call

    return list(await asyncio.gather(*(one(call) for call in calls)))
