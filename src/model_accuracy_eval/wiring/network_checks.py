"""What `doctor` checks on the network: proxies, the hubs of data and weights, GitHub, and the rights of its token.

Nothing is written: how GitHub refuses a check or status for a commit that cannot exist shows what the token may write.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import httpx

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.github.api import PUBLIC
from model_accuracy_eval.github.refusals import Purpose, refusal
from model_accuracy_eval.github.response import GitHubResponse
from model_accuracy_eval.github.rest_client import RestClient
from model_accuracy_eval.hubs.sources import PLACES
from model_accuracy_eval.records import DoctorFinding, JSONObject
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.concurrency import run
from model_accuracy_eval.system.process_environment import masked
from model_accuracy_eval.system.retry import GITHUB

_NAMES = {"github": "GitHub's files", "hf": "Hugging Face", "ms": "ModelScope"}
_TIMEOUT = 10
"""Seconds for one response."""
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_NO_COMMIT = "0" * 40
_RIGHTS: Mapping[str, tuple[str, str, JSONObject]] = {
    "checks: write": ("to open a check run", "check-runs", {"name": "model-accuracy-eval", "head_sha": _NO_COMMIT}),
    "statuses: write": ("to set a commit status", f"statuses/{_NO_COMMIT}", {"state": "pending"}),
}
"""Permission → its purpose, and a request that fails only because of its commit if the permission is there."""


def look(environment: Mapping[str, str], *, repository: str) -> Iterator[DoctorFinding]:
    """Only a proxy or token that is set and does not work fails. A hub that cannot be reached may not be needed."""
    try:
        process_environment.check(environment)
    except EvalError as error:
        yield DoctorFinding(name="proxy", state="FAIL", sentence=error.sentence)
        return
    yield from run(_hubs(environment))
    try:
        yield from _github(environment, repository)
    except EvalError as error:
        yield DoctorFinding(name="GitHub", state="WARN", sentence=error.sentence)


async def _hubs(environment: Mapping[str, str]) -> list[DoctorFinding]:
    async with httpx.AsyncClient(timeout=_TIMEOUT, headers={"user-agent": "model-accuracy-eval"}) as client:
        checks = [
            _hub(client, _NAMES[scheme], environment.get(variable) or host, variable)
            for scheme, (variable, host, _) in PLACES.items()
        ]
        return list(await asyncio.gather(*checks))


async def _hub(client: httpx.AsyncClient, name: str, address: str, variable: str) -> DoctorFinding:
    """Whether the hub answers at all."""
    start = time.monotonic()
    try:
        response = await asyncio.wait_for(client.head(address), _TIMEOUT)
        problem = f"HTTP {response.status_code}" if response.status_code >= 500 else ""
    except (httpx.HTTPError, httpx.InvalidURL, asyncio.TimeoutError, TimeoutError) as error:
        problem = str(error) or f"no answer within {_TIMEOUT} s"
    url = masked(address)
    if not problem:
        sentence = f"{url} answers within {time.monotonic() - start:.2f} s."
        return DoctorFinding(name=name, state="PASS", sentence=sentence)
    sentence = f"{url} cannot be reached ({masked(problem)}): name a mirror in {variable}, or a proxy in HTTPS_PROXY."
    return DoctorFinding(name=name, state="WARN", sentence=sentence)


def _github(environment: Mapping[str, str], repository: str) -> Iterator[DoctorFinding]:
    root = environment.get("GITHUB_API_URL") or PUBLIC
    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN", "")
    client = RestClient(root=root, token=token, timeout=_TIMEOUT, retry=replace(GITHUB, attempts=1, budget=0.0))
    try:
        response = client.send("GET", "/user")
        url = masked(root)
        if response.uncertain:
            problem = masked(response.problem) or f"HTTP {response.status}"
            sentence = f"{url} cannot be reached ({problem}); is GITHUB_API_URL right?"
            yield DoctorFinding(name="GitHub", state="WARN", sentence=sentence)
            return
        yield DoctorFinding(name="GitHub", state="PASS", sentence=f"{url} answers.")
        yield _token(response, token)
        if not token or response.status == 401:
            return
        if not _REPOSITORY.fullmatch(repository):
            sentence = "Name one with --repository OWNER/NAME to see what the token may do."
            yield DoctorFinding(name="GitHub rights", state="SKIP", sentence=sentence)
            return
        yield from _rights(client, repository, person=response.ok)
    finally:
        client.close()


def _token(response: GitHubResponse, token: str) -> DoctorFinding:
    if not token:
        sentence = "Neither GITHUB_TOKEN nor GH_TOKEN is set, so what a token may do is not known."
        return DoctorFinding(name="GitHub token", state="SKIP", sentence=sentence)
    if response.status == 401:
        sentence = "It is wrong, expired or revoked: set GITHUB_TOKEN to another one."
        return DoctorFinding(name="GitHub token", state="FAIL", sentence=sentence)
    login = response.data.get("login") if response.ok and isinstance(response.data, dict) else None
    scopes = response.headers.get("x-oauth-scopes")
    owner = f"It speaks as {login}" if login else "It speaks as an app, as a workflow's own token does"
    sentence = f"{owner}{f', with the scopes {scopes}' if scopes else ''}."
    return DoctorFinding(name="GitHub token", state="PASS", sentence=sentence)


def _rights(client: RestClient, repository: str, *, person: bool) -> Iterator[DoctorFinding]:
    for permission, (action, path, body) in _RIGHTS.items():
        response = client.send("POST", f"/repos/{repository}/{path}", body)
        yield _right(response, Purpose(action=action, permission=permission, repository=repository), person=person)
    sentence = f"This shows only when a comment is written in {repository}: list it under `permissions:` of the job."
    yield DoctorFinding(name="pull-requests: write", state="SKIP", sentence=sentence)


def _right(response: GitHubResponse, purpose: Purpose, *, person: bool) -> DoctorFinding:
    """A person's token is seldom the one that an evaluation has: only apps, such as a workflow, can open check runs."""
    if response.status == 422:
        sentence = f"The token is allowed {purpose.action} in {purpose.repository}."
        return DoctorFinding(name=purpose.permission, state="PASS", sentence=sentence)
    missing = response.status in (403, 404) and not response.limited
    if missing and person:
        sentence = (
            f"GitHub refused {purpose.action} to this person's token; a job's own token gets it under `permissions:`."
        )
        return DoctorFinding(name=purpose.permission, state="SKIP", sentence=sentence)
    return DoctorFinding(
        name=purpose.permission, state="FAIL" if missing else "WARN", sentence=refusal(response, purpose)
    )
