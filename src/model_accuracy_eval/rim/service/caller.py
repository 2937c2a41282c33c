"""One service as all its requests see it: where it is, how it is reached, how often something is tried.

One request is one or more tries; one try is one HTTP exchange whose bytes flow into a sink. What a broken try
brought is thrown away as a whole, so no half answer is ever scored.
"""

import asyncio
import errno
import itertools
import random
import re
import secrets
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Fault, Patience, Service
from model_accuracy_eval.rim.service import wire
from model_accuracy_eval.rim.service.gathering import StreamBroken
from model_accuracy_eval.rim.service.proxy import ProxiedTransport
from model_accuracy_eval.rim.service.retry import Presence, Schedule, Trouble, http_trouble, retry_after
from model_accuracy_eval.rim.service.sink import Sink
from model_accuracy_eval.rim.service.transport import StreamTransport

T = TypeVar("T")

_HOST = re.compile(r"[\w.:-]+")
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL})
"""Connection errors that are this machine's, whoever listens over there."""
_THEIRS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLError)
"""Connection errors that only somebody who listens can cause."""


class Caller:
    """Use it within one event loop, and close it there. `proxy`: the address to go through."""

    def __init__(
        self,
        service: Service,
        patience: Patience,
        *,
        api_key: str | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.base = _base(service.base_url)
        self.model = service.model
        self.patience = patience
        self._secret = api_key or ""
        self._sleep = sleep
        self._chance = chance
        self._presence = Presence(patience.gone_after)
        self._place = httpx.URL(self.base).netloc.decode("ascii")
        self._headers = _headers(self._place, api_key)
        self._transport = ProxiedTransport(proxy, tls) if proxy else StreamTransport(tls)
        self._limits = {
            "connect": patience.connect_timeout,
            "first": patience.first_token_timeout,
            "idle": patience.idle_timeout,
            "total": patience.total_timeout,
        }
        self._ids = itertools.count(1)
        self._name = secrets.token_hex(4)

    def next_id(self) -> str:
        return f"{self._name}-{next(self._ids)}"

    async def persist(self, once: Callable[[], Awaitable[T | Trouble]]) -> tuple[T | Fault, int]:
        """What one of the tries brought, or why none did, and how many there were."""
        schedule = Schedule(self.patience, self._presence, self._chance)
        begin, tries = time.monotonic(), 0
        while not self._presence.gone:
            tries += 1
            result = await once()
            if not isinstance(result, Trouble):
                return result, tries
            wait = schedule.wait(result, time.monotonic())
            if wait is None:
                return self._fault(result, tries, time.monotonic() - begin), tries
            await self._sleep(wait)
        gone = Trouble(kind="refused", sentence="The service is gone")
        return self._fault(gone, tries, time.monotonic() - begin), tries

    async def post(
        self, url: httpx.URL, body: bytes, sink: Sink, extent: Callable[[], str]
    ) -> httpx.Response | Trouble:
        """One try: the response when all of a good one went into the sink. `extent`: how far a broken one had come."""
        extensions = {"sink": sink, "timeout": self._limits}
        message = httpx.Request(
            "POST", url, headers=self._headers, stream=httpx.ByteStream(body), extensions=extensions
        )
        try:
            response = await self._transport.handle_async_request(message)
        except StreamBroken as broken:
            self._presence.heard()
            return broken.trouble
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return _unconnected(error)
        except httpx.HTTPError as error:
            self._presence.heard()
            return Trouble(kind="failed", sentence=f"The answer broke off: {error}{extent()}")
        self._presence.heard()
        return response if response.is_success else _turned_away(response)

    async def get(self, url: httpx.URL) -> bytes:
        """The body of a good answer; empty whatever goes wrong, for questions whose answer is a hint and no more."""
        limit = httpx.Timeout(10.0, connect=self.patience.connect_timeout)
        request = httpx.Request("GET", url, headers=self._headers, extensions={"timeout": limit.as_dict()})
        try:
            response = await self._transport.handle_async_request(request)
            body = await response.aread()
        except httpx.HTTPError:
            return b""
        return body if response.is_success else b""

    async def close(self) -> None:
        await self._transport.aclose()

    def _fault(self, trouble: Trouble, tries: int, seconds: float) -> Fault:
        sentence = trouble.sentence.rstrip(".")
        if trouble.kind == "refused" and self._presence.gone:
            sentence = f"Nobody has listened on {self._place} for {self.patience.gone_after:g} s"
        if self._secret:  # some servers repeat the key they do not like
            sentence = sentence.replace(self._secret, "[api key]")
        effort = f"{tries} {'try' if tries == 1 else 'tries'}, {seconds:.1f} s"
        return Fault(kind=trouble.kind, sentence=f"{sentence} ({effort}).", status=trouble.status)


def _base(url: str) -> str:
    """`http://host:8000`, with or without a path that ends in `/v1` or `/v1/chat/completions`."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise BadValue(f"The service's address cannot be read: {error}.") from error
    sound = _HOST.fullmatch(parsed.raw_host.decode("ascii")) and parsed.port != 0 and (parsed.port or 1) < 65536
    if parsed.scheme not in ("http", "https") or not sound:
        raise BadValue(
            f"The service's address is '{parsed.host or url}', but it has to be http://host:port or https://…."
        )
    path = parsed.path.rstrip("/").removesuffix("/chat/completions")
    version = path.rpartition("/")[2]
    if not (version[:1] == "v" and version[1:2].isdigit()):
        path += "/v1"
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}{path}"


def _headers(place: str, api_key: str | None) -> httpx.Headers:
    headers = {
        "Host": place,
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "model-accuracy-eval",
    }
    if api_key:
        if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
            raise BadValue("The API key holds a blank, a line break or a character outside ASCII.")
        headers["Authorization"] = f"Bearer {api_key}"
    return httpx.Headers(headers)


def _unconnected(error: httpx.TransportError) -> Trouble:
    """Nobody there, or somebody who does not let us in."""
    cause = error.__cause__
    sentence = f"The service could not be reached: {error}"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Trouble(kind="failed", sentence=sentence, again=False)
    if isinstance(error, httpx.ConnectTimeout) or isinstance(cause, _THEIRS):
        return Trouble(kind="failed", sentence=sentence)
    if isinstance(cause, OSError) and cause.errno in _OURS and not isinstance(cause, socket.gaierror):
        return Trouble(kind="failed", sentence=sentence)
    return Trouble(kind="refused", sentence=sentence)


def _turned_away(response: httpx.Response) -> Trouble:
    """A status other than 2xx, in the server's own words."""
    status, reason = response.status_code, response.reason_phrase
    message, _ = wire.read_error(response.content)
    if 300 <= status < 400:
        message = f"redirected to {response.headers.get('location', 'nowhere')}, which is not followed"
        return Trouble(kind="failed", sentence=f"HTTP {status} {reason}: {message}", status=status, again=False)
    sentence = f"HTTP {status} {reason}: {message or 'no message'}"
    return http_trouble(status, sentence, retry_after(response.headers, time.time()))
