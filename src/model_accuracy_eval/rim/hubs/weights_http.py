"""Calls to a model hub: patient with the network, blunt about refusals, and careful where the token goes."""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Protocol, TypeVar

import httpx

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.hubs.weights_denials import denial
from model_accuracy_eval.rim.hubs.weights_records import Reference, WeightFile, Weights
from model_accuracy_eval.rim.secret import Secret
from model_accuracy_eval.rim.service.retry import http_trouble, retry_after

T = TypeVar("T")

_REDIRECTS = 10
_REFUSED = (401, 403, 404, 410, 451)


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """How hard a call is tried."""

    tries: int = 8
    """In a row without a single new byte."""
    base: float = 0.5
    cap: float = 60.0
    """Seconds of the longest pause of our own; a hub may ask for more, up to `longest`."""
    longest: float = 600.0
    connect: float = 15.0
    silence: float = 60.0
    """Seconds without a byte after which a connection counts as broken."""


class Again(Exception):
    """Not now; maybe later."""

    def __init__(self, sentence: str, after: float | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.after = after


class Hub(Protocol):
    """What one hub does differently from another."""

    endpoint: str

    def credentials(self, token: Secret) -> dict[str, str]: ...

    async def listing(self, reference: Reference, calls: "Calls") -> Weights: ...

    def address(self, weights: Weights, file: WeightFile) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """The calls of one fetch."""

    client: httpx.AsyncClient
    hub: Hub
    reference: Reference
    token: Secret
    effort: Effort

    async def json(self, url: str) -> tuple[Any, Mapping[str, str]]:
        async def once() -> tuple[Any, Mapping[str, str]]:
            async with self.open(url) as answer:
                try:
                    data = await answer.aread()
                    return answer.json(), {**answer.headers, "link-next": answer.links.get("next", {}).get("url", "")}
                except httpx.HTTPError as error:
                    raise self.broken(url, error) from error
                except ValueError as error:
                    place, start = _place(url), data[:60]
                    raise Refused(f"{place} does not answer as a model hub does: {start!r} is no JSON.") from error

        return await self.persist(once)

    async def persist(self, work: Callable[[], Awaitable[T]], progress: Callable[[], int] = lambda: 0) -> T:
        """Until it succeeds, is refused, or has failed too often without any progress between."""
        failures, best = 0, progress()
        while True:
            try:
                return await work()
            except Again as trouble:  # noqa: PERF203 - a loop of tries
                failures, best = (1 if progress() > best else failures + 1), max(best, progress())
                if failures >= self.effort.tries:
                    raise Refused(f"{trouble.sentence} ({failures} tries).") from trouble
                await asyncio.sleep(self._pause(failures, trouble.after))

    @asynccontextmanager
    async def open(
        self, url: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> AsyncIterator[httpx.Response]:
        """One try. Redirects are followed here, not by the library, so that it is plain to see who gets the token."""
        for _ in range(_REDIRECTS):
            answer = await self._send(method, url, headers or {})
            try:
                if answer.has_redirect_location:
                    url = str(answer.url.join(answer.headers["location"]))
                    continue
                await self._judge(answer)
                yield answer
                return
            finally:
                await answer.aclose()
        raise Refused(f"{_place(url)} redirects in circles.")

    def broken(self, url: str, error: httpx.HTTPError) -> Again:
        return Again(f"{_place(url)} broke off or is not to be reached: {str(error) or type(error).__name__}")

    async def _send(self, method: str, url: str, headers: Mapping[str, str]) -> httpx.Response:
        try:
            own = _origin(url) == _origin(self.hub.endpoint)
            known = self.hub.credentials(self.token) if own and self.token else {}
            # Any other coding would make byte ranges and lengths mean something else.
            request = self.client.build_request(
                method, url, headers={"accept-encoding": "identity", **headers, **known}
            )
            return await self.client.send(request, stream=True, follow_redirects=False)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as error:
            raise Refused(f"'{url[:80]}' is no address of a model hub: {error}.") from error
        except httpx.HTTPError as error:
            raise self.broken(url, error) from error

    async def _judge(self, answer: httpx.Response) -> None:
        if answer.is_success or answer.status_code == 416:
            return
        place, status = _place(str(answer.url)), answer.status_code
        trouble = http_trouble(status, f"{place} answers with HTTP {status}")
        if trouble.again:
            raise Again(trouble.sentence, _asked_pause(answer.headers))
        if status in _REFUSED and _origin(str(answer.url)) == _origin(self.hub.endpoint):
            code = answer.headers.get("x-error-code", "")
            raise Refused(denial(self.reference, self.hub.endpoint, self.token, status, code))
        if status in (401, 403, 404):
            raise Again(f"{trouble.sentence}: the signed address has run out")
        raise Refused(f"{trouble.sentence} to {answer.request.method} {answer.request.url.path}.")

    def _pause(self, failures: int, asked: float | None) -> float:
        if asked is not None:
            return min(asked, self.effort.longest)
        return random.uniform(0.5, 1.0) * min(self.effort.cap, self.effort.base * 2.0 ** (failures - 1))  # noqa: S311


def new_client(effort: Effort) -> httpx.AsyncClient:
    """Proxies and certificates come from the environment. Cookies are never kept: jars do not tell ports apart."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(effort.silence, connect=effort.connect, pool=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=16),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"user-agent": "model-accuracy-eval"},
    )


def _asked_pause(headers: Mapping[str, str]) -> float | None:
    """`retry-after`, or the draft `ratelimit: "api";r=0;t=55` that some hubs send instead."""
    limit = re.search(r";\s*r=0\s*;\s*t=(\d+)", headers.get("ratelimit", ""))
    asked = retry_after(headers, time.time())
    return asked if asked is not None or limit is None else float(limit[1])


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = httpx.URL(url)
    return parts.scheme, parts.host, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _place(url: str) -> str:
    """The host alone: the query of a signed address is a secret too."""
    parts = httpx.URL(url)
    return f"{parts.scheme}://{parts.netloc.decode()}" if not parts.userinfo else f"{parts.scheme}://{parts.host}"
