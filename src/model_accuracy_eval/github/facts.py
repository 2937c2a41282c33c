"""What is asked before anything starts: who wants it, for which pull request, with which permission and hardware."""

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

import yaml
from github import GithubException
from github.Commit import Commit
from github.ContentFile import ContentFile
from github.PaginatedList import PaginatedList
from github.PullRequest import PullRequest as GitHubPull
from github.Repository import Repository

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.github.refusals import FOREIGN, Purpose, message
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.records.report import Actor, Hardware, Permission, PullRequest

PROPERTIES = ("hardware", "hardware-type", "hardware_type")
FILES = ("accuracy.yaml", "accuracy.yml")
_TOPICS = ("npu", "ascend")
"""Topics that count without `hardware-` before them."""
_NPUS = ("ASCEND", "ATLAS")
"""What names of NPUs begin with: of the maker's chips, and of its machines."""
_LARGEST = 65_536
"""Bytes of a file that is worth reading for one word."""


def actor(environment: Mapping[str, str], event: Mapping[str, Any]) -> Actor:
    """The author of the comment, else whoever started this attempt: who starts a re-run may be somebody else."""
    if environment.get("GITHUB_EVENT_NAME") == "issue_comment":
        # Somebody else may have edited the comment, so that its author did not ask for what it says now.
        person, source = _at(event, "comment", "user"), "comment.user"
        if event.get("action") != "created":
            person, source = _at(event, "sender"), "sender"
        if person.get("login"):
            return Actor(login=str(person["login"]), source=source)
        raise Refused("The event of this comment does not say who wrote it, so no permission can be checked.")
    for name in ("GITHUB_TRIGGERING_ACTOR", "GITHUB_ACTOR"):
        if login := environment.get(name, ""):
            return Actor(login=login, source=name)
    raise Refused("Neither GITHUB_TRIGGERING_ACTOR nor GITHUB_ACTOR says who started this run.")


def permission(requester: GitHubRequester, repository: str, login: str) -> Permission:
    purpose = Purpose(action=f"to tell the permission of '{login}'", repository=repository, error=Refused)
    with purpose.explained():
        # PyGithub's own two methods would ask twice, for the level and for the role's name.
        path = f"{requester.repository(repository).url}/collaborators/{quote(login, safe='')}/permission"
        _, answer = requester.requestJsonAndCheck("GET", path)
        level = str(answer["permission"])
        return Permission(login=login, repository=repository, level=level, role_name=answer.get("role_name") or level)


def pull_request(
    requester: GitHubRequester, event: Mapping[str, Any], environment: Mapping[str, str], commit: str = ""
) -> PullRequest | None:
    """The pull request of this run; None when it has none.

    `commit`: what is evaluated, by which it is found where the event names none.
    """
    name = environment.get("GITHUB_REPOSITORY", "")
    if payload := _at(event, "pull_request"):
        with _purpose(name, "to tell the pull request of this event").explained():
            return _record(GitHubPull(requester, {}, payload, completed=True))
    if _at(event, "issue", "pull_request"):
        number = event["issue"]["number"]
        with _purpose(name, f"to show pull request {number}").explained():
            return _record(requester.repository(name).get_pull(number))
    sha = commit or str(_at(event, "workflow_run").get("head_sha") or environment.get("GITHUB_SHA", ""))
    if not (name and sha):
        return None
    with _purpose(name, f"to list the pull requests of commit {sha[:12]}").explained():
        return _of_commit(requester.repository(name), name, sha)


def unseen(requester: GitHubRequester, pull: PullRequest, event: Mapping[str, Any], name: str, commit: str) -> str:
    """Why the comment of this event does not mean the commit; empty if it names it, or if it was the head by then."""
    comment = _at(event, "comment")
    if commit in str(comment.get("body", "")).split():
        return ""
    cure = f"read {pull.head_sha}, then say `/evaluate {pull.head_sha}`."
    if pull.is_fork:
        return f"The code of pull request {pull.number} is a fork's, so the comment has to name the commit: {cure}"
    purpose = Purpose(action=f"to list the pushes to {pull.head_ref}", permission="contents: read", repository=name)
    seen = ""
    # Times in commits are their author's; these are GitHub's own. A list that cannot be read shows no head.
    with contextlib.suppress(GithubException, *FOREIGN), purpose.outages():
        written = _time(comment["updated_at"])
        path = f"{requester.repository(name).url}/activity"
        _, pushes = requester.requestJsonAndCheck("GET", path, {"ref": f"refs/heads/{pull.head_ref}", "per_page": 100})
        seen = next((str(push["after"]) for push in pushes if _time(push["timestamp"]) < written), "")
    if seen == commit:
        return ""
    was = f"was {seen[:12]}, not {commit[:12]}" if seen else "cannot be told"
    return f"The head of pull request {pull.number} when the comment was written {was}: {cure}"


