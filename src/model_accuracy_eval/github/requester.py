"""Requests to GitHub through PyGithub, with patience that has an end.

PyGithub repeats what does no harm twice, and what a rate limit turned away. All waiting of one client together has a
limit; a stop of the program ends it, and a server that has never answered is soon given up.
"""

import logging
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import requests
from github import Auth, GithubException, GithubRetry, set_log_level
from github.Repository import Repository
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, ProxyError, SSLError
from urllib3.response import BaseHTTPResponse

from model_accuracy_eval.errors import BadValue, PublishFailed
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.process_environment import masked

# It prints every refusal and every wait to stderr, from which the runner reads commands.
set_log_level(logging.WARNING)

T = TypeVar("T")

PUBLIC = "https://api.github.com"
TIMEOUT = 15
"""Seconds for a connection, and for each silence within an answer; GitHub itself ends a request after ten."""
PATIENCE = 180.0
"""Seconds that all requests of a client may take together before nothing is repeated any more."""
_FIRST_CONTACT = 30.0
"""The same for a server that has not answered yet: a verdict after hours is worth waiting for, a wrong address not."""
_LAST_SECONDS, _LAST_TIMEOUT = 3.0, 2
"""After a stop, for all requests together and for one: the runner kills the step ten seconds after the stop."""
_PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds between the tries of a request that GitHub may have carried out."""
TRIES = "x-tries"
"""A header of ours: how often this answer came."""


class Patience:
    """How long one client may wait, all its requests together."""

    def __init__(self, clock: SignalClock, most: float) -> None:
        self.answered = False
        """Whether the server has ever answered."""
        self.tries = 0
        """Of the last request, that went wrong."""
        self._clock = clock
        self._most = most
        self._spent = 0.0
        self._began: float | None = None
        self._deadline = math.inf

    @property
    def seconds(self) -> float:
        """Seconds that requests have taken until now."""
        return self._spent + (0.0 if self._began is None else self._clock.elapsed() - self._began)

    @property
    def is_stopping(self) -> bool:
        """Whether the program has been stopped, and is left a few seconds to tell how it ended."""
        return self._clock.since_stop() > 0

    @property
    def left(self) -> float:
        """Seconds that may still be waited before a request is repeated; negative if nothing may be repeated."""
        if self.is_stopping:
            return -1.0
        return (self._most if self.answered else min(self._most, _FIRST_CONTACT)) - self.seconds

    def check(self) -> None:
        """Raises `Stopped` if the stop came during this request. Those that begin later may tell how the run ended."""
        if self._began is not None and 0 < self._clock.since_stop() <= self._clock.elapsed() - self._began:
            self._clock.check()

    @contextmanager
    def request(self) -> Iterator[None]:
        """One request with all its tries."""
        self._began, self.tries = self._clock.elapsed(), 0
        if self.is_stopping:
            self._deadline = min(self._deadline, self._began + _LAST_SECONDS)
        try:
            if self._began >= self._deadline:
                raise requests.ConnectionError("the program has to end and no time is left for it")
            yield
        finally:
            self._spent, self._began = self.seconds, None

    def wait(self, seconds: float) -> None:
        """Raises `Stopped` as soon as a stop is requested."""
        if seconds > 0:
            self._clock.sleep(seconds)


class PatientRetry(GithubRetry):
    """PyGithub's rules of what is repeated and when, as far as the patience goes."""

    def __init__(self, patience: Patience, **settings: Any) -> None:
        super().__init__(**settings)
        self.patience = patience

    def new(self, **settings: Any) -> "PatientRetry":
        return super().new(patience=self.patience, **settings)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """What a rate limit turned away was not carried out, so any method may be repeated."""
        return status_code in (403, 429) or super().is_retry(method, status_code, has_retry_after)

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: Any = None,
    ) -> "PatientRetry":
        """The rule for the next try. Where the wait for it would be too long, this answer or error is the last."""
        self.patience.check()
        self.patience.tries += 1
        left = self.max_rate_limit_wait = self.patience.left
        following = super().increment(method, url, response, error, _pool, _stacktrace)  # type: ignore[arg-type]
        assert isinstance(following, PatientRetry)
        assert _pool is not None
        if following.pause(response) > left:
            raise MaxRetryError(_pool, url, error)
        return following

    def pause(self, response: BaseHTTPResponse | None) -> float:
        """Seconds to wait: what GitHub asks for, else longer each time. PyGithub does not read 429."""
        asked = None if response is None else self.get_retry_after(response)
        if asked is not None:
            return asked
        if response is None or response.status != 429:
            return self.get_backoff_time()
        reset = response.headers.get("x-ratelimit-reset", "")
        is_used_up = response.headers.get("x-ratelimit-remaining") == "0" and reset.isdigit()
        return max(0.0, int(reset) - time.time()) + 1.0 if is_used_up else self.secondary_rate_wait

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        self.patience.wait(self.pause(response))


