"""A client's transport that talks to a server for a while."""

from collections.abc import Awaitable, Callable

import httpx
from tests.servers.http import Handler, HttpServer
from tests.servers.loops import run

from model_accuracy_eval.client.transport import StreamTransport


def session(
    handler: Handler, talk: Callable[[StreamTransport, HttpServer], Awaitable[None]], loop: str = "asyncio"
) -> HttpServer:
    """The server, for its counters."""

    async def conversation() -> None:
        transport = StreamTransport()
        try:
            await talk(transport, server)
        finally:
            await transport.aclose()

    with HttpServer(handler) as server:
        run(conversation(), loop)
    return server


def post(url: str, sink: Callable[[bytes, float], int], **limits: float) -> httpx.Request:
    return httpx.Request("POST", f"{url}/x", content=b"{}", extensions={"sink": sink, "timeout": limits})
