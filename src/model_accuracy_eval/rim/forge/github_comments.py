"""One comment on a pull request that is ours alone: found again, edited in place, never written twice.

It is known by its first line, a hidden marker, and by its author. A marker alone proves nothing: anybody can write
one, and model output that quotes one must not make another job's comment look like this job's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.rim.forge.github_answers import Answer, read
from model_accuracy_eval.rim.forge.github_calls import Caller
from model_accuracy_eval.rim.forge.github_refusals import Errand, expect
from model_accuracy_eval.rim.forge.github_text import clean


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


class _Graph(msgspec.Struct):
    data: _Viewer


LIMIT = 65_536
ACTIONS = "github-actions[bot]"
"""Who writes with a workflow's own GITHUB_TOKEN."""

Body = str | Callable[[str], str]
"""What the comment shall say, or how that follows from what it says so far; empty: there is none yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sticky:
    """The one comment that begins with `marker` and was written by `author`."""

    caller: Caller
    repository: str
    number: int
    marker: str
    author: str

    def upsert(self, body: Body) -> str:
        """Leaves exactly one such comment; returns its address."""
        _refuse_marker(self.marker)
        mine = self._mine()
        before = (mine[0].body or "").partition("\n")[2] if mine else ""
        text = _fitting(self.marker, body if isinstance(body, str) else body(before))
        for comment in mine:
            answer = self.caller.send("PATCH", self._one(comment), {"body": text})
            if answer.status in (404, 410):  # somebody has just deleted it
                continue
            url = expect(answer, self._errand, _Comment).html_url
            self._thin_out([other for other in mine if other is not comment])
            return url
        answer = self.caller.send("POST", self._all, {"body": text}, look=self._look)
        return expect(answer, self._errand, _Comment).html_url

    @property
    def _all(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}/comments"

    def _one(self, comment: _Comment) -> str:
        return f"/repos/{self.repository}/issues/comments/{comment.id}"

    @property
    def _errand(self) -> Errand:
        what = f"to comment on pull request {self.number}"
        return Errand(what=what, needs="pull-requests: write", repository=self.repository)

    def _mine(self) -> list[_Comment]:
        """The oldest first. All pages are read: ours may be on any of them."""
        found: list[_Comment] = []
        for page in self.caller.pages(self._all):
            found += [comment for comment in expect(page, self._errand, list[_Comment]) if self._is_mine(comment)]
        return sorted(found, key=lambda comment: comment.id)

    def _is_mine(self, comment: _Comment) -> bool:
        login, body = comment.user.login if comment.user else "", comment.body or ""
        # Logins know no case, and GitHub may give lines back with other ends.
        return login.lower() == self.author.lower() and body.splitlines()[:1] == [self.marker]

    def _look(self) -> Answer | None:
        """Our comment, if a POST that seemed to fail has written it."""
        found = self._mine()
        return Answer(status=201, data=msgspec.to_builtins(found[0])) if found else None

    def _thin_out(self, surplus: Sequence[_Comment]) -> None:
        """Two jobs that began in the same second can each have written one. Ours to remove; not worth failing for."""
        for comment in surplus:
            self.caller.send("DELETE", self._one(comment), tries=2)


def own_login(caller: Caller) -> str:
    """Who the token speaks as. Tokens of apps, GITHUB_TOKEN among them, have no user but can ask for their viewer."""
    answer = caller.send("GET", "/user", tries=2)
    if user := read(answer, _User):
        return user.login
    ask = {"query": "query { viewer { login } }"}
    told = read(caller.send("POST", caller.graphql_url, ask, look=lambda: None, tries=2), _Graph)
    return told.data.viewer.login if told else ACTIONS


def _refuse_marker(marker: str) -> None:
    if not (marker.startswith("<!--") and marker.endswith("-->") and "\n" not in marker):
        raise PublishFailed(
            f"A comment's marker has to be a hidden remark on one line, <!-- … -->; '{marker}' is none."
        )


def _fitting(marker: str, body: str) -> str:
    text = f"{marker}\n{clean(body)}"
    if len(text) > LIMIT:
        raise PublishFailed(
            f"A comment may have {LIMIT:,} characters and this one has {len(text):,} with its marker; it was not sent."
        )
    return text
