"""What GitHub refuses, as one sentence that names what is missing. Pure."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from model_accuracy_eval.errors import EvalError, PublishFailed
from model_accuracy_eval.rim.forge.github_answers import Answer, read

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Errand:
    """What a call was for, so that its refusal can be told."""

    what: str
    """Follows "GitHub refused": "to comment on pull request 7"."""
    needs: str
    """The permission, as `permissions:` of a workflow spells it."""
    repository: str
    error: type[EvalError] = PublishFailed


def must(answer: Answer, errand: Errand) -> None:
    """Raises the errand's error unless the answer is good."""
    if not answer.ok:
        raise errand.error(sentence(answer, errand), detail=_detail(answer))


def expect(answer: Answer, errand: Errand, kind: type[T]) -> T:
    """The data of a good answer; anything else is raised as the errand's error."""
    must(answer, errand)
    data = read(answer, kind)
    if data is None:
        raise errand.error(
            f"GitHub was asked {errand.what} in {errand.repository} and answered HTTP {answer.status} with something "
            "else; is GITHUB_API_URL the REST root, and does a proxy change answers?"
        )
    return data


def sentence(answer: Answer, errand: Errand) -> str:
    """Why there is no good answer, and what would help."""
    if answer.status is None or answer.status >= 500:
        return _unwell(answer, errand)
    said = f": {answer.message}" if answer.message and not answer.limited else ""
    explain = _EXPLAINED.get(answer.status, _other)
    if answer.limited:
        explain = _limit
    elif answer.status < 400:
        explain = _elsewhere
    return (
        f"GitHub refused {errand.what} in {errand.repository} (HTTP {answer.status}{said}): {explain(answer, errand)}"
    )


def _unwell(answer: Answer, errand: Errand) -> str:
    times = f"{answer.tries} {'try' if answer.tries == 1 else 'tries'} in {answer.seconds:.0f} s"
    if answer.status is None:
        return f"GitHub could not be asked {errand.what} in {errand.repository} ({times}): {answer.problem}."
    return f"GitHub was not able {errand.what} in {errand.repository}: HTTP {answer.status} ({times})."


def _limit(answer: Answer, _: Errand) -> str:
    headers = answer.headers
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        until = time.strftime("%H:%M:%S UTC", time.gmtime(int(reset))) if reset.isdigit() else "an unknown time"
        return (
            f"the token's limit of {headers.get('x-ratelimit-limit', '?')} requests an hour is used up until {until}, "
            "and waiting so long is not allowed."
        )
    after = headers.get("retry-after")
    return (
        "requests came faster than GitHub likes"
        f"{f', which wants a pause of {after} s' if after else ''}; {answer.tries} tries and the allowed waiting are "
        "used up."
    )


def _forbidden(answer: Answer, errand: Errand) -> str:
    lacks = f"the token lacks `{errand.needs}`"
    if "by integration" in answer.message:
        return f"{lacks}; add it under `permissions:` of the job. Runs for a fork's pull request only get to read."
    if "personal access token" in answer.message:
        return f"{lacks}; give the personal access token that permission for {errand.repository}."
    if "SAML" in answer.message or "x-github-sso" in answer.headers:
        return f"authorise the token for the organisation of {errand.repository} (single sign-on)."
    if "rchived" in answer.message:
        return "the repository is archived, so it can only be read."
    return f"{lacks}, or a rule of the organisation forbids it."


def _unseen(_: Answer, errand: Errand) -> str:
    return (
        f"it does not exist, or the token cannot see it. GITHUB_TOKEN reaches only its own repository: for another "
        f"one give a token with `{errand.needs}` in {errand.repository}."
    )


def _unknown(_: Answer, errand: Errand) -> str:
    return f"the token is wrong, expired or revoked; give one with `{errand.needs}`."


def _gone(_: Answer, __: Errand) -> str:
    return "it is gone, or this part of the repository is switched off in its settings."


def _elsewhere(_: Answer, __: Errand) -> str:
    return "the answer points elsewhere; has the repository been renamed, or is GITHUB_API_URL not the REST root?"


def _other(_: Answer, errand: Errand) -> str:
    return f"`{errand.needs}` is needed."


def _unfit(answer: Answer, _: Errand) -> str:
    return f"{'; '.join(_fields(answer)) or 'it does not take one of the values'}."


_EXPLAINED: Mapping[int, Callable[[Answer, Errand], str]] = {
    401: _unknown,
    403: _forbidden,
    404: _unseen,
    410: _gone,
    422: _unfit,
}


def _fields(answer: Answer) -> Iterator[str]:
    """`errors` of a 422: sentences, or objects that name resource, field and code."""
    errors = answer.data.get("errors") if isinstance(answer.data, dict) else None
    for error in errors if isinstance(errors, list) else [errors] if errors else []:
        if isinstance(error, dict):
            where = ".".join(str(error[name]) for name in ("resource", "field") if error.get(name))
            yield f"{where}: {error.get('message') or error.get('code') or 'not accepted'}".removeprefix(": ")
        else:
            yield str(error).rstrip(".")


def _detail(answer: Answer) -> str:
    """What GitHub's support asks for."""
    parts = {"request": answer.headers.get("x-github-request-id"), "url": _documentation(answer)}
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def _documentation(answer: Answer) -> str | None:
    return answer.data.get("documentation_url") if isinstance(answer.data, dict) else None
