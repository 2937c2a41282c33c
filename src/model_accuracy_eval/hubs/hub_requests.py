"""Requests to a hub: repeated when the network fails, not when the hub refuses, and with care for the token.
And downloads, each resumed where it was interrupted."""

import asyncio
import contextlib
import errno
import fcntl
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx
import msgspec

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs.weights_listing import ModelReference, WeightFile, WeightsListing, show_size
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB, Failure, Retries, RetryPolicy, draw, retry_after

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
    """Whom requests go to."""

    endpoint: str

    def credentials(self, token: Secret) -> dict[str, str]: ...


class WeightsHub(Hub, Protocol):
    """What differs between the hubs of models."""

    async def listing(self, reference: ModelReference, requests: "HubRequests") -> WeightsListing: ...

    def address(self, weights: WeightsListing, file: WeightFile) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class HubRequests:
    """The requests for one model or dataset."""

    client: httpx.AsyncClient
    hub: Hub
    reference: ModelReference
    token: Secret
    retry: RetryPolicy = HUB

    async def json(self, url: str, kind: type[T]) -> tuple[T, str]:
        """The body as `kind`, and the address of the next page; empty on the last."""

        async def attempt() -> tuple[T, str]:
            async with self.open(url) as response:
                try:
                    data = await response.aread()
                    answer = msgspec.json.decode(data, type=kind, strict=False)
                    return answer, response.links.get("next", {}).get("url", "")
                except httpx.HTTPError as error:
                    raise connection_failed(url, error) from error
                except msgspec.ValidationError as error:
                    raise self.no_listing(str(error)) from error
                except ValueError as error:
                    host, start = _host(url), data[:60]
                    raise Refused(f"{host} does not answer as a model hub does: {start!r} is not JSON.") from error

        return await self.repeat(attempt)

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
        retries, best = Retries(self.retry, draw), progress()
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


# Downloads.


_POLL_SECONDS = 0.1


class Download:
    """The download of one address, which always means the same bytes. `partial` survives interruptions.

    `size`: how many bytes these are, if that is known. The caller looks whether they are the right ones.
    """

    def __init__(self, requests: HubRequests, url: str, partial: Path, size: int | None = None) -> None:
        self._requests = requests
        self._url = url
        self._partial = partial
        self._size = size
        self.done = partial.stat().st_size if partial.is_file() else 0
        self.total = size
        """Known after the first answer, if the host says it."""
        self._etag = ""

    async def run(self) -> None:
        self._partial.parent.mkdir(parents=True, exist_ok=True)
        if self._size is not None and self.done > self._size:
            self.start_over()
        await self._requests.repeat(self._attempt, lambda: self.done)

    def start_over(self) -> None:
        self._partial.unlink(missing_ok=True)
        self.done = 0

    async def _attempt(self) -> None:
        if self.done == self._size:
            self._partial.touch()  # an empty file needs no request
            return
        headers = {"range": f"bytes={self.done}-"} if self.done else {}
        if self.done and self._etag:
            headers["if-range"] = self._etag  # a file that has changed meanwhile comes whole
        async with self._requests.open(self._url, headers) as response:
            content_range = str(response.headers.get("content-range", ""))
            if self.done and response.status_code == 416 and content_range == f"bytes */{self.done}":
                return  # all of it arrived before
            if not (response.status_code == 206 and content_range.startswith(f"bytes {self.done}-")):
                self.start_over()
                if response.status_code in (206, 416):
                    raise TransientError(f"{self._requests.hub.endpoint} cannot resume {self._url}")
            await self._receive(response)
        if self._size is not None and self.done < self._size:
            sent = f"{show_size(self.done)} of the {show_size(self._size)}"
            raise TransientError(f"{self._requests.hub.endpoint} sent {sent} of {self._url}")

    async def _receive(self, response: httpx.Response) -> None:
        """HTTP itself tells a body that ends too early: by its length, or by the missing last chunk."""
        if self._size is None:
            etag = response.headers.get("etag", "")
            self._etag = "" if etag.startswith("W/") else etag
            length = response.headers.get("content-length", "")
            self.total = self.done + int(length) if length.isdigit() else None
        with self._partial.open("ab", buffering=0) as partial:
            try:
                async for data in response.aiter_raw():
                    view = memoryview(data)
                    while view:
                        written = os.write(partial.fileno(), view)
                        self.done += written
                        view = view[written:]
                    if self._size is not None and self.done > self._size:
                        return  # its hash will be that of a longer file
            except httpx.HTTPError as error:
                raise connection_failed(str(response.url), error) from error


async def run_all(work: Iterable[Coroutine[Any, Any, None]], at_once: int) -> None:
    """Several at a time; the first failure ends all of them."""
    slots = asyncio.Semaphore(at_once)

    async def run(one: Coroutine[Any, Any, None]) -> None:
        async with slots:
            await one

    tasks = [asyncio.ensure_future(run(one)) for one in work]
    try:
        for task in asyncio.as_completed(tasks):
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_checking(work: Coroutine[Any, Any, T], check: Callable[[], object]) -> T:
    """Runs the work and calls `check` now and then; what `check` raises cancels the work."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=_POLL_SECONDS))[0]:
            check()
    except BaseException:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    return task.result()


@asynccontextmanager
async def locked(path: Path, on_wait: Callable[[], object]) -> AsyncIterator[None]:
    """One process at a time; the kernel unlocks the file when its holder ends, however that ends.

    `on_wait` is called once if another process has the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        if not _try_lock(descriptor):
            on_wait()
            while not _try_lock(descriptor):  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def tenths(name: str, say: Callable[[str], object], least: int = 0) -> Callable[[int, int], None]:
    """Says at every tenth how many bytes are there, of a total of at least so many."""
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        at = 10 * done // total if total else 0
        if at > shown and total >= least:
            shown = at
            say(f"{name}: {show_size(done)} of {show_size(total)}.")

    return show


def disk_refusal(error: OSError, what: str, folder: Path, free: int, setting: str) -> Refused:
    """An error of the disk as a sentence; `setting` names the folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(
            f"The disk is full: {folder} has {show_size(free)} free, and {what} does not fit. Free some space, or name "
            f"another folder with {setting}; what has arrived is kept."
        )
    return Refused(f"{what} cannot be kept in {folder}: {error.strerror or error}. Name another folder with {setting}.")
