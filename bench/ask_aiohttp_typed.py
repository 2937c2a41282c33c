"""The same reference, one step further: events are decoded by msgspec into types, as our client does it."""

import time

import aiohttp
import msgspec

from ask_aiohttp import tuned
from asking import Answer, main


class Delta(msgspec.Struct):
    content: str | None = None


class Choice(msgspec.Struct):
    delta: Delta
    finish_reason: str | None = None


class Usage(msgspec.Struct):
    completion_tokens: int


class Event(msgspec.Struct):
    choices: list[Choice]
    usage: Usage | None = None


DECODE = msgspec.json.Decoder(Event).decode


async def read_typed(response: aiohttp.ClientResponse, began: float) -> Answer:
    text: list[str] = []
    rest, finish, ttft, used = b"", None, None, None
    async for data in response.content.iter_any():
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            if event == b"data: [DONE]":
                continue
            message = DECODE(event[6:])
            for choice in message.choices:
                if part := choice.delta.content:
                    ttft = ttft or time.perf_counter() - began
                    text.append(part)
                finish = choice.finish_reason or finish
            if message.usage:
                used = message.usage.completion_tokens
    return Answer("".join(text), finish, used, ttft)


if __name__ == "__main__":
    main(tuned(read_typed))
