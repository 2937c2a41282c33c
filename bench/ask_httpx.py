"""The other reference: httpx as its documentation shows it, with enough kept-alive connections."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from asking import Answer, Ask, main


async def read(response: httpx.Response, began: float) -> Answer:
    text: list[str] = []
    finish, ttft, usage = None, None, None
    async for line in response.aiter_lines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        message = json.loads(line[6:])
        for choice in message["choices"]:
            if part := choice["delta"].get("content"):
                ttft = ttft or time.perf_counter() - began
                text.append(part)
            finish = choice["finish_reason"] or finish
        usage = message.get("usage") or usage
    return Answer("".join(text), finish, usage and usage["completion_tokens"], ttft)


@asynccontextmanager
async def weights_info(url: str, concurrency: int) -> AsyncIterator[Ask]:
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)

    async def ask(question: str) -> Answer:
        body = {
            "model": "bench",
            "messages": [{"role": "user", "content": question}],
            "max_tokens": 128,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        began = time.perf_counter()
        async with client.stream("POST", "/v1/chat/completions", json=body) as response:
            response.raise_for_status()
            return await read(response, began)

    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=120) as client:
        yield ask


if __name__ == "__main__":
    main(weights_info)
