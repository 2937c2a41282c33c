"""A GitHub App of the organisation, as which check, status and comment are written."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from github import Auth, GithubException

from model_accuracy_eval.errors import BadValue, PublishFailed
from model_accuracy_eval.github.refusals import Purpose
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.system.clock import SignalClock

WRITES = r"/(check-runs|statuses|issues)(/|$)|/(user|graphql)$"
"""Addresses of what an app writes, and of the question who it is."""
_PERMISSIONS = {"checks": "write", "statuses": "write", "pull_requests": "write"}
_SPARE_SECONDS = 300
"""A token is made anew so long before its hour is over."""


class Installation(Auth.Auth):
    """The token that an app has in one repository, and for these permissions alone."""

    token_type = "token"  # noqa: S105 - the word before it

    def __init__(
        self,
        environment: Mapping[str, str],
        app_id: str,
        private_key: str,
        clock: SignalClock,
        mask: Callable[[str], None],
    ) -> None:
        app = Auth.AppAuth(app_id, private_key)
        try:
            _ = app.token
        except Exception as error:  # of one of the libraries that sign
            raise BadValue("The input 'app-private-key' is no private key; give the whole .pem file.") from error
        self._requester = GitHubRequester(environment, app, clock)
        self._app_id = app_id
        self._repository = environment.get("GITHUB_REPOSITORY", "")
        self._mask = mask
        self._token, self._ends = "", 0.0

    @property
    def token(self) -> str:
        if time.time() > self._ends - _SPARE_SECONDS:
            with Purpose(action=f"to speak as the app {self._app_id}", repository=self._repository).explained():
                made = self._made()
                self._token = made["token"]
                self._ends = datetime.fromisoformat(made["expires_at"].replace("Z", "+00:00")).timestamp()
            self._mask(self._token)
        return self._token

    def _made(self) -> dict[str, Any]:
        ask = self._requester.requestJsonAndCheck
        try:
            _, found = ask("GET", f"/repos/{self._repository}/installation")
        except GithubException as error:
            if error.status not in (401, 404):
                raise
            raise PublishFailed(
                f"The app {self._app_id} is not installed in {self._repository}, or the key is another app's."
            ) from error
        wanted = {"permissions": _PERMISSIONS, "repositories": [self._repository.rpartition("/")[2]]}
        path = f"/app/installations/{found['id']}/access_tokens"
        _, made = self._requester.once(lambda: ask("POST", path, input=wanted))
        return dict(made)
