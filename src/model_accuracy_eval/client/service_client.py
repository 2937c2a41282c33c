"""HTTP requests to one service: its address, its connections, and how often a request is tried.

A request is one or more tries; a try is one HTTP exchange whose bytes go into a sink. Everything that a broken try
received is thrown away, so no half answer is ever scored.
"""

import asyncio
import contextlib
import dataclasses
import errno
import itertools
import json
import re
import secrets
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TypeVar

import httpx
import msgspec

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.client.connection import FLOWING, BodySink
from model_accuracy_eval.client.stream_parser import StreamBroken
from model_accuracy_eval.client.transport import ProxiedTransport, StreamTransport
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import ClientLimits, Fault, JSONObject, Service
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.retry import SERVICE, Failure, Liveness, Retries, draw, retry_after

T = TypeVar("T")

_HOST = re.compile(r"[\w.:-]+")
_LOCAL_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL})
"""Connection errors of this machine, which show nothing about the service."""
_LONGEST_BODY = 256 * 1024 * 1024
"""Bytes of an answer. In JSON, a log-probability for every token of a long text takes some megabytes."""
_ABOUT_KEYS = frozenset({401, 403})
_SERVER_ERRORS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, ssl.SSLError)
"""Connection errors that only a listening server can cause."""


_url = lru_cache(maxsize=64)(httpx.URL)
"""Reading an address takes as long as all else that is done for a small request."""


class ServiceClient:
    """Use it within one event loop, and close it there. `proxy`: the address of a proxy to go through. `key_name`: the
    environment variable of the key."""

    def __init__(
        self,
        service: Service,
        limits: ClientLimits,
        *,
        api_key: str | None = None,
        key_name: str = "its variable",
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = draw,
    ) -> None:
        self.base = _base(service.base_url)
        self.model = service.model
        self.sends_finish_reasons = service.sends_finish_reasons
        self.client_limits = limits
        self._api_key = api_key or ""
        self._about_key = f"the key in {key_name} was sent" if api_key else f"no key was sent, as {key_name} is not set"
        self._sleep = sleep
        self._random = chance
        self._policy = dataclasses.replace(
            SERVICE,
            attempts=limits.retries + 1,
            silent_retries=limits.retries if limits.silent_retries is None else limits.silent_retries,
            longest_retry_after=limits.total_timeout,
        )
        self._liveness = Liveness(limits.gone_after)
        self._host = httpx.URL(self.base).netloc.decode("ascii")
        self._headers = _headers(self._host, api_key, key_name)
        self._transport = ProxiedTransport(proxy, tls) if proxy else StreamTransport(tls)
        self._limits = {
            "connect": limits.connect_timeout,
            "first": limits.first_token_timeout,
            "idle": limits.idle_timeout,
            "total": limits.total_timeout,
        }
        self._room = asyncio.Semaphore(limits.concurrency)
        """For requests that do not stream, which their callers send all at once."""
        self._ids = itertools.count(1)
        self._id_prefix = secrets.token_hex(4)

    def next_id(self) -> str:
        return f"{self._id_prefix}-{next(self._ids)}"

    async def retry(self, attempt: Callable[[], Awaitable[T | Failure]]) -> tuple[T | Fault, int]:
        """The result of the first try that succeeds, or a fault, and the number of tries."""
        retries = Retries(self._policy, self._random, self._liveness)
        begin, tries = time.monotonic(), 0
        while not self._liveness.gone:
            tries += 1
            result = await attempt()
            if not isinstance(result, Failure):
                return result, tries
            wait = retries.wait(result, time.monotonic())
            if wait is None:
                return self._fault(result, tries, time.monotonic() - begin), tries
            await self._sleep(wait)
        gone = Failure(kind="refused", sentence="The service is gone")
        return self._fault(gone, tries, time.monotonic() - begin), tries

    async def post(
        self, url: httpx.URL, body: bytes, sink: BodySink, progress: Callable[[], str]
    ) -> httpx.Response | Failure:
        """One try: the response, after its body went into the sink. `progress`: how far a broken one had come."""
        extensions = {"sink": sink, "timeout": self._limits}
        request = httpx.Request(
            "POST", url, headers=self._headers, stream=httpx.ByteStream(body), extensions=extensions
        )
        try:
            response = await self._transport.handle_async_request(request)
        except StreamBroken as broken:
            self._liveness.heard()
            return broken.failure
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            return _connection_failure(error)
        except httpx.HTTPError as error:
            self._liveness.heard()
            silent = isinstance(error, httpx.ReadTimeout)
            return Failure(kind="failed", sentence=f"The answer broke off: {error}{progress()}", silent=silent)
        failure = None if response.is_success else _status_failure(response, self._about_key)
        if failure is None or failure.kind != "refused":
            self._liveness.heard()
        return failure or response

    async def post_json(self, name: str, fields: JSONObject, kind: type[T]) -> T | Fault:
        """The answer of an endpoint that does not stream as a `kind`, or a fault after all tries."""
        body = msgspec.json.encode(fields if self.model is None else {"model": self.model, **fields})
        root = self.base.rpartition("/")[0] if name == "tokenize" else self.base

        async def attempt() -> T | Failure:
            answer = bytearray()

            def collect(data: bytes, _: float) -> int:
                answer.extend(data)
                if len(answer) > _LONGEST_BODY:
                    sentence = f"The answer is longer than {_LONGEST_BODY // 1024 // 1024} MiB"
                    raise StreamBroken(Failure(kind="failed", sentence=sentence, transient=False))
                return FLOWING

            response = await self.post(_url(f"{root}/{name}"), body, collect, lambda: f" (after {len(answer)} bytes)")
            return response if isinstance(response, Failure) else _decode(bytes(answer), kind)

        async with self._room:
            found, _ = await self.retry(attempt)
        return found

    async def context_length(self) -> int | None:
        return wire_format.read_context(await self.get_models(), self.model)

    async def get_models(self) -> bytes:
        """The body of `/v1/models`; empty after any error."""
        return await self.get(httpx.URL(f"{self.base}/models"))

    async def get(self, url: httpx.URL) -> bytes:
        """The body at an address of the service; empty after any error, which shows nothing about other endpoints."""
        limit = httpx.Timeout(10.0, connect=self.client_limits.connect_timeout)
        request = httpx.Request("GET", url, headers=self._headers, extensions={"timeout": limit.as_dict()})
        try:
            response = await self._transport.handle_async_request(request)
            body = await response.aread()
        except httpx.HTTPError:
            return b""
        return body if response.is_success else b""

    async def close(self) -> None:
        await self._transport.aclose()

    def _fault(self, failure: Failure, tries: int, seconds: float) -> Fault:
        sentence = failure.sentence.rstrip(".")
        if failure.kind == "refused" and self._liveness.gone:
            sentence = f"Nobody has listened on {self._host} for {self.client_limits.gone_after:g} s"
        if self._api_key:  # some servers repeat a wrong key in their error
            sentence = sentence.replace(self._api_key, "[api key]")
        count = f"{tries} {'try' if tries == 1 else 'tries'}, {seconds:.1f} s"
        return Fault(
            kind=failure.kind,
            sentence=f"{sentence} ({count}).",
            status=failure.status,
            lasting=not failure.transient,
            silent=failure.silent,
        )


