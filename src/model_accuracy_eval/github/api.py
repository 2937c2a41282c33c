"""Implements `ports.GitHubApi`: reads permissions and pull requests; writes comments, checks and statuses.

Every refusal becomes one sentence that names the missing permission: `Refused` when nothing can be started without
it, `PublishFailed` when a result cannot be published.
"""

from collections.abc import Callable

from model_accuracy_eval.github import branch_file, comments, facts
from model_accuracy_eval.github.checks import ChecksApi
from model_accuracy_eval.records.report import Hardware, Permission


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

    def head(self, repository: str, number: int) -> str:
        return facts.head(self._requester, repository, number)

    def append_to_branch(
        self, repository: str, branch: str, path: str, make: Callable[[bytes], bytes], *, message: str
    ) -> bytes:
        return branch_file.append(self._requester, repository, branch=branch, path=path, make=make, message=message)

    def upsert_comment(self, repository: str, number: int, marker: str, body: str) -> str:
        """Writes our comment, or edits it; returns its URL."""
        return comments.upsert(self._requester, repository, number, marker=marker, body=body)
