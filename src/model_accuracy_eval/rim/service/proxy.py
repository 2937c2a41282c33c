"""Through a proxy: stock httpx carries the bytes, a sink gets them all the same."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from time import perf_counter

import httpx

from model_accuracy_eval.rim.service.sink import ENOUGH, MOMENT, Sink


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name for this address."""
    # Imported here because it is slow, and untyped because typeshed leaves it out.
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # noqa: PLC0415

    named = {name.lower(): value for name, value in environment.items() if value}
    target = httpx.URL(url)
    loopback = target.host in ("localhost", "::1") or target.host.startswith("127.")
    proxy = named.get(f"{target.scheme}_proxy") or named.get("all_proxy")
    place = f"{target.host}:{target.port}" if target.port else target.host
    bypassed = proxy_bypass_environment(place, {"no": named.get("no_proxy", "")})
    return None if loopback or bypassed or not proxy else proxy


class ProxiedTransport(httpx.AsyncBaseTransport):
    """The same through a proxy, by stock httpx: slower, but it knows tunnels and SOCKS.

    One stock transport a stream, because a shared pool gets slow with many connections. The stock transport
    has one limit for reads, so `first` and `idle` become the longer of the two.
    """

    def __init__(self, proxy: str, tls: ssl.SSLContext | None = None) -> None:
        self._proxy = proxy
        self._tls = tls or httpx.create_ssl_context(trust_env=False)
        self._all: list[httpx.AsyncHTTPTransport] = []
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
        stock = self._free.pop() if self._free else self._another()
        try:
            return await asyncio.wait_for(
                _read_stock(stock, plain, request.extensions.get("sink")), limits.get("total")
            )
        except (asyncio.TimeoutError, TimeoutError) as error:
            raise httpx.ReadTimeout(f"no complete answer within {limits.get('total'):g} s") from error
        finally:
            self._free.append(stock)

    async def aclose(self) -> None:
        for stock in self._all:
            await stock.aclose()

    def _another(self) -> httpx.AsyncHTTPTransport:
        self._all.append(httpx.AsyncHTTPTransport(proxy=self._proxy, verify=self._tls, trust_env=False))
        return self._all[-1]


async def _read_stock(stock: httpx.AsyncHTTPTransport, request: httpx.Request, sink: Sink | None) -> httpx.Response:
    sent = perf_counter()
    response = await stock.handle_async_request(request)
    response.extensions["sent"] = sent
    if sink is None or not response.is_success:
        await response.aread()
        return response
    pieces = response.aiter_bytes()
    try:
        async for data in pieces:
            if sink(data, perf_counter()) == ENOUGH:
                with contextlib.suppress(asyncio.TimeoutError, TimeoutError, httpx.TransportError):
                    await asyncio.wait_for(_drain(pieces), MOMENT)
                break
    finally:
        await response.aclose()
    return response


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    async for _ in pieces:
        pass
