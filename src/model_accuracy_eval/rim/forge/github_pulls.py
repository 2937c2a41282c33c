"""Who started this run, and which pull request it belongs to: from the event first, by asking second."""

from collections.abc import Mapping
from typing import Any

import msgspec

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.forge import Actor, PullRequest
from model_accuracy_eval.rim.forge.github_answers import Answer
from model_accuracy_eval.rim.forge.github_calls import Caller
from model_accuracy_eval.rim.forge.github_refusals import Errand, expect

JSON = Mapping[str, Any]


def actor(environment: Mapping[str, str], event: JSON) -> Actor:
    """Whoever wrote the comment, else whoever pressed the button last: a re-run is not the first run's author's."""
    if environment.get("GITHUB_EVENT_NAME") == "issue_comment":
        # Others may edit a comment, and its author has not asked for what it says then.
        person, source = _at(event, "comment", "user"), "comment.user"
        if event.get("action") != "created":
            person, source = _at(event, "sender"), "sender"
        if person.get("login"):
            login = str(person["login"])
            return Actor(login=login, bot=_is_bot(login) or person.get("type") == "Bot", source=source)
        raise Refused("The event of this comment does not say who wrote it, so nobody's permission can be checked.")
    for name in ("GITHUB_TRIGGERING_ACTOR", "GITHUB_ACTOR"):
        if login := environment.get(name, ""):
            return Actor(login=login, bot=_is_bot(login), source=name)
    raise Refused("Neither GITHUB_TRIGGERING_ACTOR nor GITHUB_ACTOR says who started this run.")


class _Repository(msgspec.Struct):
    full_name: str


class _Side(msgspec.Struct):
    sha: str
    repo: _Repository | None = None

    @property
    def name(self) -> str | None:
        return self.repo.full_name if self.repo else None


class _Pull(msgspec.Struct):
    number: int
    head: _Side
    base: _Side
    state: str = "open"
    merge_commit_sha: str | None = None


def find(caller: Caller, event: JSON, environment: Mapping[str, str]) -> PullRequest | None:
    """The pull request of this run; None when it has none."""
    repository = environment.get("GITHUB_REPOSITORY", "")
    if told := _at(event, "pull_request"):
        errand = _errand(repository, "to tell the pull request of this event")
        return _record(expect(Answer(status=200, data=told), errand, _Pull))
    if _at(event, "issue", "pull_request"):
        number = event["issue"]["number"]
        errand = _errand(repository, f"to show pull request {number}")
        return _record(expect(caller.send("GET", f"/repos/{repository}/pulls/{number}"), errand, _Pull))
    sha = str(_at(event, "workflow_run").get("head_sha") or environment.get("GITHUB_SHA", ""))
    return _of_commit(caller, repository, sha) if repository and sha else None


def _of_commit(caller: Caller, repository: str, sha: str) -> PullRequest | None:
    """The newest open pull request into this repository whose head, or trial merge, is the commit."""
    errand = _errand(repository, f"to list the pull requests of commit {sha[:12]}")
    found: list[_Pull] = []
    for page in caller.pages(f"/repos/{repository}/commits/{sha}/pulls"):
        if page.status == 422:  # a commit that this repository does not have
            return None
        found += [pull for pull in expect(page, errand, list[_Pull]) if _belongs(pull, repository, sha)]
    return _record(max(found, key=lambda pull: pull.number)) if found else None


def _belongs(pull: _Pull, repository: str, sha: str) -> bool:
    ours = (pull.base.name or "").lower() == repository.lower()
    return pull.state == "open" and ours and sha in (pull.head.sha, pull.merge_commit_sha)


def _record(pull: _Pull) -> PullRequest:
    head, base = pull.head.name, pull.base.name
    return PullRequest(
        number=pull.number,
        head_sha=pull.head.sha,
        head_repository=head,
        # Without a head repository the fork was deleted: it was one.
        is_fork=head is None or base is None or head.lower() != base.lower(),
        base_sha=pull.base.sha,
    )


def _at(value: Any, *names: str) -> dict[str, Any]:
    """The object at a path; an empty one where the path ends early, or in a null."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _is_bot(login: str) -> bool:
    return login.endswith("[bot]")


def _errand(repository: str, what: str) -> Errand:
    return Errand(what=what, needs="pull-requests: read", repository=repository)