def _time(stamp: Any) -> datetime:
    return datetime.fromisoformat(str(stamp).replace("Z", "+00:00"))


def commits(requester: GitHubRequester, repository: str, number: int) -> list[str]:
    """Those of a pull request at this moment, the oldest first; the head is last, though GitHub lists 250 at most."""
    with _purpose(repository, f"to show pull request {number}").explained():
        place = requester.repository(repository)
        listed = PaginatedList(Commit, requester, f"{place.url}/pulls/{number}/commits", None)
        found = [_text(commit.sha) for commit in listed]
        head = _record(place.get_pull(number)).head_sha
        return [*(sha for sha in found if sha != head), head]


def _purpose(repository: str, action: str) -> Purpose:
    return Purpose(action=action, permission="pull-requests: read", repository=repository)


def _of_commit(repository: Repository, name: str, sha: str) -> PullRequest | None:
    """The newest open pull request into this repository whose head, or test merge commit, is this commit."""
    try:
        pulls = [
            pull
            for pull in repository.get_commit(sha).get_pulls()
            if pull.state == "open"
            and (_name(pull.base.repo) or "").lower() == name.lower()
            and sha in (pull.head.sha, pull.merge_commit_sha)
        ]
    except GithubException as error:
        if error.status == 422:  # a commit that this repository does not have
            return None
        raise
    return _record(max(pulls, key=lambda pull: pull.number)) if pulls else None


def _record(pull: GitHubPull) -> PullRequest:
    ours, theirs = _name(pull.base.repo), _name(pull.head.repo)
    return PullRequest(
        number=pull.number,
        head_sha=_text(pull.head.sha),
        head_repository=theirs,
        # Without a head repository: a fork that was deleted.
        is_fork=theirs is None or ours is None or theirs.lower() != ours.lower(),
        head_ref=pull.head.ref or "",
        author=(pull.user.login or "") if pull.user else "",
    )


def _name(repository: Repository | None) -> str | None:
    return None if repository is None else repository.full_name


def _text(value: str | None) -> str:
    """PyGithub gives None for what an answer does not have."""
    if value is None:
        raise TypeError("a field is missing")
    return value


def _at(value: Any, *names: str) -> dict[str, Any]:
    """The object at a path; an empty one if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def hardware(requester: GitHubRequester, repository: str) -> Hardware:
    """Looks first where the fewest people can write: a custom property, then a topic, then a file."""
    notes: list[str] = []
    for source, read, none in _SOURCES:
        try:
            with Purpose(action=f"to tell the hardware type ({source})", repository=repository).outages():
                types = _types(read(requester.repository(repository)))
        except (GithubException, yaml.YAMLError, *FOREIGN) as error:
            notes.append(f"{source}: {_why(error, source)}")
            continue
        if types:
            return Hardware(types=types, source=source, notes=tuple(notes))
        notes.append(f"{source}: {none}")
    return Hardware(notes=tuple(notes))


def _property(repository: Repository) -> Any:
    values = repository.get_custom_properties()
    return next((values[name] for name in PROPERTIES if _types(values.get(name))), None)


def _topics(repository: Repository) -> list[str]:
    topics = repository.get_topics()
    return [name.removeprefix("hardware-") for name in topics if name.startswith("hardware-") or name in _TOPICS]


def file(repository: Repository, path: str) -> bytes:
    """A file without a ref is the default branch's: a pull request must not decide what it is tested on."""
    found = repository.get_contents(path)
    return found.decoded_content if isinstance(found, ContentFile) else b""


def _in_file(path: str, repository: Repository) -> Any:
    data = file(repository, path)
    content = yaml.safe_load(data) if len(data) <= _LARGEST else None
    return content.get("hardware") if isinstance(content, dict) else None


_SOURCES: tuple[tuple[str, Callable[[Repository], Any], str], ...] = (
    ("custom property", _property, f"none of {', '.join(PROPERTIES)} is set"),
    ("topic", _topics, "none of the topics names a hardware, as hardware-npu does"),
    *(
        (f"{name} on the default branch", partial(_in_file, name), "it has no line such as `hardware: NPU`")
        for name in FILES
    ),
)
"""Where the hardware may stand, how it is read there, and what is said of one that has none."""


def _types(value: Any) -> tuple[str, ...]:
    """One word or several, in capitals, each once."""
    items = value if isinstance(value, list) else [value]
    names = [item.strip().upper() for item in items if isinstance(item, str)]
    return tuple(dict.fromkeys("NPU" if name.startswith(_NPUS) else name for name in names if name))


def _why(error: Exception, source: str) -> str:
    """Why a source could not be read."""
    if not isinstance(error, GithubException):
        return "what is there cannot be read"
    if error.status == 404:
        return "there is none, or the token cannot see it"
    if error.status == 403 and source.startswith(FILES):
        return "the token lacks `contents: read`; add it under `permissions:` of the job"
    return f"could not be read (HTTP {error.status}{f' {message(error)}' if message(error) else ''})"
