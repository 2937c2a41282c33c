"""Requests through a proxy, by httpx's own transport; the bytes go into the same sinks."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from time import perf_counter
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # typeshed leaves it out

import httpx

from model_accuracy_eval.client.response_body import ENOUGH, GRACE, BodySink


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name for this address."""
    variables = {name.lower(): value for name, value in environment.items() if value}
    target = httpx.URL(url)
    loopback = target.host in ("localhost", "::1") or target.host.startswith("127.")
    proxy = variables.get(f"{target.scheme}_proxy") or variables.get("all_proxy")
    host = f"{target.host}:{target.port}" if target.port else target.host
    bypassed = proxy_bypass_environment(host, {"no": variables.get("no_proxy", "")})
    return None if loopback or bypassed or not proxy else proxy


class ProxiedTransport(httpx.AsyncBaseTransport):
    """Does what `StreamTransport` does, through a proxy: slower, but httpx knows tunnels and SOCKS.

    Each concurrent stream has an httpx transport of its own, because a shared pool gets slow with many connections.
    httpx has one time limit for all reads, so the longer of `first` and `idle` applies.
    """

    def __init__(self, proxy: str, tls: ssl.SSLContext | None = None) -> None:
        self._proxy = proxy
        self._tls = tls or httpx.create_ssl_context()
        self._transports: list[httpx.AsyncHTTPTransport] = []
        self._free: list[httpx.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        limits = request.extensions.get("timeout") or {}
        read = max((limits[name] for name in ("read", "first", "idle") if limits.get(name)), default=None)
        plain = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            content=await request.aread(),
            extensions={"timeout": {"connect": limits.get("connect"), "read": read}},
        )
        transport = self._free.pop() if self._free else self._new_transport()
        try:
            exchange = _exchange(transport, plain, request.extensions.get("sink"))
            return await asyncio.wait_for(exchange, limits.get("total"))
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise httpx.ReadTimeout(f"no complete answer within {limits.get('total'):g} s") from error
        finally:
            self._free.append(transport)

    async def aclose(self) -> None:
        for transport in self._transports:
            await transport.aclose()

    def _new_transport(self) -> httpx.AsyncHTTPTransport:
        self._transports.append(httpx.AsyncHTTPTransport(proxy=self._proxy, verify=self._tls, trust_env=False))
        return self._transports[-1]


async def _exchange(
    transport: httpx.AsyncHTTPTransport, request: httpx.Request, sink: BodySink | None
) -> httpx.Response:
    sent = perf_counter()
    response = await transport.handle_async_request(request)
    response.extensions["sent"] = sent
    if sink is None or not response.is_success:
        await response.aread()
        return response
    pieces = response.aiter_bytes()
    try:
        async for data in pieces:
            if sink(data, perf_counter()) == ENOUGH:
                with contextlib.suppress(asyncio.TimeoutError, TimeoutError, httpx.TransportError):
                    await asyncio.wait_for(_drain(pieces), GRACE)
                break
    finally:
        await response.aclose()
    return response


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    async for _ in pieces:
        pass
