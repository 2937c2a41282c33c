"""Requests to GitHub's REST interface over httpx.

Nothing that may have been carried out is sent again unless the caller can look whether it was, and all waiting
together has a limit.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import httpx
import msgspec

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.github.response import GitHubResponse
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.retry import GITHUB, Failure, Retries, RetryPolicy

HttpMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Body = Mapping[str, object] | msgspec.Struct
Query = Mapping[str, str | int]

_REDIRECTS = 3
SILENCE_SECONDS = 15.0
"""GitHub itself ends a request after ten seconds."""
_CONNECT_SECONDS = 10.0
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL)
"""Errors before there was a connection, so that the request cannot have been carried out."""


class RestClient:
    """One GitHub server, one token, one budget of waiting. For one thread at a time."""

    def __init__(
        self,
        *,
        root: str,
        token: str,
        timeout: float = SILENCE_SECONDS,
        retry: RetryPolicy = GITHUB,
        sleep: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`timeout`: seconds for a connection, and for each silence within an answer."""
        if not root.startswith(("https://", "http://")):
            raise BadValue(f"GITHUB_API_URL must be the address of GitHub's REST interface; '{root}' is none.")
        if not (token.isascii() and token.isprintable()):
            raise BadValue("The token for GitHub holds a line break or a character outside ASCII; paste it again.")
        self.root = root.rstrip("/")
        self.budget = retry.budget
        """Seconds that may still be spent on waiting and on failed attempts."""
        self._stopping = False
        self._answered = False
        self._given_up: GitHubResponse | None = None
        self._spent = 0.0
        self._retry = retry
        self._sleep = sleep
        self._chance = chance
        self._now = now
        limits = httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
        self._client = httpx.Client(timeout=limits, headers=_headers(token))

    @property
    def graphql_url(self) -> str:
        """GitHub Enterprise Server has its REST interface at /api/v3 and GraphQL at /api/graphql."""
        return f"{self.root.removesuffix('/v3')}/graphql"

    def close(self) -> None:
        self._client.close()

    def finish_within(self, seconds: float) -> None:
        """The program is to end: from now on successful requests count against the budget too, and when it is used up
        nothing is sent any more. No answer is waited for longer than half of it, so that there are two attempts."""
        self._stopping = True
        self.budget = min(self.budget, seconds)
        timeout = max(1, round(seconds / 2))
        self._client.timeout = httpx.Timeout(min(self._client.timeout.read or timeout, timeout))

    def pause(self, seconds: float) -> None:
        """Waits a random part of this time, after somebody else was faster; no longer than the budget allows."""
        self._wait(min(seconds * self._chance(), max(self._left, 0.0)))

    def send(
        self,
        method: HttpMethod,
        path: str,
        body: Body | None = None,
        *,
        query: Query | None = None,
        look: Callable[[], GitHubResponse | None] | None = None,
        attempts: int | None = None,
    ) -> GitHubResponse:
        """The last response. A POST that may have been carried out is sent again only if `look` finds no trace of
        it; what `look` finds is the response then."""
        started, number = time.monotonic(), 0
        retries = Retries(replace(self._retry, attempts=attempts or self._retry.attempts), self._chance)
        repeatable = method != "POST" or look is not None
        while self._given_up is None:
            number += 1
            response = self._attempt(method, path, body, query)
            failure = self._failure(response, number, repeatable=repeatable)
            over = failure is None or not self._wait(retries.wait(failure, started))
            if look is not None and response.uncertain and self.budget > 0 and (trace := look()) is not None:
                response, over = trace, True
            if over:
                response = replace(response, attempts=number, seconds=time.monotonic() - started)
                self._give_up(response, failure)
                return self._given_up or response
        return self._given_up

    def pages(self, path: str) -> Iterator[GitHubResponse]:
        """Every page of a list; a page that failed is the last."""
        page = 1
        while True:
            response = self.send("GET", path, query={"per_page": 100, "page": page})
            yield response
            # The link's address is not followed: behind a proxy it may name a host that must not get the token.
            if not response.ok or not response.data or 'rel="next"' not in response.headers.get("link", ""):
                return
            page += 1

    def _failure(self, response: GitHubResponse, number: int, *, repeatable: bool) -> Failure | None:
        """What stands against this response; None when it is final."""
        if response.limited:
            return Failure(status=response.status, retry_after=response.asked_wait(self._now(), number))
        if response.uncertain:
            transient = not response.untrusted and (repeatable or not response.sent)
            return Failure(status=response.status, transient=transient)
        return None

    def _give_up(self, response: GitHubResponse, failure: Failure | None) -> None:
        """Notes that a server that has never answered is asked nothing more: after a second try, or its time."""
        tried = failure is not None and failure.transient and response.attempts > 1
        over = tried or response.untrusted or self._spent >= self._retry.first_contact
        if response.uncertain and not self._answered and over:
            self._given_up = replace(response, unreachable=self.root, seconds=self._spent)

    def _wait(self, seconds: float | None) -> bool:
        """Waits if the budget allows it; whether it did."""
        if seconds is None or seconds > self._left:
            return False
        self._spend(seconds)
        self._sleep(seconds)
        return True

    @property
    def _left(self) -> float:
        """Seconds that may be spent now: few as long as the server has never answered."""
        return self.budget if self._answered else min(self.budget, self._retry.first_contact - self._spent)

    def _spend(self, seconds: float) -> None:
        self._spent += seconds
        self.budget -= seconds

    def _attempt(self, method: HttpMethod, path: str, body: Body | None, query: Query | None) -> GitHubResponse:
        started = time.monotonic()
        if self._stopping and self.budget <= 0:
            return GitHubResponse(status=None, problem="the program has to end and no time is left for it", sent=False)
        response = self._exchange(method, path, body, query)
        self._answered |= not response.uncertain
        if self._stopping or response.limited or response.uncertain:
            self._spend(time.monotonic() - started)
        return response

    def _exchange(self, method: HttpMethod, path: str, body: Body | None, query: Query | None) -> GitHubResponse:
        """Follows redirects, as for a renamed repository, below the root alone: the token goes along."""
        url, params = f"{self.root}{path}" if path.startswith("/") else path, query
        # ASCII, so that half a character in a text is no error here.
        content = None if body is None else json.dumps(msgspec.to_builtins(body))
        headers = {} if body is None else {"content-type": "application/json"}
        try:
            for _ in range(_REDIRECTS):
                answer = self._client.request(method, url, params=params, content=content, headers=headers)
                target = answer.headers.get("location", "")
                follows = answer.status_code in (307, 308) or (answer.status_code in (301, 302) and method == "GET")
                if not follows or not target.startswith(f"{self.root}/"):
                    break
                url, params = target, None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            sent = not isinstance(error, _NEVER_SENT)
            problem = (str(error) or type(error).__name__)[:200]
            return GitHubResponse(
                status=None, problem=problem, sent=sent, untrusted=process_environment.is_untrusted(error)
            )
        return GitHubResponse(status=answer.status_code, headers=answer.headers, data=_json(answer.content))


def _headers(token: str) -> dict[str, str]:
    headers = {"user-agent": "model-accuracy-eval", "accept": "application/vnd.github+json"}
    return headers | ({"authorization": f"Bearer {token}"} if token else {})


def _json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None
