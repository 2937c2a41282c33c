"""A service as probes ask it: many requests at once, answers in one piece with their tokens, and hanging up."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

import httpx
import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.chat import StreamingChat
from model_accuracy_eval.client.dialects import MAX_TOKENS, PROMPT_LOGPROBS, TOKENIZE, TOP_LOGPROBS, ChatAnswer
from model_accuracy_eval.client.prompt_logprobs import PromptReader, Tokenizer
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.records import (
    Fault,
    JSONObject,
    ReadAgain,
    Reply,
    Request,
    ScoredReply,
    ScoredToken,
    Usage,
)

Q = TypeVar("Q")
T = TypeVar("T")


class ServiceSubject:
    """Implements `diagnosis.probe.Subject`. Use it within one event loop."""

    def __init__(self, client: ServiceClient) -> None:
        self.salt = f"{secrets.randbelow(10**8):08}"
        self._chat = StreamingChat(client)
        self._client = client
        self._tops: int | None = max(TOP_LOGPROBS)
        """How many of the likeliest tokens are asked for; None: the service gives none."""
        self._methods = [*PROMPT_LOGPROBS]
        """Ways in which it may show how it reads a text, the one that worked last first."""

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        return await _in_order(self._chat.ask, requests, at_once)

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return await _in_order(self._scored, requests, at_once)

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        return await _in_order(self._answered, asked, at_once)

    async def _answered(self, asked: tuple[Request, bool]) -> ScoredReply | Fault:
        request, streamed = asked
        return await (self._streamed if streamed else self._scored)(request)

    async def _streamed(self, request: Request) -> ScoredReply | Fault:
        reply = await self._chat.ask(request)
        choices = [
            ScoredReply(text=choice.reasoning + choice.text, finish_reason=choice.finish_reason, calls=choice.calls)
            for choice in reply.choices
        ]
        return reply.fault or _together(choices, reply.usage)

    async def _scored(self, request: Request) -> ScoredReply | Fault:
        tops = self._tops
        answer = await self._client.post_json("chat/completions", _fields(request, tops), ChatAnswer)
        while isinstance(answer, Fault) and answer.kind == "rejected" and tops is not None:
            tops = min(TOP_LOGPROBS) if tops > min(TOP_LOGPROBS) else None
            answer = await self._client.post_json("chat/completions", _fields(request, tops), ChatAnswer)
        if isinstance(answer, Fault):
            return answer
        self._tops = tops  # what is refused for another reason says nothing of log-probabilities
        choices = [
            ScoredReply(
                text=(message.reasoning or message.reasoning_content or "") + (message.content or ""),
                finish_reason=choice.finish_reason,
                calls=wire_format.assemble_calls([message.tool_calls] if message.tool_calls else []),
                ids=tuple(choice.token_ids or ()),
                tokens=tuple(
                    ScoredToken(each.token, each.logprob, tuple((top.token, top.logprob) for top in each.top_logprobs))
                    for each in (choice.logprobs.content if choice.logprobs else None) or []
                ),
            )
            for choice in sorted(answer.choices, key=lambda choice: choice.index)
            for message in (choice.message,)
        ]
        usage = wire_format.read_usage(answer.usage)
        if not _are_told_one_by_one(choices, usage, request.max_tokens):
            choices = [msgspec.structs.replace(choice, tokens=()) for choice in choices]
        return _together(choices, usage)

    async def rescored(self, prompt: str, tokens: int) -> ReadAgain | Fault:
        fields: JSONObject = {"logprobs": 1, "temperature": 0.0}
        reader = PromptReader(self._client, "echo", 1)
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
        known = [ScoredToken(token.text or "", token.logprob) for token in read[0] if token.logprob is not None]
        return ReadAgain(written=wrote, read=tuple(known[-len(pieces) :]), length=len(read[0]))

    async def forced(
        self, asked: Sequence[tuple[Request, ScoredReply]], at_once: int = 1
    ) -> list[tuple[ScoredToken, ...] | Fault]:
        return await _in_order(self._forced, asked, at_once)

    async def _forced(self, asked: tuple[Request, ScoredReply]) -> tuple[ScoredToken, ...] | Fault:
        request, answer = asked
        tokenizer = Tokenizer(self._client, TOKENIZE[0], None)
        prompt = await tokenizer.encode_chat(_messages(request))
        if isinstance(prompt, Fault):
            return prompt
        ids = list(answer.ids) or await tokenizer.encode(answer.text, special=False)
        if isinstance(ids, Fault):
            return ids
        read: tuple[ScoredToken, ...] | Fault = ()
        for method in self._methods:
            reader = PromptReader(self._client, method, 1)
            read = await reader.read_likeliest([*prompt, *ids], len(prompt), max(TOP_LOGPROBS))
            if not isinstance(read, Fault):
                self._methods = sorted(self._methods, key=lambda each: each != method)
                break
        return read

    async def abandon(
        self, given_up: Sequence[tuple[Request, float]], beside: Sequence[tuple[Request, bool]], at_once: int
    ) -> list[ScoredReply | Fault]:
        async def give_up(request: Request, seconds: float) -> None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._chat.ask(request), seconds)

        leaving = asyncio.gather(*(give_up(request, seconds) for request, seconds in given_up))
        answers = await self.answered(beside, at_once)
        await leaving
        return answers

    async def metrics(self) -> str:
        root = self._client.base.rpartition("/")[0]
        return (await self._client.get(httpx.URL(f"{root}/metrics"))).decode("utf-8", "replace")

    async def close(self) -> None:
        await self._chat.close()


def _are_told_one_by_one(choices: Sequence[ScoredReply], usage: Usage | None, cap: int | None) -> bool:
    """Parts of a character may be tokens of their own, which some services tell together, as one, or not at all."""
    told, counted = sum(len(choice.tokens) for choice in choices), usage.completion_tokens if usage else None
    ends = sum(choice.finish_reason == "stop" for choice in choices)  # tokens that are not told
    if counted is None or told + ends >= counted:
        return True
    are_at_their_cap = not ends and counted == len(choices) * (cap or 0)
    return not are_at_their_cap and not any("\ufffd" in choice.text for choice in choices)


def _together(choices: Sequence[ScoredReply], usage: Usage | None) -> ScoredReply | Fault:
    """One reply of all choices."""
    if not choices:
        return Fault(kind="failed", sentence="The answer has no choices.")
    return msgspec.structs.replace(choices[0], usage=usage, further=tuple(choices[1:]))


def _fields(request: Request, tops: int | None) -> JSONObject:
    """The same request without a stream, and with log-probabilities, unless its further fields say which."""
    body: JSONObject = {
        "messages": _messages(request),
        "temperature": request.temperature,
        "top_p": request.top_p,
        MAX_TOKENS: request.max_tokens,
        **({} if request.seed is None else {"seed": request.seed}),
        **({} if request.n == 1 else {"n": request.n}),
        **({} if tops is None else {"logprobs": True, "top_logprobs": tops}),
        **request.extra,
    }
    return body if body.get("logprobs") else {name: body[name] for name in body if "logprobs" not in name}


def _messages(request: Request) -> list[JSONObject]:
    return [{"role": message.role, "content": message.content} for message in request.messages]


async def _in_order(ask: Callable[[Q], Awaitable[T]], questions: Iterable[Q], at_once: int) -> list[T]:
    room = asyncio.Semaphore(at_once)

    async def one(question: Q) -> T:
        async with room:
            return await ask(question)

    return list(await asyncio.gather(*map(one, questions)))
