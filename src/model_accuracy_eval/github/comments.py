"""One comment on a pull request that is found again and edited in place, never written twice.

It is recognised by its first line, a hidden marker, and by its author. The marker alone would not do: anybody can
write one, and model output may quote one.
"""

import contextlib
from collections.abc import Sequence
from functools import partial

import requests
from github import GithubException
from github.AuthenticatedUser import AuthenticatedUser
from github.Issue import Issue
from github.IssueComment import IssueComment

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.checks import clean
from model_accuracy_eval.github.refusals import FOREIGN, Purpose
from model_accuracy_eval.github.requester import GitHubRequester

LIMIT = 65_536
"""Characters."""
ACTIONS_BOT = "github-actions[bot]"
"""The author of what is written with a workflow's own GITHUB_TOKEN."""


def upsert(requester: GitHubRequester, repository: str, number: int, *, marker: str, body: str) -> str:
    """Leaves exactly one comment of ours that begins with the marker, `<!-- … -->`; returns its URL."""
    if not (marker.startswith("<!--") and marker.endswith("-->") and "\n" not in marker):
        raise PublishFailed(
            f"The marker of a comment has to be an HTML comment on one line, <!-- … -->; '{marker}' is not."
        )
    action = f"to comment on pull request {number}"
    purpose = Purpose(action=action, permission="pull-requests: write", repository=repository)
    issue = requester.repository(repository).get_issue(number)
    with purpose.explained():
        author = own_login(requester)
        own = _own(issue, marker, author)
    text = _marked(marker, body)
    with purpose.explained():
        for index, comment in enumerate(own):
            try:
                requester.once(partial(comment.edit, text))
            except GithubException as error:
                if error.status in (404, 410):  # somebody has just deleted it
                    continue
                raise
            _delete(own[index + 1 :])
            return comment.html_url
        return requester.once(
            lambda: issue.create_comment(text), lambda: next(iter(_own(issue, marker, author)), None)
        ).html_url


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


def own_login(requester: GitHubRequester) -> str:
    """The login behind the token. Tokens of apps, GITHUB_TOKEN among them, have no user but may ask for `viewer`."""
    with contextlib.suppress(GithubException, *FOREIGN):
        if login := AuthenticatedUser(requester, url="/user").login:
            return login
    with contextlib.suppress(GithubException, *FOREIGN):
        _, answer = requester.graphql_query("query { viewer { login } }", {})
        return str(answer["data"]["viewer"]["login"])
    return ACTIONS_BOT


def _marked(marker: str, body: str) -> str:
    text = f"{marker}\n{clean(body)}"
    if len(text) > LIMIT:
        raise PublishFailed(
            f"A comment may have {LIMIT:,} characters and this one has {len(text):,} with its marker; it was not sent."
        )
    return text
