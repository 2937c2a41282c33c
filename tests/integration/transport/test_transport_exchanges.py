"""The transport against a real server: exchanges that work, and what they leave behind."""

import ssl
from collections.abc import Callable

import httpx
import pytest
import trustme
from tests.integration.transport.tools import post, session
from tests.servers.http import Exchange, HttpServer
from tests.servers.loops import LOOPS, run

from model_accuracy_eval.client.connection import ENOUGH, ERROR_BODY_LIMIT, FLOWING
from model_accuracy_eval.client.transport import StreamTransport, proxy_for


def ending_at(mark: bytes, into: list[bytes]) -> Callable[[bytes, float], int]:
    def sink(data: bytes, _: float) -> int:
        into.append(data)
        return ENOUGH if mark in b"".join(into) else FLOWING

    return sink


async def hello(exchange: Exchange) -> None:
    exchange.reply(200, "hello", {"X-Odd": "", "Server": "x"}, kind="text/plain")


@pytest.mark.parametrize("loop", LOOPS)
def test_a_plain_client_gets_status_headers_and_body(loop: str) -> None:
    """Under httpx.AsyncClient it is a transport like any other, and headers know no case."""

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        client = httpx.AsyncClient(transport=transport)
        for _ in range(3):
            response = await client.get(f"{server.url}/a?b=c", headers={"X-Mine": "1"})
            assert (response.status_code, response.text, response.headers["x-ODD"]) == (200, "hello", "")

    server = session(hello, talk, loop)
    assert server.connections == 1
    assert [(exchange.method, exchange.path, exchange.headers["x-mine"]) for exchange in server.requests] == [
        ("GET", "/a?b=c", "1")
    ] * 3


def test_a_header_with_a_line_break_is_not_sent() -> None:
    """No header value can smuggle in another header."""

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        request = httpx.Request("GET", server.url, headers=[(b"x", b"a\r\nevil: 1")])
        with pytest.raises(httpx.LocalProtocolError, match="line break"):
            await transport.handle_async_request(request)

    assert session(hello, talk).requests == []


@pytest.mark.parametrize("loop", LOOPS)
def test_a_sink_gets_all_bytes_in_order_with_rising_times(loop: str) -> None:
    """The body goes to the sink alone, and its time-stamps never fall."""

    async def slow(exchange: Exchange) -> None:
        exchange.head()
        for number in range(20):
            exchange.send(b"%d," % number)
            await exchange.pause(0.002)
        exchange.end()

    seen: list[bytes] = []
    times: list[float] = []

    def sink(data: bytes, now: float) -> int:
        seen.append(data)
        times.append(now)
        return FLOWING

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        response = await transport.handle_async_request(post(server.url, sink))
        assert times[0] >= response.extensions["sent"]
        assert await response.aread() == b""

    session(slow, talk, loop)
    assert b"".join(seen) == b"".join(b"%d," % number for number in range(20))
    assert times == sorted(times)
    assert len(times) > 1


@pytest.mark.parametrize("loop", LOOPS)
def test_a_sink_that_raises_ends_the_stream_with_that_error(loop: str) -> None:
    """The error comes out of the request, and the server sees the client leave."""

    async def endless(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(b"x")
        await exchange.stall()

    def sink(data: bytes, _: float) -> int:
        raise KeyError(data)

    async def conversation() -> None:
        transport = StreamTransport()
        with pytest.raises(KeyError, match="x"):
            await transport.handle_async_request(post(server.url, sink))
        assert not transport.busy
        await transport.aclose()

    with HttpServer(endless) as server:
        run(conversation(), loop)
        assert server.wait_for(lambda it: it.disconnects == 1)


def test_an_error_body_stays_in_the_response_up_to_its_bound() -> None:
    """What a server says in an error is read by whoever asked, but never more than 64 KiB of it."""

    async def failing(exchange: Exchange) -> None:
        if exchange.number:
            exchange.reply(503, "busy")
            return
        exchange.head(400)
        exchange.send(b"x")
        await exchange.pause(0.02)
        exchange.send(b"x" * 10 * ERROR_BODY_LIMIT)
        exchange.end()

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        responses = [await transport.handle_async_request(post(server.url, never)) for _ in range(3)]
        assert [(one.status_code, len(one.content)) for one in responses] == [
            (400, ERROR_BODY_LIMIT),
            (503, 4),
            (503, 4),
        ]

    def never(data: bytes, _: float) -> int:
        raise AssertionError("the sink is for answers")

    session(failing, talk)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    "before", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"]
)
def test_provisional_responses_are_ignored(loop: str, before: bytes) -> None:
    """1xx comes before the answer and leaves no trace in it."""

    async def hinting(exchange: Exchange) -> None:
        exchange.raw(before)
        await exchange.pause(0.005)
        await hello(exchange)

    async def talk(transport: StreamTransport, server: HttpServer) -> None:
        client = httpx.AsyncClient(transport=transport)
        for _ in range(2):
            response = await client.get(server.url)
            assert (response.text, "link" in response.headers) == ("hello", False)

    assert session(hinting, talk, loop).connections == 1


@pytest.mark.parametrize("loop", LOOPS)
def test_tls_is_spoken_and_certificates_are_checked(loop: str) -> None:
    """https works with a trusted certificate and is refused with any other."""
    authority = trustme.CA()
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server_side)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def conversation(url: str, tls: ssl.SSLContext | None) -> list[bytes]:
        seen: list[bytes] = []
        transport = StreamTransport(tls)
        try:
            for _ in range(2):
                await transport.handle_async_request(post(url, ending_at(b"?", seen)))
        finally:
            await transport.aclose()
        return seen

    with HttpServer(hello, tls=server_side) as server:
        assert run(conversation(server.url, trusting), loop) == [b"hello", b"hello"]
        assert server.connections == 1
        with pytest.raises(httpx.ConnectError, match="certificate") as caught:
            run(conversation(server.url, None), loop)
        assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("http://h:8000", {}, None),
        ("http://h:8000", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h", {"http_proxy": "http://p:1", "https_proxy": "http://q:1"}, "http://q:1"),
        ("https://h", {"ALL_PROXY": "socks5://s:1"}, "socks5://s:1"),
        ("http://h:8000", {"http_proxy": ""}, None),
        ("http://127.0.0.1:8000", {"http_proxy": "http://p:1"}, None),
        ("http://localhost:8000", {"http_proxy": "http://p:1"}, None),
        ("http://[::1]:8000", {"http_proxy": "http://p:1"}, None),
        ("http://a.corp:8000", {"http_proxy": "http://p:1", "NO_PROXY": "x, .corp"}, None),
        ("http://a.corp:8000", {"http_proxy": "http://p:1", "no_proxy": "*"}, None),
        ("http://a.corp:8000", {"http_proxy": "http://p:1", "no_proxy": "a.corp:9"}, "http://p:1"),
    ],
)
def test_the_environment_names_the_proxy(url: str, environment: dict[str, str], proxy: str | None) -> None:
    """The usual variables are obeyed, in either case, and this machine is never asked through a proxy."""
    assert proxy_for(url, environment) == proxy
