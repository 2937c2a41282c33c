"""The reference: aiohttp tuned by hand. Bytes as they come, events split here, orjson, and no timers."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import orjson
from yarl import URL

from asking import Answer, Ask, Contender, main

Read = Callable[[aiohttp.ClientResponse, float], Awaitable[Answer]]
FIXED = {
    "model": "bench",
    "max_tokens": 128,
    "n": 1,
    "temperature": 1.0,
    "top_p": 1.0,
    "stream": True,
    "stream_options": {"include_usage": True},
}


async def read_plain(response: aiohttp.ClientResponse, began: float) -> Answer:
    text: list[str] = []
    rest, finish, ttft, used = b"", None, None, None
    async for data in response.content.iter_any():
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            if event == b"data: [DONE]":
                continue
            message = orjson.loads(event[6:])
            for choice in message["choices"]:
                if part := choice["delta"].get("content"):
                    ttft = ttft or time.perf_counter() - began
                    text.append(part)
                finish = choice["finish_reason"] or finish
            if usage := message.get("usage"):
                used = usage["completion_tokens"]
    return Answer("".join(text), finish, used, ttft)


def tuned(read: Read) -> Contender:
    @asynccontextmanager
    async def contender(url: str, concurrency: int) -> AsyncIterator[Ask]:
        target, headers = URL(url + "/v1/chat/completions"), {"content-type": "application/json"}

        async def ask(question: str) -> Answer:
            body = orjson.dumps(FIXED | {"messages": [{"role": "user", "content": question}]})
            began = time.perf_counter()
            async with session.post(target, data=body, headers=headers) as response:
                return await read(response, began)

        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=concurrency),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            raise_for_status=True,
            read_bufsize=1 << 18,  # a whole answer fits, so reading never pauses
        ) as session:
            yield ask

    return contender


if __name__ == "__main__":
    main(tuned(read_plain))
