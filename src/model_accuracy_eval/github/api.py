"""GitHub with one token: reads permissions and pull requests; writes comments, checks, statuses and lines of a file.

Every refusal becomes one sentence that names the missing permission: `Refused` when nothing can be started without
it, `PublishFailed` when a result cannot be published.
"""

import base64
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import requests
from github import GithubException, InputGitTreeElement
from github.AuthenticatedUser import AuthenticatedUser
from github.Issue import Issue
from github.IssueComment import IssueComment
from github.Repository import Repository

from model_accuracy_eval.errors import PublishFailed, Refused, Stopped
from model_accuracy_eval.github import facts, refusals
from model_accuracy_eval.github.checks import ChecksApi, clean
from model_accuracy_eval.github.refusals import FOREIGN, Purpose
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.records.report import Hardware, Permission
from model_accuracy_eval.system.retry import draw

ACTIONS_BOT = "github-actions[bot]"
"""The author of what is written with a workflow's own GITHUB_TOKEN."""

_TRIES = 8
_SETTLED = 1.5
"""Seconds after which a job that had read before we wrote has written."""
_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
"""Seconds after the first race that was lost, twice as many after each further one, and the most."""


class _Version(NamedTuple):
    """What is there now of a file on a branch."""

    content: bytes
    sha: str | None
    """None: there is no such file."""
    branch: bool


class GitHubRest(ChecksApi):
    """One server and one token."""

    def __enter__(self) -> "GitHubRest":
        return self

    def __exit__(self, *_: object) -> None:
        self._requester.close()

    def permission(self, repository: str, login: str) -> Permission:
        return facts.permission(self._requester, repository, login)

    def hardware(self, repository: str) -> Hardware:
        return facts.hardware(self._requester, repository)

    def file(self, repository: str, path: str) -> str | None:
        """A file of the default branch; None if it has none of that name."""
        purpose = Purpose(action=f"to show {path}", permission="contents: read", repository=repository, error=Refused)
        with purpose.explained():
            try:
                return facts.file(self._requester.repository(repository), path).decode()
            except GithubException as error:
                if error.status == 404:
                    return None
                raise

    def react(self, repository: str, comment: int, content: str) -> None:
        """Puts an emoji at a comment."""
        self._post(repository, f"issues/comments/{comment}/reactions", {"content": content}, "to react to a comment")

    def reply(self, repository: str, number: int, text: str) -> None:
        """Writes a further comment on a pull request."""
        self._post(repository, f"issues/{number}/comments", {"body": clean(text)}, "to answer a comment")

    def _post(self, repository: str, path: str, body: dict[str, str], action: str) -> None:
        with Purpose(action=action, permission="pull-requests: write", repository=repository).explained():
            url = f"{self._requester.repository(repository).url}/{path}"
            self._requester.once(lambda: self._requester.requestJsonAndCheck("POST", url, input=body))

    def commits(self, repository: str, number: int) -> list[str]:
        return facts.commits(self._requester, repository, number)

    def upsert_comment(
        self, repository: str, number: int, marker: str, merge: Callable[[Sequence[str]], str | None]
    ) -> str:
        """Leaves exactly one comment of ours that begins with the marker, `<!-- … -->`; returns its URL.

        It is recognised by that first line, and by its author. The marker alone would not do: anybody can write one,
        and model output may quote one. `merge` makes its text of what is there; None: that is as it should be. Another
        job may write between our look and our edit, which GitHub lets pass: so we look again a moment later.
        """
        action = f"to comment on pull request {number}"
        purpose = Purpose(action=action, permission="pull-requests: write", repository=repository)
        issue, patience = self._requester.repository(repository).get_issue(number), self._requester.patience
        with purpose.explained():
            author = _own_login(self._requester)
        url = ""
        for _ in range(_TRIES):
            with purpose.explained():
                own = _own(issue, marker, author)
            text = merge([comment.body.partition("\n")[2] for comment in own])
            if own and text is None:
                return own[0].html_url
            with purpose.explained():
                url = self._write(issue, own, f"{marker}\n{clean(text or '')}", lambda: _own(issue, marker, author))
            if patience.is_stopping:
                break
            with contextlib.suppress(Stopped):
                patience.wait(_SETTLED)
        return url

    def _write(
        self, issue: Issue, own: Sequence[IssueComment], text: str, look: Callable[[], Sequence[IssueComment]]
    ) -> str:
        for index, comment in enumerate(own):
            try:
                self._requester.once(partial(comment.edit, text))
            except GithubException as error:
                if error.status in (404, 410):  # somebody has just deleted it
                    continue
                raise
            _delete(own[index + 1 :])
            return comment.html_url
        return self._requester.once(lambda: issue.create_comment(text), lambda: next(iter(look()), None)).html_url

    def append_to_branch(
        self, repository: str, branch: str, path: str, make: Callable[[bytes], bytes], *, message: str
    ) -> bytes:
        """Adds what `make` makes of a file's content; returns the new content. Makes file and branch if need be.

        Nothing is ever forced: GitHub takes a new version only in the place of the one that was read. If another job
        was faster, its version is read and added to.
        """
        action = f"to add to {path} on the branch {branch}"
        purpose = Purpose(action=action, permission="contents: write", repository=repository)
        place = self._requester.repository(repository)
        for number in range(_TRIES):
            with purpose.explained():
                before = _read(place, branch, path)
            added = make(before.content)
            if not added:
                return before.content
            whole = before.content + (b"\n" if before.content and not before.content.endswith(b"\n") else b"") + added
            with purpose.explained():
                try:
                    self._take_place(place, branch, path, before, whole, message=message)
                except GithubException as error:
                    if not _is_lost_race(error):
                        raise
                else:
                    return whole
            self._requester.patience.wait(min(_PAUSE * 2.0**number, _LONGEST_PAUSE) * draw())
        raise PublishFailed(
            f"The branch {branch} of {repository} was changed by others {_TRIES} times while {path} was to be added "
            "to; the run is in the artifact: add it with `model-accuracy-eval history RUN --append FILE`."
        )

    def _take_place(
        self, place: Repository, branch: str, path: str, before: _Version, whole: bytes, *, message: str
    ) -> None:
        if before.sha is not None:
            place.update_file(path, message, whole, before.sha, branch=branch)
        elif before.branch:
            place.create_file(path, message, whole, branch=branch)
        else:
            # A branch of its own with this file alone, which shares nothing with the others. What is made twice does no
            # harm: nothing refers to the first one, and a second branch is a race with oneself.
            once = self._requester.once
            entry = InputGitTreeElement(path, "100644", "blob", content=whole.decode())
            tree = once(lambda: place.create_git_tree([entry]))
            commit = once(lambda: place.create_git_commit(message, tree, []))
            once(lambda: place.create_git_ref(f"refs/heads/{branch}", commit.sha))


