"""GitHub as a run needs it: who asks, for what hardware, on which pull request; and where the verdict is put.

Every refusal becomes one sentence that names the missing permission: `Refused` when it stands in the way of starting,
`PublishFailed` when it stands in the way of telling.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from model_accuracy_eval.records.forge import (
    Annotation,
    Check,
    CheckConclusion,
    Hardware,
    Permission,
    PullRequest,
    StatusState,
)
from model_accuracy_eval.rim.forge import github_checks, github_comments, github_facts, github_pulls
from model_accuracy_eval.rim.forge.github_calls import Caller, Waits

PUBLIC = "https://api.github.com"

STATES: Mapping[CheckConclusion, StatusState] = {
    "success": "success",
    "neutral": "success",
    "skipped": "success",
    "failure": "failure",
    "action_required": "failure",
    "timed_out": "error",
    "cancelled": "error",
}
"""What a conclusion is as a commit status, which knows four states only."""


class GitHub:
    """One server and one token. `hurry` when somebody wants the program to end; `close` at the end."""

    def __init__(
        self,
        environment: Mapping[str, str],
        token: str,
        *,
        waits: Waits | None = None,
        login: str | None = None,
        **seams: Callable[..., Any],
    ) -> None:
        """`login`: whose comments are ours, if it is known. `seams`: time and chance, for tests."""
        root = environment.get("GITHUB_API_URL") or PUBLIC
        self._caller = Caller(root=root, token=token, waits=waits, **seams)
        self._login = login

    def __enter__(self) -> "GitHub":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._caller.close()

    def hurry(self, seconds: float) -> None:
        """All talk from now on, good answers included, has about so many seconds; what does not fit is not sent."""
        self._caller.hurry(seconds)

    def permission(self, repository: str, login: str) -> Permission:
        return github_facts.permission(self._caller, repository, login)

    def hardware(self, repository: str) -> Hardware:
        return github_facts.hardware(self._caller, repository)

    def pull_request(self, event: Mapping[str, Any], environment: Mapping[str, str]) -> PullRequest | None:
        return github_pulls.find(self._caller, event, environment)

    def upsert_comment(self, repository: str, number: int, marker: str, body: github_comments.Body) -> str:
        """Writes our comment, or edits it; returns its address. The marker, `<!-- … -->`, becomes its first line."""
        self._login = self._login or github_comments.own_login(self._caller)
        sticky = github_comments.Sticky(
            caller=self._caller, repository=repository, number=number, marker=marker, author=self._login
        )
        return sticky.upsert(body)

    def open_check(
        self,
        repository: str,
        sha: str,
        *,
        name: str,
        key: str,
        title: str,
        summary: str,
        details_url: str | None = None,
    ) -> Check:
        """Opens a check run, in progress. `key` must differ from run to run: it is how ours is recognised."""
        output = github_checks.output_of(title, summary)
        return github_checks.start(
            self._caller, repository, sha, name=name, key=key, output=output, details_url=details_url
        )

    def update_check(self, check: Check, *, title: str, summary: str) -> None:
        """Progress; one try, no waiting."""
        github_checks.progress(self._caller, check, title=title, summary=summary)

    def complete_check(
        self,
        check: Check,
        *,
        conclusion: CheckConclusion,
        title: str,
        summary: str,
        text: str | None = None,
        annotations: Sequence[Annotation] = (),
        details_url: str | None = None,
    ) -> tuple[str, ...]:
        """Closes the check run. Returned are sentences about annotations that did not get through."""
        return github_checks.complete(
            self._caller,
            check,
            conclusion=conclusion,
            output=github_checks.output_of(title, summary, text),
            annotations=annotations,
            details_url=details_url,
        )

    def commit_status(
        self,
        repository: str,
        sha: str,
        *,
        state: StatusState,
        context: str,
        description: str,
        target_url: str | None = None,
    ) -> None:
        github_checks.status(
            self._caller, repository, sha, state=state, context=context, description=description, target_url=target_url
        )
