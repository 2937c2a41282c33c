"""The transport against servers that break, stall, refuse or talk out of turn."""

import asyncio
import socket

import httpx
import pytest
from tests.integration.transport.tools import post, session
from tests.servers.http import Exchange, HttpServer
from tests.servers.loops import LOOPS, run

from model_accuracy_eval.client.connection import ENOUGH, FLOWING, GRACE
from model_accuracy_eval.client.transport import StreamTransport

pytestmark = pytest.mark.parametrize("loop", LOOPS)


def flowing(data: bytes, _: float) -> int:
    return ENOUGH if b"[DONE]" in data else FLOWING


async def cut_head(exchange: Exchange) -> None:
    exchange.raw(b"HTTP/1.1 200 OK\r\ncontent-le")
    exchange.close()


def test_a_connection_that_is_not_made_in_time(loop: str) -> None:
    """Somebody who accepts but never finishes the TLS handshake runs into the connect limit."""

    async def conversation(port: int) -> None:
        transport = StreamTransport()
        with pytest.raises(httpx.ConnectTimeout, match=r"no connection to 127.0.0.1:\d+ within 0.1 s"):
            await transport.handle_async_request(post(f"https://127.0.0.1:{port}", flowing, connect=0.1))
        await transport.aclose()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        run(conversation(silent.getsockname()[1]), loop)


def test_a_dead_idle_connection_is_replaced_silently(loop: str) -> None:
    """Servers close idle connections whenever they like; the request is sent again on a fresh one."""

    async def once_each(exchange: Exchange) -> None:
        if exchange.connection in seen:
            exchange.reset()
        else:
            seen.append(exchange.connection)
            exchange.reply(200, "x")

    seen: list[object] = []

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        for _ in range(3):
            response = await transport.handle_async_request(post(server.url, flowing))
            assert response.status_code == 200

    server = session(once_each, talk, loop)
    assert (server.connections, len(server.requests)) == (3, 5)


def test_a_request_that_was_partly_answered_is_not_sent_twice(loop: str) -> None:
    """Once a byte has come back, repeating is the caller's decision."""

    async def then_half(exchange: Exchange) -> None:
        await (cut_head(exchange) if exchange.number else answer(exchange))

    async def answer(exchange: Exchange) -> None:
        exchange.reply(200, "x")

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        await transport.handle_async_request(post(server.url, flowing))
        with pytest.raises(httpx.RemoteProtocolError):
            await transport.handle_async_request(post(server.url, flowing))

    assert len(session(then_half, talk, loop).requests) == 2


def test_unexpected_bytes_close_an_idle_connection(loop: str) -> None:
    """An idle connection on which the server talks is not used for the next request."""

    async def chatty(exchange: Exchange) -> None:
        exchange.reply(200, "x")
        await exchange.pause(0.02)
        exchange.raw(b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n")

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        for _ in range(2):
            assert (await transport.handle_async_request(post(server.url, flowing))).status_code == 200
            await asyncio.sleep(0.06)

    assert session(chatty, talk, loop).connections == 2


@pytest.mark.parametrize("junk", [b"junk", b"HTTP/1.1 408 No\r\ncontent-length: 4\r\n\r\njunk"])
def test_more_than_one_answer_in_one_read_closes_the_connection(loop: str, junk: bytes) -> None:
    """The answer counts, but what follows it would be mistaken for the next one."""

    async def double(exchange: Exchange) -> None:
        exchange.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx" + junk)
        await exchange.stall()

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        for _ in range(2):
            assert (await transport.handle_async_request(post(server.url, seen))).status_code == 200

    def seen(data: bytes, _: float) -> int:
        assert data == b"x"
        return FLOWING

    assert session(double, talk, loop).connections == 2


def test_a_stream_that_keeps_flowing_outlives_its_idle_limit(loop: str) -> None:
    """The idle limit is about pauses, not about length."""

    async def steady(exchange: Exchange) -> None:
        exchange.head()
        for _ in range(24):
            exchange.send(b"x")
            await exchange.pause(0.05)
        exchange.end()

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        await transport.handle_async_request(post(server.url, flowing, first=1.0, idle=1.0, total=99.0))

    session(steady, talk, loop)


def test_a_cancelled_request_leaves_at_once(loop: str) -> None:
    """The server sees the disconnect and can stop generating, before and after its first byte."""

    async def stalling(exchange: Exchange) -> None:
        if exchange.number:
            exchange.head()
            exchange.send(b"x")
        await exchange.stall()

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        seen: list[int] = []
        for number in (1, 2):
            seen.append(number)
            task = asyncio.ensure_future(transport.handle_async_request(post(server.url, flowing)))
            assert await asyncio.to_thread(server.wait_for, lambda it: len(it.requests) == len(seen))
            await asyncio.sleep(0.03)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(server.wait_for, lambda it: it.disconnects == len(seen))
        assert not transport.open

    session(stalling, talk, loop)


@pytest.mark.parametrize("broken", [False, True])
def test_what_follows_done_is_drained_and_never_judged(loop: str, broken: bool) -> None:
    """The end of the body comes a little later: the connection is reused, or was broken, but the answer stands."""

    async def late(exchange: Exchange) -> None:
        await exchange.pause(exchange.number * (GRACE + 0.05))  # the moment of the first must not end the second
        exchange.head()
        exchange.send(b"data: [DONE]\n\n")
        await exchange.pause(0.03)
        exchange.send(b"data: more\n\n")
        if broken:
            exchange.raw(b"zz\r\n")
        else:
            exchange.end()

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        for _ in range(2):
            assert (await transport.handle_async_request(post(server.url, flowing))).status_code == 200

    assert session(late, talk, loop).connections == (2 if broken else 1)


def test_as_many_connections_as_requests_at_once_and_the_warmest_first(loop: str) -> None:
    """A wave opens what it needs, the next wave reuses it, and a single request takes the last one used."""

    async def short(exchange: Exchange) -> None:
        await exchange.pause(0.02)
        exchange.reply(200, "x")

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        for _ in range(3):
            await asyncio.gather(*(transport.handle_async_request(post(server.url, flowing)) for _ in range(40)))
        assert server.connections == 40
        for _ in range(3):
            await transport.handle_async_request(post(server.url, flowing))
        last = [exchange.connection for exchange in server.requests[-3:]]
        assert last == [last[0]] * 3

    assert session(short, talk, loop).connections == 40


def test_a_late_cancellation_does_not_break_another_request(loop: str) -> None:
    """When the answer was there already, the connection may be somebody else's by now."""

    async def short(exchange: Exchange) -> None:
        exchange.reply(200, "x")

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        complete = asyncio.Event()

        def last(data: bytes, _: float) -> int:
            # In the next turn of the loop: the first is cancelled, the second takes its connection, and only
            # then does the first wake up.
            asyncio.get_running_loop().call_soon(first.cancel)
            complete.set()
            return FLOWING

        async def next_one() -> httpx.Response:
            await complete.wait()
            return await transport.handle_async_request(post(server.url, flowing))

        second = asyncio.ensure_future(next_one())
        first = asyncio.ensure_future(transport.handle_async_request(post(server.url, last)))
        assert (await second).status_code == 200
        with pytest.raises(asyncio.CancelledError):
            await first

    assert session(short, talk, loop).connections == 1
