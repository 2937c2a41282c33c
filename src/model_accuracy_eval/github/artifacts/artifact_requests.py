"""Requests to the artifact service and its store, repeated where that may help; a failure is one sentence."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.retry import ARTIFACTS, Failure, Retries, RetryPolicy

_USED_UP = re.compile(r"insufficient usage|quota", re.IGNORECASE)
_SECRET = re.compile(r"\bsig=[^&\s\"'<]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactResponse:
    """The answer to one request. `problem` is empty when the request was successful."""

    status: int | None = None
    """None when nobody answered."""
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Never shown: it may hold a signed address."""
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    transient: bool = False
    """Whether another attempt may succeed."""

    def raise_for_problem(self) -> "ArtifactResponse":
        """Itself; raises `PublishFailed` if the request failed."""
        if self.problem:
            raise PublishFailed(self.problem)
        return self

    def text(self, name: str) -> str:
        """A field of the body in snake_case or camelCase: servers differ in what they write."""
        value = self.body.get(name, self.body.get(camel(name)))
        return "" if value is None else str(value)


@dataclass(kw_only=True, slots=True)
class ArtifactRequests:
    """Sends requests, with the waits of `ARTIFACTS` between attempts."""

    client: httpx.Client
    sleep: Callable[[float], object]
    chance: Callable[[], float]
    answered: bool = False
    """Whether anybody has ever answered; if not, all attempts together have a limit."""

    def send(
        self, what: str, request: httpx.Request, *, parse: bool = True, retry: RetryPolicy = ARTIFACTS
    ) -> ArtifactResponse:
        """`what` names the request in sentences; with `parse`, an answer without JSON is a failure."""
        retries, spent = Retries(retry, self.chance), 0.0
        while True:
            started = time.monotonic()
            response = self._attempt(what, request, parse=parse)
            if not response.transient:
                return response
            wait = retries.wait(Failure(status=response.status), started)
            spent += time.monotonic() - started + (wait or 0.0)
            if wait is None or (not self.answered and spent > retry.first_contact):
                return replace(response, problem=f"{response.problem.rstrip('.')} ({retries.failures} tries).")
            self.sleep(wait)

    def digest_of(self, what: str, url: str) -> tuple[str, str]:
        """SHA-256 and size of what lies at a signed address, which stands in no sentence."""
        digest, size = hashlib.sha256(), 0
        try:
            with self.client.stream("GET", url) as response:
                for piece in response.iter_bytes():
                    digest.update(piece)
                    size += len(piece)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise PublishFailed(f"{what} was not answered ({type(error).__name__}).") from None
        if not response.is_success:
            raise PublishFailed(f"{what} was answered with HTTP {response.status_code}.")
        return digest.hexdigest(), str(size)

    def _attempt(self, what: str, request: httpx.Request, *, parse: bool) -> ArtifactResponse:
        try:
            response = self.client.send(request)
        except httpx.HTTPError as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode()}"
            return ArtifactResponse(
                problem=f"{what} got no answer from {where}: {process_environment.with_cure(error)}.",
                transient=not process_environment.is_untrusted(error),
            )
        self.answered = True
        body = _object(response.content)
        status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        message = _message(body, response)
        result = ArtifactResponse(status=response.status_code, body=body or {}, headers=response.headers)
        if response.is_success:
            if body is None and parse:
                return replace(result, problem=f"{what} was answered with {status} but without JSON.", transient=True)
            return result
        if _USED_UP.search(message):
            return replace(result, problem=f"{what} was refused because the artifact storage is used up: {message}")
        missing = response.status_code in {404, 405, 501}
        transient = response.status_code in ARTIFACTS.transient or (body is None and parse and not missing)
        return replace(result, problem=f"{what} was answered with {status}: {message}", transient=transient)


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _message(body: Mapping[str, Any] | None, response: httpx.Response) -> str:
    """The server's reason as one sentence: Twirp's `msg`, Azure's `message`, or the beginning of the body."""
    text = str((body or {}).get("msg") or (body or {}).get("message") or response.text)
    # A store may repeat the signed address in its error.
    line = _SECRET.sub("sig=***", " ".join(re.sub(r"<[^>]*>", " ", text).split()))[:200].rstrip(". ")
    return f"{line or 'no reason was given'}."
