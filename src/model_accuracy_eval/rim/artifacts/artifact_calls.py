"""One call to the artifact service or its store: tried again while that may help, one sentence when it does not."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from model_accuracy_eval.errors import PublishFailed

TRIES = 5
_FIRST_WAIT = 3.0
_GROWTH = 1.5
_LATER = frozenset({429, 500, 502, 503, 504})
_USED_UP = re.compile(r"insufficient usage|quota", re.IGNORECASE)
_SECRET = re.compile(r"\bsig=[^&\s\"'<]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came back. `trouble` is empty when the call did its work."""

    status: int | None = None
    """None when nobody answered."""
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Never shown: it may hold a signed address."""
    headers: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    again: bool = False
    """Whether another try may help."""

    def needed(self) -> "Answer":
        """Itself; raises `PublishFailed` if the call did not work."""
        if self.trouble:
            raise PublishFailed(self.trouble)
        return self

    def text(self, name: str) -> str:
        """A field of the body in snake_case or camelCase: servers differ in what they write."""
        value = self.body.get(name, self.body.get(camel(name)))
        return "" if value is None else str(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """Sends requests, with the service's own pauses between tries."""

    client: httpx.Client
    sleep: Callable[[float], object]
    chance: Callable[[], float]

    def ask(self, what: str, request: httpx.Request, *, parse: bool = True, tries: int = TRIES) -> Answer:
        """`what` is the call's name in sentences; with `parse`, an answer without JSON is no answer."""
        answer = Answer()
        for number in range(tries):
            if number:
                self.sleep(pause(number - 1, self.chance()))
            answer = self._once(what, request, parse=parse)
            if not answer.again:
                return answer
        return replace(answer, trouble=f"{answer.trouble.rstrip('.')} ({tries} tries).")

    def _once(self, what: str, request: httpx.Request, *, parse: bool) -> Answer:
        try:
            response = self.client.send(request)
        except httpx.HTTPError as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode()}"
            return Answer(trouble=f"{what} got no answer from {where}: {error or type(error).__name__}.", again=True)
        body = _object(response.content)
        told = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        message = _message(body, response)
        answer = Answer(status=response.status_code, body=body or {}, headers=response.headers)
        if response.is_success:
            if body is None and parse:
                return replace(answer, trouble=f"{what} was answered with {told} but without JSON.", again=True)
            return answer
        if _USED_UP.search(message):
            return replace(answer, trouble=f"{what} was refused because the artifact storage is used up: {message}")
        missing = response.status_code in {404, 405, 501}
        again = response.status_code in _LATER or (body is None and parse and not missing)
        return replace(answer, trouble=f"{what} was answered with {told}: {message}", again=again)


def pause(failure: int, chance: float) -> float:
    """Seconds after the `failure`-th failure, counted from 0: 3, then anything from 3·1.5ⁿ to 3·1.5ⁿ⁺¹."""
    if failure == 0:
        return _FIRST_WAIT
    least = _FIRST_WAIT * _GROWTH**failure
    return least + chance * (least * _GROWTH - least)


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
    """The server's own words: Twirp's `msg`, Azure's `message`, or the beginning of whatever it wrote; one sentence."""
    words = str((body or {}).get("msg") or (body or {}).get("message") or response.text)
    # A store may repeat the signed address in its complaint.
    line = _SECRET.sub("sig=***", " ".join(re.sub(r"<[^>]*>", " ", words).split()))[:200].rstrip(". ")
    return f"{line or 'no reason was given'}."
