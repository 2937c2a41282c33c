"""A client whose waiting takes no time and is remembered."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.servers.fake_github import TOKEN, FakeGitHub

from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.checks import clean
from model_accuracy_eval.github.requester import PATIENCE, GitHubRequester
from model_accuracy_eval.system.clock import SignalClock


class Naps(SignalClock):
    """Its sleeps count as if they had taken their time."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def elapsed(self) -> float:
        return time.monotonic() + sum(self.seconds)

    def sleep(self, seconds: float) -> None:
        self.check()
        self.seconds.append(seconds)


def requester(
    hub: FakeGitHub,
    *,
    token: str = TOKEN,
    naps: SignalClock | None = None,
    timeout: float = 5,
    patience: float = PATIENCE,
) -> GitHubRequester:
    return GitHubRequester({"GITHUB_API_URL": hub.url}, token, naps or Naps(), timeout=timeout, patience=patience)


def client(hub: FakeGitHub, **patience: Any) -> GitHubRest:
    return GitHubRest(requester(hub, **patience))


def said(text: str) -> Callable[[Sequence[str]], str | None]:
    """A job that replaces whatever is there."""
    return lambda bodies: None if list(bodies) == [clean(text)] else text
