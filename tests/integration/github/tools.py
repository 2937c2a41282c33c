"""A client whose waiting takes no time and is remembered."""

from typing import Any

from tests.servers.fake_github import TOKEN, FakeGitHub

from model_accuracy_eval.github.api import GitHubRest

LIMITS = {"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0"}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}


class Naps:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(
    hub: FakeGitHub, *, token: str = TOKEN, timeout: float = 5, naps: Naps | None = None, **more: Any
) -> GitHubRest:
    return GitHubRest(
        {"GITHUB_API_URL": hub.url},
        token,
        timeout=timeout,
        sleep=naps or Naps(),
        chance=lambda: 1.0,
        now=lambda: 1_000_000.0,
        **more,
    )