def _decode(body: bytes, kind: type[T]) -> T | Failure:
    """Accepts NaN and -Infinity, which some servers write although JSON does not have them."""
    with contextlib.suppress(ValueError):
        return msgspec.json.decode(body, type=kind)
    text = body.decode("utf-8", "replace")
    try:
        return msgspec.convert(json.loads(text), kind)
    except msgspec.ValidationError as error:
        sentence = f"The answer has another shape ({error}): {wire_format.excerpt(text, 120)}"
        return Failure(kind="failed", sentence=sentence, transient=False)
    except (ValueError, RecursionError):
        return Failure(kind="failed", sentence=f"The answer is no JSON: {wire_format.excerpt(text, 120)}")


def _base(url: str) -> str:
    """The address up to `/v1`, from `http://host:8000` with or without `/v1` or `/v1/chat/completions`."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise BadValue(f"The service's address cannot be read: {error}.") from error
    valid = _HOST.fullmatch(parsed.raw_host.decode("ascii")) and parsed.port != 0 and (parsed.port or 1) < 65536
    if parsed.scheme not in ("http", "https") or not valid:
        raise BadValue(
            f"The service's address is '{parsed.host or url}', but it has to be http://host:port or https://…."
        )
    path = parsed.path.rstrip("/").removesuffix("/chat/completions")
    version = path.rpartition("/")[2]
    if not (version[:1] == "v" and version[1:2].isdigit()):
        path += "/v1"
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}{path}"


def _headers(host: str, api_key: str | None, key_name: str) -> httpx.Headers:
    headers = {
        "Host": host,
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "model-accuracy-eval",
    }
    if api_key:
        if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
            raise BadValue(
                f"The API key in {key_name} holds a blank, a line break or a character outside ASCII.",
                next_step=f"export {key_name}=YOUR-KEY",
            )
        headers["Authorization"] = f"Bearer {api_key}"
    return httpx.Headers(headers)


def _connection_failure(error: httpx.TransportError) -> Failure:
    """Whether nobody listens (`refused`), or a server or this machine broke the connection off (`failed`)."""
    cause = error.__cause__
    sentence = f"The service could not be reached: {process_environment.with_cure(error)}"
    if isinstance(cause, ssl.SSLCertVerificationError) or "WRONG_VERSION_NUMBER" in str(error):
        return Failure(kind="failed", sentence=sentence, transient=False)
    if isinstance(error, httpx.ConnectTimeout) or isinstance(cause, _SERVER_ERRORS):
        return Failure(kind="failed", sentence=sentence, silent=isinstance(error, httpx.ConnectTimeout))
    if isinstance(cause, OSError) and cause.errno in _LOCAL_ERRORS and not isinstance(cause, socket.gaierror):
        return Failure(kind="failed", sentence=sentence)
    return Failure(kind="refused", sentence=sentence)


def _status_failure(response: httpx.Response, about_key: str) -> Failure:
    """A status other than 2xx, with the server's own message, and with what is known of the key if that is refused."""
    status, reason = response.status_code, response.reason_phrase
    message, _ = wire_format.read_error(response.content)
    if 300 <= status < 400:
        message = f"redirected to {response.headers.get('location', 'nowhere')}, which is not followed"
        return Failure(kind="failed", sentence=f"HTTP {status} {reason}: {message}", status=status, transient=False)
    sentence = f"HTTP {status} {reason}: {message or 'no message'}"
    if status in _ABOUT_KEYS:
        sentence = f"{sentence.rstrip('.')}; {about_key}"
    return wire_format.error_failure(status, sentence, retry_after(response.headers, time.time()))
