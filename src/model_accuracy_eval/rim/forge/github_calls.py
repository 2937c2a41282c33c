"""Calls of GitHub's REST interface, carried by PyGithub, repeated by rules of our own.

PyGithub's own retry is off. It repeats a POST after a 5xx, which may write a comment twice, never repeats a PATCH,
and sleeps up to an hour on a used-up rate limit. Here nothing is repeated that may have been done already unless the
caller can look whether it was, and all waiting together is bounded.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.rim.forge.github_answers import Answer
from model_accuracy_eval.rim.service.retry import backoff

if TYPE_CHECKING:
    from github import Github

Method = Literal["GET", "POST", "PATCH", "DELETE"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """How long and how often. `budget` bounds all sleeping and all failed tries of one client together."""

    timeout: int = 30
    budget: float = 180.0
    tries: int = 6


class Caller:
    """One GitHub server, one token, one budget of waiting. For one thread at a time."""

    def __init__(
        self,
        *,
        root: str,
        token: str,
        waits: Waits | None = None,
        sleep: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not root.startswith(("https://", "http://")):
            raise BadValue(f"GITHUB_API_URL must be the address of GitHub's REST interface; '{root}' is none.")
        self.root = root.rstrip("/")
        self.waits = waits or Waits()
        self.left = self.waits.budget
        self._hurried = False
        self._sleep = sleep
        self._chance = chance
        self._now = now
        self._client = _client(self.root, token, self.waits.timeout)

    @property
    def graphql_url(self) -> str:
        return self._client.requester.graphql_url

    def close(self) -> None:
        self._client.close()

    def hurry(self, seconds: float) -> None:
        """Somebody wants this program to end: from now on good answers take from the budget as well, and when it is
        spent nothing is sent any more. No answer is waited for longer than half of it, so that there are two tries."""
        self._hurried = True
        self.left = min(self.left, seconds)
        kwargs = self._client.requester.kwargs
        self._client.close()
        self._client = type(self._client)(**{**kwargs, "timeout": min(kwargs["timeout"], max(1, round(seconds / 2)))})

    def send(
        self,
        method: Method,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        look: Callable[[], Answer | None] | None = None,
        tries: int | None = None,
    ) -> Answer:
        """The last answer. A POST that may have been carried out is repeated only if `look` finds no trace of it."""
        started, attempt = time.monotonic(), 0
        while True:
            attempt += 1
            answer = self._once(method, path, body, query)
            pause = self._pause(answer, attempt, repeatable=method != "POST" or look is not None)
            over = pause is None or attempt >= (tries or self.waits.tries) or not self._wait(pause)
            if pause is not None and look is not None and answer.uncertain and self.left > 0:
                found = look()
                answer, over = (found, True) if found is not None else (answer, over)
            if over:
                return replace(answer, tries=attempt, seconds=time.monotonic() - started)

    def pages(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[Answer]:
        """Every page of a list; a page that failed is the last."""
        page = 1
        while True:
            answer = self.send("GET", path, query={**(query or {}), "per_page": 100, "page": page})
            yield answer
            # The link's address is not followed: behind a proxy it may name a host that is not ours to talk to.
            if not answer.ok or not answer.data or 'rel="next"' not in answer.headers.get("link", ""):
                return
            page += 1

    def _pause(self, answer: Answer, attempt: int, *, repeatable: bool) -> float | None:
        """Seconds to wait before the next try; None when there is to be none."""
        if answer.limited:
            return answer.pause(self._now(), attempt)
        if answer.uncertain and (repeatable or not answer.sent):
            return backoff(attempt, self._chance())
        return None

    def _wait(self, seconds: float) -> bool:
        if seconds > self.left:
            return False
        self.left -= seconds
        self._sleep(seconds)
        return True

    def _once(
        self, method: Method, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any] | None
    ) -> Answer:
        started = time.monotonic()
        if self._hurried and self.left <= 0:
            return Answer(status=None, problem="the program has to end and no time is left for it", sent=False)
        answer = self._exchange(method, path, body, query)
        if answer.status in (307, 308):
            # PyGithub would take this for success. GitHub says it to writes when a repository has been renamed.
            target = answer.headers.get("location", "")
            if target.startswith(f"{self.root}/"):
                answer = self._exchange(method, target.removeprefix(self.root), body, query)
        if self._hurried or answer.limited or answer.uncertain:
            self.left -= time.monotonic() - started
        return answer

    def _exchange(
        self, method: Method, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any] | None
    ) -> Answer:
        import requests  # noqa: PLC0415 - only runs that talk to GitHub pay for it

        try:
            status, headers, text = self._client.requester.requestJson(
                method, path, parameters=dict(query or {}), input=body
            )
        except (requests.RequestException, RuntimeError, ValueError, AssertionError, OSError) as error:
            return Answer(status=None, problem=_words(error), sent=not _never_sent(error))
        return Answer(status=status, headers=headers, data=_json(text))


def _client(root: str, token: str, timeout: int) -> "Github":
    try:
        from github import Auth, Github  # noqa: PLC0415 - only runs that talk to GitHub pay for it
    except ImportError as error:
        sentence = "The action needs the PyGithub package; type: pip install 'model-accuracy-eval[action]'."
        raise Refused(sentence) from error

    return Github(
        auth=Auth.Token(token) if token else None,
        base_url=root,
        timeout=timeout,
        user_agent="model-accuracy-eval",
        retry=None,
        # Its spacing of calls sleeps where nobody can stop it; we write seldom.
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


def _never_sent(error: BaseException) -> bool:
    """Whether no connection came about, so that nothing can have been carried out."""
    from requests.exceptions import ConnectTimeout, InvalidURL  # noqa: PLC0415
    from urllib3.exceptions import NewConnectionError  # noqa: PLC0415

    causes = [error, *error.args, *(getattr(cause, "reason", None) for cause in error.args)]
    return any(isinstance(cause, (ConnectTimeout, InvalidURL, NewConnectionError)) for cause in causes)


def _words(error: BaseException) -> str:
    """Libraries nest their exceptions; the innermost one tells what happened."""
    while (inner := getattr(error, "reason", None) or next(iter(error.args), None)) is not None:
        if not isinstance(inner, BaseException):
            break
        error = inner
    text = str(error).rpartition(">: ")[2] or type(error).__name__
    return f"{text[:200]}"


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None
