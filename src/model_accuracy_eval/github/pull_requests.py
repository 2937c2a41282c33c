"""Who started this run, and which pull request it belongs to: read from the event, or asked from GitHub."""

from collections.abc import Mapping
from typing import Any

import msgspec

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.github.refusals import Purpose, decode
from model_accuracy_eval.github.response import GitHubResponse
from model_accuracy_eval.github.rest_client import RestClient
from model_accuracy_eval.records.github import Actor, PullRequest

JSON = Mapping[str, Any]


def actor(environment: Mapping[str, str], event: JSON) -> Actor:
    """The author of the comment, else whoever started this attempt: who starts a re-run may be somebody else."""
    if environment.get("GITHUB_EVENT_NAME") == "issue_comment":
        # Somebody else may have edited the comment, so that its author did not ask for what it says now.
        person, source = _at(event, "comment", "user"), "comment.user"
        if event.get("action") != "created":
            person, source = _at(event, "sender"), "sender"
        if person.get("login"):
            login = str(person["login"])
            return Actor(login=login, source=source)
        raise Refused("The event of this comment does not say who wrote it, so no permission can be checked.")
    for name in ("GITHUB_TRIGGERING_ACTOR", "GITHUB_ACTOR"):
        if login := environment.get(name, ""):
            return Actor(login=login, source=name)
    raise Refused("Neither GITHUB_TRIGGERING_ACTOR nor GITHUB_ACTOR says who started this run.")


class _Repository(msgspec.Struct):
    full_name: str


class _Branch(msgspec.Struct):
    sha: str
    repo: _Repository | None = None

    @property
    def name(self) -> str | None:
        return self.repo.full_name if self.repo else None


class _PullRequest(msgspec.Struct):
    number: int
    head: _Branch
    base: _Branch
    state: str = "open"
    merge_commit_sha: str | None = None


def find(client: RestClient, event: JSON, environment: Mapping[str, str], commit: str = "") -> PullRequest | None:
    """The pull request of this run; None when it has none.

    `commit`: what is evaluated, by which it is found where the event names none.
    """
    repository = environment.get("GITHUB_REPOSITORY", "")
    if payload := _at(event, "pull_request"):
        purpose = _purpose(repository, "to tell the pull request of this event")
        return _record(decode(GitHubResponse(status=200, data=payload), purpose, _PullRequest))
    if _at(event, "issue", "pull_request"):
        number = event["issue"]["number"]
        purpose = _purpose(repository, f"to show pull request {number}")
        return _record(decode(client.send("GET", f"/repos/{repository}/pulls/{number}"), purpose, _PullRequest))
    sha = commit or str(_at(event, "workflow_run").get("head_sha") or environment.get("GITHUB_SHA", ""))
    return _of_commit(client, repository, sha) if repository and sha else None


def head(client: RestClient, repository: str, number: int) -> str:
    """The head commit of a pull request at this moment."""
    purpose = _purpose(repository, f"to show pull request {number}")
    return decode(client.send("GET", f"/repos/{repository}/pulls/{number}"), purpose, _PullRequest).head.sha


def _of_commit(client: RestClient, repository: str, sha: str) -> PullRequest | None:
    """The newest open pull request into this repository whose head, or test merge commit, is this commit."""
    purpose = _purpose(repository, f"to list the pull requests of commit {sha[:12]}")
    pulls: list[_PullRequest] = []
    for page in client.pages(f"/repos/{repository}/commits/{sha}/pulls"):
        if page.status == 422:  # a commit that this repository does not have
            return None
        pulls += [pull for pull in decode(page, purpose, list[_PullRequest]) if _belongs(pull, repository, sha)]
    return _record(max(pulls, key=lambda pull: pull.number)) if pulls else None


def _belongs(pull: _PullRequest, repository: str, sha: str) -> bool:
    same_repository = (pull.base.name or "").lower() == repository.lower()
    return pull.state == "open" and same_repository and sha in (pull.head.sha, pull.merge_commit_sha)


def _record(pull: _PullRequest) -> PullRequest:
    head, base = pull.head.name, pull.base.name
    return PullRequest(
        number=pull.number,
        head_sha=pull.head.sha,
        head_repository=head,
        # Without a head repository: a fork that was deleted.
        is_fork=head is None or base is None or head.lower() != base.lower(),
        base_sha=pull.base.sha,
    )


def _at(value: Any, *names: str) -> dict[str, Any]:
    """The object at a path; an empty one if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _purpose(repository: str, action: str) -> Purpose:
    return Purpose(action=action, permission="pull-requests: read", repository=repository)
