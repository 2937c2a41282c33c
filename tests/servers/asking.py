"""Asks a chat server from a test, with waits that cost no time."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.servers.loops import run

from model_accuracy_eval.client.chat import StreamingChat, connect
from model_accuracy_eval.records import (
    ClientLimits,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Message,
    Reply,
    Request,
    Service,
)

LIMITS = ClientLimits(
    retries=2, connect_timeout=60.0, first_token_timeout=60.0, idle_timeout=60.0, total_timeout=120.0, gone_after=0.2
)


class Naps:
    """Stands in for sleeping: remembers how long it should have been, and only yields."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


def question(text: str = "What is 1 + 1?", **more: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **more)


async def ask_all(chat: StreamingChat, requests: Sequence[Request]) -> list[Reply]:
    try:
        return list(await asyncio.gather(*(chat.ask(request) for request in requests)))
    finally:
        await chat.close()


def ask(
    url: str,
    *requests: Request,
    limits: ClientLimits = LIMITS,
    loop: str = "asyncio",
    model: str | None = "m",
    naps: Naps | None = None,
    sends_finish_reasons: bool | None = None,
    **more: Any,
) -> list[Reply]:
    """The replies to some requests that are sent at once; waits between tries take no time.

    `sends_finish_reasons`: what is known of the service before, as from a readiness probe.
    """

    async def conversation() -> list[Reply]:
        service = Service(base_url=url, model=model, sends_finish_reasons=sends_finish_reasons)
        chat = connect(service, limits, sleep=naps or Naps(), chance=lambda: 1.0, **more)
        return await ask_all(chat, requests or [question()])

    return run(conversation(), loop)


def weigh(
    service: Service,
    *requests: LoglikelihoodRequest,
    setting: LoglikelihoodSetting = "auto",
    limits: ClientLimits = LIMITS,
    extra: Any = None,
    **more: Any,
) -> tuple[str, tuple[str, ...], list[Reply]]:
    """The method that was chosen, the findings about it and the others, and the replies."""

    async def conversation() -> tuple[str, tuple[str, ...], list[Reply]]:
        chat = connect(service, limits, **more)
        try:
            client = await chat.loglikelihood_client(setting, extra or {})
            return client.method, client.findings, [await client.loglikelihood(one) for one in requests]
        finally:
            await chat.close()

    return run(conversation())


def models(url: str, loop: str = "asyncio") -> tuple[str, ...]:
    async def conversation() -> tuple[str, ...]:
        chat = connect(Service(base_url=url), LIMITS)
        try:
            return await chat.models()
        finally:
            await chat.close()

    return run(conversation(), loop)


def said(reply: Reply) -> list[tuple[str, str, str | None]]:
    """What a reply says, without its times."""
    assert reply.fault is None, reply.fault
    return [(choice.text, choice.reasoning, choice.finish_reason) for choice in reply.choices]
