"""Requests to a hub: repeated when the network fails, not when the hub refuses, and with care for the token."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Protocol, TypeVar

import httpx
import msgspec

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs.weights_listing import ModelReference, WeightsListing
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB, Failure, Retries, RetryPolicy, retry_after

T = TypeVar("T")

_REDIRECTS = 10
_REFUSED = (401, 403, 404, 410, 451)
_TIMEOUT = httpx.Timeout(60.0, connect=15.0, pool=None)
"""The 60 seconds are for each silence within an response."""


class TransientError(Exception):
    """A request failed, and another attempt may succeed."""

    def __init__(self, sentence: str, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.failure = Failure(sentence=sentence, retry_after=retry_after)


class Unreachable(Refused):
    """A hub that did not answer, or not as it should, however often it was asked."""


class NotThere(Refused):
    """A hub that answers that it has no such thing, or none for us."""


class Hub(Protocol):
    """What differs between hosts."""

    endpoint: str
    token_name: str
    """The variable that the hub's own tools read its token from; empty: it has none."""

    def credentials(self, token: Secret) -> dict[str, str]: ...

    def address(self, reference: ModelReference, commit: str | None, path: str) -> str: ...

    async def listing(self, reference: ModelReference, requests: "HubRequests") -> WeightsListing: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRequests:
    """The requests for one model or dataset."""

    client: httpx.AsyncClient
    hub: Hub
    reference: ModelReference
    token: Secret
    retry: RetryPolicy = HUB

    async def json(self, url: str, kind: type[T]) -> T:
        data = await self.body(url)
        try:
            return msgspec.json.decode(data, type=kind, strict=False)
        except msgspec.ValidationError as error:
            raise self.no_listing(str(error)) from error
        except ValueError as error:
            raise Refused(f"{_host(url)} does not answer as a model hub does: {data[:60]!r} is not JSON.") from error

    async def body(self, url: str) -> bytes:
        """All bytes of a small file."""

        async def attempt() -> bytes:
            async with self.open(url) as response:
                try:
                    return await response.aread()
                except httpx.HTTPError as error:
                    raise connection_failed(url, error) from error

        return await self.repeat(attempt)

    def no_listing(self, reason: str) -> Refused:
        return Refused(f"{self.hub.endpoint} does not list the files of {self.reference} ({reason}).")

    async def repeat(self, attempt: Callable[[], Awaitable[T]], progress: Callable[[], int] = lambda: 0) -> T:
        """Attempts it until it succeeds, is refused, or has failed too often without any progress in between."""
        retries, best = Retries(self.retry), progress()
        while True:
            try:
                return await attempt()
            except TransientError as error:  # noqa: PERF203 - a loop of attempts
                if progress() > best:
                    best = progress()
                    retries.progressed()
                wait = retries.wait(error.failure, time.monotonic())
                if wait is None:
                    raise Unreachable(f"{error} ({retries.failures} tries).") from error
                await asyncio.sleep(wait)

    @asynccontextmanager
    async def open(
        self, url: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> AsyncIterator[httpx.Response]:
        """One attempt. Redirects are followed here and not by httpx: the token is for the hub's own host alone."""
        for _ in range(_REDIRECTS):
            response = await self._send(method, url, headers or {})
            try:
                if response.has_redirect_location:
                    url = str(response.url.join(response.headers["location"]))
                    continue
                self._check_status(response)
                yield response
                return
            finally:
                await response.aclose()
        raise Refused(f"{_host(url)} redirects in circles.")

    async def _send(self, method: str, url: str, headers: Mapping[str, str]) -> httpx.Response:
        try:
            own_host = _origin(url) == _origin(self.hub.endpoint)
            credentials = self.hub.credentials(self.token) if own_host and self.token else {}
            # With another encoding, byte ranges and lengths would not be those of the file.
            request = self.client.build_request(
                method, url, headers={"accept-encoding": "identity", **headers, **credentials}
            )
            return await self.client.send(request, stream=True, follow_redirects=False)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as error:
            raise Refused(f"'{url[:80]}' is not an address of a model hub: {error}.") from error
        except httpx.HTTPError as error:
            raise connection_failed(url, error) from error

    def _check_status(self, response: httpx.Response) -> None:
        if response.is_success or response.status_code == 416:
            return
        url, status = str(response.url), response.status_code
        sentence = f"{_host(url)} answers with HTTP {status}"
        if status in HUB.transient:
            raise TransientError(sentence, _retry_after(response.headers))
        if status in _REFUSED and _origin(url) == _origin(self.hub.endpoint):
            code = response.headers.get("x-error-code", "")
            kind = NotThere if status in (404, 410) or code == "RepoNotFound" else Refused
            raise kind(self._refusal(response.url.path, status, code))
        if status in (401, 403, 404):
            raise TransientError(f"{sentence}: the signed address has expired")
        raise Refused(f"{sentence} to {response.request.method} {response.request.url.path}.")

    def _refusal(self, path: str, status: int, code: str) -> str:
        """Why the hub refuses. `code`: its own word for the error, which says more than the status."""
        reference, hub, name = self.reference, self.hub.endpoint, self.token.name
        if not name:  # a source that should need none
            closed = "is not public" if status in (401, 403) else "is not there any more, or never was"
            return f"{hub}{path} {closed} (HTTP {status})."
        lack = "" if self.token else "no token was given, and "
        page = f"datasets/{reference.name}" if reference.kind == "dataset" else reference.name
        by_code = {
            "GatedRepo": f"{reference} is gated: {lack}the owner of the token ({name}) has to accept its terms at "
            f"{hub}/{page} first.",
            "RevisionNotFound": f"{reference.source}:{reference.name} has no revision '{reference.revision or 'main'}' "
            f"at {hub}.",
            "EntryNotFound": f"A file that {hub} lists for {reference} does not exist there.",
        }
        if code in by_code:
            return by_code[code]
        if status == 401 and self.token:
            return f"{hub} does not accept the token ({name}), or it may not read {reference}."
        if status in (401, 403) and not self.token:
            return f"{reference} is private or does not exist at {hub}: no token was given ({name})."
        if status == 403:
            return f"The token ({name}) may not read {reference} at {hub}."
        hidden = "" if self.token else f"; if it is private, no token was given ({name})"
        version = f", or it has no revision '{reference.revision}'" if reference.revision else ""
        return f"There is no {reference.kind} '{reference.name}' at {hub}{version} (HTTP {status}){hidden}."


def new_client() -> httpx.AsyncClient:
    """Proxies and certificates come from the environment. Cookies are never kept: cookie jars ignore ports."""
    return httpx.AsyncClient(
        timeout=_TIMEOUT,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=16),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"user-agent": "model-accuracy-eval"},
    )


def connection_failed(url: str, error: httpx.HTTPError) -> TransientError | Refused:
    sentence = f"{_host(url)} broke off or cannot be reached: {process_environment.with_cure(error)}"
    return Refused(f"{sentence}.") if process_environment.is_untrusted(error) else TransientError(sentence)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """`retry-after`, or the draft `ratelimit: "api";r=0;t=55` that some hubs send instead."""
    seconds = retry_after(headers, time.time())
    limit = re.search(r";\s*r=0\s*;\s*t=(\d+)", headers.get("ratelimit", ""))
    return float(limit[1]) if seconds is None and limit else seconds


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = httpx.URL(url)
    return parts.scheme, parts.host, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _host(url: str) -> str:
    """Scheme and host alone: the query of a signed address is a secret too."""
    parts = httpx.URL(url)
    return f"{parts.scheme}://{parts.netloc.decode()}" if not parts.userinfo else f"{parts.scheme}://{parts.host}"
