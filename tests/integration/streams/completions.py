"""A server that streams given texts the way `/v1/completions` does."""

import json
from collections.abc import Sequence

from tests.servers.http import Exchange, HttpServer


class Completions(HttpServer):
    """`piece`: characters a chunk."""

    def __init__(self, texts: Sequence[str], *, piece: int = 4) -> None:
        super().__init__(self._handle)
        self._texts = texts
        self._piece = piece

    async def _handle(self, exchange: Exchange) -> None:
        exchange.head()
        await self._send_texts(exchange)
        for index in range(len(self._texts)):
            exchange.send(self._event(choices=[{"index": index, "text": "", "finish_reason": "stop"}]))
        exchange.send(self._event(choices=[], usage={"prompt_tokens": 4, "completion_tokens": 7}))
        exchange.send(b"data: [DONE]\n\n")
        exchange.end()

    async def _send_texts(self, exchange: Exchange) -> None:
        for start in range(0, max(map(len, self._texts)), self._piece):
            for index, text in enumerate(self._texts):
                if start < len(text):
                    choice = {"index": index, "text": text[start : start + self._piece], "finish_reason": None}
                    exchange.send(self._event(choices=[choice]))
            await exchange.pause(0)

    def _event(self, **fields: object) -> bytes:
        return b"data: " + json.dumps({"object": "text_completion", **fields}).encode() + b"\n\n"
