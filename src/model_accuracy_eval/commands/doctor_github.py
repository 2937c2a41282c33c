"""What `doctor` says about GitHub and its token.

Nothing is written: how GitHub refuses a check or status for a commit that cannot exist shows what the token may write.
"""

import re
from collections.abc import Iterator, Mapping

from github import GithubException

from model_accuracy_eval.commands.doctor_service import Finding
from model_accuracy_eval.github.refusals import Purpose, is_limited, refusal
from model_accuracy_eval.github.requester import PUBLIC, GitHubRequester
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.process_environment import masked

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_NO_COMMIT = "0" * 40
_RIGHTS: Mapping[str, tuple[str, str, JSONObject]] = {
    "checks: write": ("to open a check run", "check-runs", {"name": "model-accuracy-eval", "head_sha": _NO_COMMIT}),
    "statuses: write": ("to set a commit status", f"statuses/{_NO_COMMIT}", {"state": "pending"}),
}
"""Permission → its purpose, and a request that fails only because of its commit if the permission is there."""


def look(environment: Mapping[str, str], repository: str, *, timeout: int) -> Iterator[Finding]:
    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN", "")
    requester = GitHubRequester(environment, token, SignalClock(), timeout=timeout, patience=0.0)
    try:
        with Purpose(action="to tell whose token it is", permission="metadata: read", repository="").explained():
            login, status, scopes = _owner(requester)
        address = masked(environment.get("GITHUB_API_URL") or PUBLIC)
        yield Finding("GitHub", "PASS", f"{address} answers.")
        yield _token(token, status, login, scopes)
        if not token or status == 401:
            return
        if not _REPOSITORY.fullmatch(repository):
            sentence = "Name one with --repository OWNER/NAME to see what the token may do."
            yield Finding("GitHub rights", "SKIP", sentence)
            return
        for permission, (action, path, body) in _RIGHTS.items():
            purpose = Purpose(action=action, permission=permission, repository=repository)
            yield _right(requester, purpose, path, body, person=bool(login))
        sentence = (
            f"This shows only when a comment is written in {repository}: list it under `permissions:` of the job."
        )
        yield Finding("pull-requests: write", "SKIP", sentence)
    finally:
        requester.close()


def _owner(requester: GitHubRequester) -> tuple[str, int, str]:
    """Login, status and scopes; an app, such as a workflow's own token, has no login."""
    try:
        headers, user = requester.requestJsonAndCheck("GET", "/user")
    except GithubException as error:
        return "", error.status, ""
    return str(user["login"]), 200, str(headers.get("x-oauth-scopes", ""))


def _token(token: str, status: int, login: str, scopes: str) -> Finding:
    if not token:
        sentence = "Neither GITHUB_TOKEN nor GH_TOKEN is set, so what a token may do is not known."
        return Finding("GitHub token", "SKIP", sentence)
    if status == 401:
        sentence = "It is wrong, expired or revoked: set GITHUB_TOKEN to another one."
        return Finding("GitHub token", "FAIL", sentence)
    owner = f"It speaks as {login}" if login else "It speaks as an app, as a workflow's own token does"
    sentence = f"{owner}{f', with the scopes {scopes}' if scopes else ''}."
    return Finding("GitHub token", "PASS", sentence)


def _right(requester: GitHubRequester, purpose: Purpose, path: str, body: JSONObject, *, person: bool) -> Finding:
    with purpose.explained():
        try:
            requester.requestJsonAndCheck("POST", f"/repos/{purpose.repository}/{path}", input=body)
        except GithubException as error:
            if error.status != 422:
                return _refused(error, purpose, person=person)
    sentence = f"The token is allowed {purpose.action} in {purpose.repository}."
    return Finding(purpose.permission, "PASS", sentence)


def _refused(error: GithubException, purpose: Purpose, *, person: bool) -> Finding:
    """A person's token is seldom the one that an evaluation has: only apps, such as a workflow, can open check runs."""
    missing = error.status in (403, 404) and not is_limited(error)
    if missing and person:
        sentence = (
            f"GitHub refused {purpose.action} to this person's token; a job's own token gets it under `permissions:`."
        )
        return Finding(purpose.permission, "SKIP", sentence)
    return Finding(purpose.permission, "FAIL" if missing else "WARN", sentence=refusal(error, purpose))