def _own(issue: Issue, marker: str, author: str) -> list[IssueComment]:
    """The oldest first. All pages are read: ours may be on any of them."""

    def is_own(comment: IssueComment) -> bool:
        # The author's account may be gone. Logins are not case-sensitive, and GitHub may return other line ends.
        login = comment.user.login if comment.user else ""
        return login.lower() == author.lower() and (comment.body or "").splitlines()[:1] == [marker]

    return sorted(filter(is_own, issue.get_comments()), key=lambda comment: comment.id)


def _delete(surplus: Sequence[IssueComment]) -> None:
    """Two jobs that began in the same second can each have written one. A failure here is no reason to fail."""
    for comment in surplus:
        with contextlib.suppress(GithubException, requests.RequestException):
            comment.delete()


def _own_login(requester: GitHubRequester) -> str:
    """The login behind the token. Tokens of apps, GITHUB_TOKEN among them, have no user but may ask for `viewer`."""
    with contextlib.suppress(GithubException, *FOREIGN):
        if login := AuthenticatedUser(requester, url="/user").login:
            return login
    with contextlib.suppress(GithubException, *FOREIGN):
        _, answer = requester.graphql_query("query { viewer { login } }", {})
        return str(answer["data"]["viewer"]["login"])
    return ACTIONS_BOT


def _read(repository: Repository, branch: str, path: str) -> _Version:
    try:
        file = repository.get_contents(path, ref=branch)
    except GithubException as error:
        if error.status != 404:
            raise
        return _Version(b"", None, branch="no commit found" not in refusals.message(error).lower())
    if isinstance(file, list):
        raise PublishFailed(f"{path} is a folder on the branch {branch}; name a file in history-file.")
    if file.encoding == "base64":
        return _Version(file.decoded_content, file.sha, branch=True)
    # GitHub shows the content of a file of more than a megabyte by its hash alone.
    return _Version(base64.b64decode(repository.get_git_blob(file.sha).content), file.sha, branch=True)


def _is_lost_race(error: GithubException) -> bool:
    """409: the file or the branch is not the one that was read. 422: since then there is a file, or a branch. Rules of
    the branch are no race, though GitHub answers them with the same numbers."""
    words = refusals.message(error).lower()
    if "rule" in words or "protected" in words:
        return False
    return error.status == 409 or (error.status == 422 and ("already exists" in words or "sha" in words))