class GitHubRequester(Requester):
    """One server and one token. PyGithub's objects are made with it, and ask only for what they do not know."""

    def __init__(
        self,
        environment: Mapping[str, str],
        token: str | Auth.Auth,
        clock: SignalClock,
        *,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        others: "Mapping[str, GitHubRequester] | None" = None,
    ) -> None:
        """`others`: who sends what goes to addresses that these regular expressions find, with another token."""
        root = (environment.get("GITHUB_API_URL") or PUBLIC).rstrip("/")
        if not root.startswith(("https://", "http://")):
            raise BadValue(f"GITHUB_API_URL must be the address of GitHub's REST interface; '{root}' is none.")
        if isinstance(token, str) and not (token.isascii() and token.isprintable()):
            raise BadValue("The token for GitHub holds a line break or a character outside ASCII; paste it again.")
        self.patience = Patience(clock, patience)
        self._root = root
        self._gone: PublishFailed | None = None
        """Of a server that has never answered and is asked nothing more: why all fails that is to be asked."""
        self._others = others or {}
        retry = PatientRetry(
            self.patience,
            total=5,
            # Silence takes long each time, and asking again makes no certificate known.
            read=2,
            other=0,
            backoff_factor=0.5,
            # Neither POST nor PATCH: `once` repeats those.
            allowed_methods=PatientRetry.DEFAULT_ALLOWED_METHODS,
            raise_on_status=False,
        )
        address, is_secure = urlsplit(root), root.startswith("https:")
        connection = HTTPSRequestsConnectionClass if is_secure else HTTPRequestsConnectionClass
        # As everywhere in this program; without either variable, requests reads REQUESTS_CA_BUNDLE.
        authorities = environment.get("SSL_CERT_FILE") or environment.get("SSL_CERT_DIR") or True
        self._connection = connection(address.hostname or "", address.port, retry=retry, verify=authorities)
        self._connection.timeout = timeout  # type: ignore[assignment] # requests takes fractions of a second, too
        super().__init__(
            auth=Auth.Token(token) if token and isinstance(token, str) else token or None,
            base_url=root,
            timeout=TIMEOUT,
            user_agent="model-accuracy-eval",
            per_page=100,
            verify=True,
            retry=None,
            pool_size=None,
            lazy=True,
        )

    def close(self) -> None:
        for each in self._others.values():
            each.close()
        self._connection.close()
        super().close()

    def repository(self, name: str) -> Repository:
        return Repository(self, url=f"/repos/{quote(name)}")

    def once(self, send: Callable[[], T], look: Callable[[], T | None] = lambda: None) -> T:
        """Sends a POST or PATCH. When its answer is lost, `look` finds what it has left, if anything; otherwise it is
        sent again. Without `look`, twice has to do no harm."""
        for number, pause in enumerate((*_PAUSES, math.inf), start=1):
            try:
                return send()
            except (GithubException, requests.RequestException) as error:
                if isinstance(error, GithubException) and error.headers is not None:
                    error.headers[TRIES] = str(number)
                # A refusal, and what had no connection, was not carried out.
                if error.status < 500 if isinstance(error, GithubException) else _was_not_sent(error):
                    raise
                found = look()
                if found is not None:
                    return found
                if pause > self.patience.left:
                    raise
            self.patience.wait(pause)
        raise AssertionError("the last pause is longer than any patience")

    def requestJson(  # noqa: N802, PLR0917 - PyGithub sends everything through this method
        self,
        verb: str,
        url: str,
        parameters: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        input: Any | None = None,  # noqa: A002
        cnx: HTTPRequestsConnectionClass | HTTPSRequestsConnectionClass | None = None,
        follow_302_redirect: bool = False,
    ) -> tuple[int, dict[str, Any], str]:
        for where, other in self._others.items():
            if re.search(where, url, re.IGNORECASE):
                return other.requestJson(verb, url, parameters, headers, input, cnx, follow_302_redirect)
        if self._gone is not None:
            raise self._gone
        if self.patience.is_stopping:
            self._connection.timeout = _LAST_TIMEOUT
        with self.patience.request():
            try:
                answer = super().requestJson(verb, url, parameters, headers, input, self._connection)
            except requests.RequestException as error:
                self._give_up(cause(error), tried=verb == "GET" or _was_not_sent(error))
                raise
            except GithubException:  # the retry has read a refusal
                self.patience.answered = True
                raise
            status = answer[0]
            answer[1][TRIES] = str(max(1, self.patience.tries))
            if status >= 500:
                self._give_up(f"HTTP {status}", tried=verb == "GET")
            else:
                self.patience.answered = True
            if 300 <= status < 400:
                raise GithubException(status, None, answer[1])
            return answer

    def _give_up(self, problem: str, *, tried: bool) -> None:
        """Not every sink is to wait for a server that never answers. `tried`: more than one try was made."""
        seconds = self.patience.seconds
        if not self.patience.answered and (tried or seconds >= _FIRST_CONTACT):
            self._gone = PublishFailed(
                f"GitHub at {masked(self._root)} gave no good answer in {seconds:.0f} s ({problem}): look at the "
                "runner's network, its proxy and its certificate authorities (SSL_CERT_FILE), and at GITHUB_API_URL, "
                "then run it again."
            )
            raise self._gone


def cause(error: BaseException) -> str:
    """Why there was no answer: the text of the innermost error, which requests and urllib3 wrap several times."""
    while True:
        inner = (getattr(error, "reason", None), error.__cause__, *error.args)
        below = next((each for each in inner if isinstance(each, BaseException)), None)
        if below is None:
            return masked(str(error) or type(error).__name__)[:200]
        error = below


def _was_not_sent(error: requests.RequestException) -> bool:
    """Whether there was no connection, so that GitHub cannot have carried anything out."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, (ConnectTimeoutError, ProxyError, SSLError))
