"""One comment on a pull request that is found again and edited in place, never written twice.

It is recognised by its first line, a hidden marker, and by its author. The marker alone would not do: anybody can
write one, and model output may quote one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.refusals import Purpose, decode
from model_accuracy_eval.github.response import GitHubResponse, read
from model_accuracy_eval.github.rest_client import RestClient
from model_accuracy_eval.github.text_limits import clean


class _User(msgspec.Struct):
    login: str


class _Comment(msgspec.Struct):
    id: int
    html_url: str
    body: str | None = None
    user: _User | None = None
    """None when the account was deleted."""


class _Viewer(msgspec.Struct):
    viewer: _User


class _GraphQlResponse(msgspec.Struct):
    data: _Viewer


LIMIT = 65_536
"""Characters."""
ACTIONS_BOT = "github-actions[bot]"
"""The author of what is written with a workflow's own GITHUB_TOKEN."""

CommentBody = str | Callable[[str], str]
"""The new text, or a function from the present text to the new one; the present text is empty if there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnComment:
    """The one comment that begins with `marker` and was written by `author`."""

    client: RestClient
    repository: str
    number: int
    marker: str
    author: str

    def upsert(self, body: CommentBody) -> str:
        """Leaves exactly one such comment; returns its URL."""
        _refuse_marker(self.marker)
        comments = self._own_comments()
        present = (comments[0].body or "").partition("\n")[2] if comments else ""
        text = _marked(self.marker, body if isinstance(body, str) else body(present))
        for comment in comments:
            response = self.client.send("PATCH", self._path(comment), {"body": text})
            if response.status in (404, 410):  # somebody has just deleted it
                continue
            url = decode(response, self._purpose, _Comment).html_url
            self._delete([other for other in comments if other is not comment])
            return url
        response = self.client.send("POST", self._list_path, {"body": text}, look=self._look)
        return decode(response, self._purpose, _Comment).html_url

    @property
    def _list_path(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}/comments"

    def _path(self, comment: _Comment) -> str:
        return f"/repos/{self.repository}/issues/comments/{comment.id}"

    @property
    def _purpose(self) -> Purpose:
        action = f"to comment on pull request {self.number}"
        return Purpose(action=action, permission="pull-requests: write", repository=self.repository)

    def _own_comments(self) -> list[_Comment]:
        """The oldest first. All pages are read: ours may be on any of them."""
        comments: list[_Comment] = []
        for page in self.client.pages(self._list_path):
            comments += [comment for comment in decode(page, self._purpose, list[_Comment]) if self._is_own(comment)]
        return sorted(comments, key=lambda comment: comment.id)

    def _is_own(self, comment: _Comment) -> bool:
        login, body = comment.user.login if comment.user else "", comment.body or ""
        # Logins are not case-sensitive, and GitHub may return other line ends.
        return login.lower() == self.author.lower() and body.splitlines()[:1] == [self.marker]

    def _look(self) -> GitHubResponse | None:
        """Our comment, if a POST that seemed to fail has written it."""
        comments = self._own_comments()
        return GitHubResponse(status=201, data=msgspec.to_builtins(comments[0])) if comments else None

    def _delete(self, surplus: Sequence[_Comment]) -> None:
        """Two jobs that began in the same second can each have written one. A failure here is no reason to fail."""
        for comment in surplus:
            self.client.send("DELETE", self._path(comment), attempts=2)


def own_login(client: RestClient) -> str:
    """The login behind the token. Tokens of apps, GITHUB_TOKEN among them, have no user but may ask for `viewer`."""
    if user := read(client.send("GET", "/user", attempts=2), _User):
        return user.login
    query = {"query": "query { viewer { login } }"}
    graph = read(client.send("POST", client.graphql_url, query, look=lambda: None, attempts=2), _GraphQlResponse)
    return graph.data.viewer.login if graph else ACTIONS_BOT


def _refuse_marker(marker: str) -> None:
    if not (marker.startswith("<!--") and marker.endswith("-->") and "\n" not in marker):
        raise PublishFailed(
            f"The marker of a comment has to be an HTML comment on one line, <!-- … -->; '{marker}' is not."
        )


def _marked(marker: str, body: str) -> str:
    text = f"{marker}\n{clean(body)}"
    if len(text) > LIMIT:
        raise PublishFailed(
            f"A comment may have {LIMIT:,} characters and this one has {len(text):,} with its marker; it was not sent."
        )
    return text
