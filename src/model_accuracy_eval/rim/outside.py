"""What this machine reaches outside: the places of data and weights, GitHub, and what the token may do there.

Nothing is left behind: what a token may write shows in how GitHub refuses a status for a commit that cannot exist.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping

import httpx

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.records.doctor import Finding
from model_accuracy_eval.rim import proxies
from model_accuracy_eval.rim.forge.github import PUBLIC
from model_accuracy_eval.rim.forge.github_answers import Answer
from model_accuracy_eval.rim.forge.github_calls import Caller, Waits
from model_accuracy_eval.rim.forge.github_refusals import Errand, sentence
from model_accuracy_eval.rim.hubs.hub import PLACES
from model_accuracy_eval.rim.loop import run
from model_accuracy_eval.rim.proxies import masked

_NAMES = {"github": "GitHub's files", "hf": "Hugging Face", "ms": "ModelScope"}
_PATIENCE = 10
"""Seconds for one answer."""
_NO_COMMIT = "0" * 40
_RIGHTS: Mapping[str, tuple[str, str, JSONObject]] = {
    "checks: write": ("to open a check run", "check-runs", {"name": "model-accuracy-eval", "head_sha": _NO_COMMIT}),
    "statuses: write": ("to set a commit status", f"statuses/{_NO_COMMIT}", {"state": "pending"}),
}
"""Permission → what it is for, and a request that only fails for its commit where the permission is there."""


def look(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Only what is set and does not do fails, a token or a proxy: hubs replace each other, and a mirror may be all one
    needs."""
    try:
        proxies.check(environment)
    except EvalError as error:
        yield Finding(name="proxy", state="FAIL", sentence=error.sentence)
        return
    yield from run(_hubs(environment))
    try:
        yield from _github(environment)
    except EvalError as error:
        yield Finding(name="GitHub", state="WARN", sentence=error.sentence)


async def _hubs(environment: Mapping[str, str]) -> list[Finding]:
    async with httpx.AsyncClient(timeout=_PATIENCE, headers={"user-agent": "model-accuracy-eval"}) as client:
        asked = [
            _hub(client, _NAMES[scheme], environment.get(variable) or host, variable)
            for scheme, (variable, host, _) in PLACES.items()
        ]
        return list(await asyncio.gather(*asked))


async def _hub(client: httpx.AsyncClient, name: str, address: str, variable: str) -> Finding:
    """Whether somebody answers at all: what a hub has, it tells when it is asked for it."""
    began = time.monotonic()
    try:
        answer = await asyncio.wait_for(client.head(address), _PATIENCE)
        problem = f"HTTP {answer.status_code}" if answer.status_code >= 500 else ""
    except (httpx.HTTPError, httpx.InvalidURL, asyncio.TimeoutError, TimeoutError) as error:
        problem = str(error) or f"no answer within {_PATIENCE} s"
    place = masked(address)
    if not problem:
        told = f"{place} answers within {time.monotonic() - began:.2f} s."
        return Finding(name=name, state="PASS", sentence=told)
    told = f"{place} is not to be reached ({masked(problem)}): name a mirror in {variable}, or a proxy in HTTPS_PROXY."
    return Finding(name=name, state="WARN", sentence=told)


def _github(environment: Mapping[str, str]) -> Iterator[Finding]:
    root, token = environment.get("GITHUB_API_URL") or PUBLIC, environment.get("GITHUB_TOKEN", "")
    caller = Caller(root=root, token=token, waits=Waits(timeout=_PATIENCE, budget=0.0, tries=1))
    try:
        answer = caller.send("GET", "/user")
        place = masked(root)
        if answer.uncertain:
            problem = masked(answer.problem) or f"HTTP {answer.status}"
            told = f"{place} is not to be reached ({problem}); is GITHUB_API_URL right?"
            yield Finding(name="GitHub", state="WARN", sentence=told)
            return
        yield Finding(name="GitHub", state="PASS", sentence=f"{place} answers.")
        yield _token(answer, token)
        if token and answer.status != 401:
            yield from _rights(caller, environment.get("GITHUB_REPOSITORY", ""))
    finally:
        caller.close()


def _token(answer: Answer, token: str) -> Finding:
    if not token:
        told = "GITHUB_TOKEN is not set, so what a token may do is not known."
        return Finding(name="GitHub token", state="SKIP", sentence=told)
    if answer.status == 401:
        told = "It is wrong, expired or revoked: set GITHUB_TOKEN to another one."
        return Finding(name="GitHub token", state="FAIL", sentence=told)
    login = answer.data.get("login") if answer.ok and isinstance(answer.data, dict) else None
    scopes = answer.headers.get("x-oauth-scopes")
    owner = f"It speaks as {login}" if login else "It speaks as an app, as a workflow's own token does"
    told = f"{owner}{f', with the scopes {scopes}' if scopes else ''}."
    return Finding(name="GitHub token", state="PASS", sentence=told)


def _rights(caller: Caller, repository: str) -> Iterator[Finding]:
    if "/" not in repository:
        told = "Name a repository in GITHUB_REPOSITORY (owner/name) to see what the token may do there."
        yield Finding(name="GitHub rights", state="SKIP", sentence=told)
        return
    for needs, (what, path, body) in _RIGHTS.items():
        answer = caller.send("POST", f"/repos/{repository}/{path}", body)
        yield _right(answer, Errand(what=what, needs=needs, repository=repository))
    told = f"It shows only when a comment is written in {repository}: have it under `permissions:` of the job."
    yield Finding(name="pull-requests: write", state="SKIP", sentence=told)


def _right(answer: Answer, errand: Errand) -> Finding:
    if answer.status == 422:
        told = f"The token is allowed {errand.what} in {errand.repository}."
        return Finding(name=errand.needs, state="PASS", sentence=told)
    lacks = answer.status in (403, 404) and not answer.limited
    return Finding(name=errand.needs, state="FAIL" if lacks else "WARN", sentence=sentence(answer, errand))
