"""GitHub's refusals, and all that PyGithub raises, as one sentence that names what is missing."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from github import BadAttributeException, GithubException

from model_accuracy_eval.errors import EvalError, PublishFailed
from model_accuracy_eval.github.requester import TRIES, cause

FOREIGN = (AssertionError, AttributeError, BadAttributeException, LookupError, RuntimeError, TypeError, ValueError)
"""What PyGithub raises at an answer that is not GitHub's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Purpose:
    """What a request is for, so that its refusal can be explained."""

    action: str
    """Follows "GitHub refused": "to comment on pull request 7"."""
    permission: str = ""
    """The permission that it needs, as `permissions:` of a workflow spells it; empty: one that every token of the
    repository has, though not tokens of others."""
    repository: str
    error: type[EvalError] = PublishFailed

    @contextmanager
    def explained(self) -> Iterator[None]:
        """While entered, every failure of PyGithub becomes the purpose's error."""
        try:
            with self.outages():
                yield
        except GithubException as error:
            raise self.error(refusal(error, self), detail=_detail(error)) from error
        except FOREIGN as error:
            raise self.error(
                f"GitHub was asked {self.action} in {self.repository} and answered with something else; is "
                "GITHUB_API_URL the REST root, and does a proxy change answers?"
            ) from error

    @contextmanager
    def outages(self) -> Iterator[None]:
        """While entered, what says something about GitHub at this moment, and nothing about what was asked for, becomes
        `PublishFailed`: it refuses nobody."""
        try:
            yield
        except GithubException as error:
            if error.status < 500 and not is_limited(error):
                raise
            raise PublishFailed(refusal(error, self), detail=_detail(error)) from error
        except OSError as error:  # requests' own errors, and a file of certificates that is not there
            raise PublishFailed(
                f"GitHub could not be asked {self.action} in {self.repository}: {cause(error)}."
            ) from error


def refusal(error: GithubException, purpose: Purpose) -> str:
    """Why the request was not successful, and what would help."""
    if error.status >= 500:
        answered = f"GitHub answered {error.status} {times(int(_headers(error).get(TRIES, 1)))}"
        return f"{answered} when it was asked {purpose.action} in {purpose.repository}: run it again later."
    limited = is_limited(error)
    said = "" if limited or not message(error) else f": {message(error)}"
    why = _rate_limit(error) if limited else _explanation(error, purpose)
    return f"GitHub refused {purpose.action} in {purpose.repository} (HTTP {error.status}{said}): {why}"


def message(error: GithubException) -> str:
    """GitHub's own words."""
    text = error.data.get("message") if isinstance(error.data, dict) else None
    return text if isinstance(text, str) else ""


def times(number: int) -> str:
    """In words, as far as anybody tries."""
    return {1: "once", 2: "twice", 3: "three times", 4: "four times", 5: "five times", 6: "six times"}[number]


def is_limited(error: GithubException) -> bool:
    """Whether a rate limit turned the request away; a 403 can also be a matter of permission."""
    if error.status == 429:
        return True
    if error.status != 403 or "not accessible" in message(error):
        return False
    headers = _headers(error)
    used_up = headers.get("x-ratelimit-remaining") == "0"
    return used_up or "retry-after" in headers or "rate limit" in message(error).lower()


def _headers(error: GithubException) -> Mapping[str, str]:
    """Names in small letters: PyGithub's own retry hands them on as they came."""
    return {name.lower(): value for name, value in (error.headers or {}).items()}


def _rate_limit(error: GithubException) -> str:
    headers = _headers(error)
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        until = time.strftime("%H:%M:%S UTC", time.gmtime(int(reset))) if reset.isdigit() else "an unknown time"
        return (
            f"the token's limit of {headers.get('x-ratelimit-limit', '?')} requests an hour is used up until {until}, "
            "and waiting so long is not allowed."
        )
    after = headers.get("retry-after")
    asks = f", which asks for a pause of {after} s" if after else ""
    return f"requests came faster than GitHub allows{asks}; the allowed waiting is used up."


def _explanation(error: GithubException, purpose: Purpose) -> str:
    """What would help, by status; GitHub's own words stand before it."""
    if error.status < 400:
        return "the answer points elsewhere; has the repository been renamed, or is GITHUB_API_URL not the REST root?"
    if error.status == 422:
        return f"{'; '.join(_fields(error.data)) or 'one of the values is not valid'}."
    need = f"`{purpose.permission}`" if purpose.permission else "write access"
    cure = "or a rule of the organisation forbids it"
    if "by integration" in message(error) and purpose.permission:
        cure = "add it under `permissions:` of the job. Runs for a fork's pull request only get to read"
    explanations = {
        401: f"the token is wrong, expired or revoked; give one with {need}.",
        403: f"the token lacks {need}; {cure}.",
        404: "it does not exist, or the token cannot see it. GITHUB_TOKEN reaches only its own repository: for another "
        f"one give `adapter-token`, a token with {need} in {purpose.repository}.",
    }
    return explanations.get(error.status, f"{need} is needed.")


def _fields(data: Any) -> Iterator[str]:
    """The `errors` of a 422: sentences, or objects that name resource, field and code."""
    errors = data.get("errors") if isinstance(data, dict) else None
    for error in errors if isinstance(errors, list) else [errors] if errors else []:
        if isinstance(error, dict):
            where = ".".join(str(error[name]) for name in ("resource", "field") if error.get(name))
            yield f"{where}: {error.get('message') or error.get('code') or 'not accepted'}".removeprefix(": ")
        else:
            yield str(error).rstrip(".")


def _detail(error: GithubException) -> str:
    """The request id that GitHub's support asks for, and the documentation."""
    documentation = error.data.get("documentation_url") if isinstance(error.data, dict) else None
    parts = {"request": _headers(error).get("x-github-request-id"), "url": documentation}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value)
