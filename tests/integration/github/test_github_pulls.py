"""Who started a run, and which pull request it is about."""

from typing import Any

import pytest
from tests.integration.github.tools import client
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA, pull

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.github.pull_requests import actor
from model_accuracy_eval.records.github import Actor

HERE = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SHA": SHA}


@pytest.mark.parametrize(
    ("environment", "event", "told"),
    [
        (
            {"GITHUB_ACTOR": "first", "GITHUB_TRIGGERING_ACTOR": "again"},
            {},
            Actor(login="again", source="GITHUB_TRIGGERING_ACTOR"),
        ),
        ({"GITHUB_ACTOR": "first"}, {}, Actor(login="first", source="GITHUB_ACTOR")),
        (
            {"GITHUB_ACTOR": "dependabot[bot]"},
            {},
            Actor(login="dependabot[bot]", source="GITHUB_ACTOR"),
        ),
        (
            {"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_TRIGGERING_ACTOR": "x"},
            {"action": "created", "comment": {"user": {"login": "ada", "type": "User"}}, "sender": {"login": "y"}},
            Actor(login="ada", source="comment.user"),
        ),
        (
            {"GITHUB_EVENT_NAME": "issue_comment"},
            {"action": "created", "comment": {"user": {"login": "app", "type": "Bot"}}},
            Actor(login="app", source="comment.user"),
        ),
        (
            {"GITHUB_EVENT_NAME": "issue_comment"},
            {"action": "edited", "comment": {"user": {"login": "ada"}}, "sender": {"login": "eve", "type": "User"}},
            Actor(login="eve", source="sender"),
        ),
    ],
)
def test_who_started_it(environment: dict[str, str], event: dict[str, Any], told: Actor) -> None:
    """The comment's author, or its editor, or the person who pressed the button last."""
    assert actor(environment, event) == told


@pytest.mark.parametrize("environment", [{}, {"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_ACTOR": "x"}])
def test_nobody_is_refused(environment: dict[str, str]) -> None:
    """Without a name nothing can be checked, so nothing is started."""
    with pytest.raises(Refused):
        actor(environment, {"comment": {"user": None}, "action": "created"})


def test_the_event_knows_the_pull_request() -> None:
    """Results go to the head, not to the merge commit of GITHUB_SHA, and GitHub is not asked."""
    with FakeGitHub() as hub, client(hub) as github:
        told = github.pull_request({"pull_request": pull(7, head="c" * 40)}, HERE)
        assert hub.calls == []
    assert told is not None
    assert (told.number, told.head_sha, told.is_fork, told.base_sha) == (7, "c" * 40, False, "b" * 40)


@pytest.mark.parametrize("fork", ["eve/adapter", None])
def test_a_fork_is_told_apart(fork: str | None) -> None:
    """Another repository is a fork, and so is one that was deleted."""
    with FakeGitHub() as hub, client(hub) as github:
        told = github.pull_request({"pull_request": pull(7, fork=fork)}, HERE)
    assert told is not None
    assert (told.is_fork, told.head_repository) == (True, fork)


def test_a_comment_has_its_pull_request_looked_up() -> None:
    """An event of a comment has no commit; GitHub tells it."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.pulls[7] = pull(7, head="c" * 40)
        told = github.pull_request({"issue": {"number": 7, "pull_request": {"url": "x"}}}, HERE)
    assert told is not None
    assert told.head_sha == "c" * 40


@pytest.mark.parametrize(
    ("pulls", "number"),
    [
        ([], None),
        ([pull(3, state="closed")], None),
        ([pull(3, into="acme/upstream")], None),
        ([pull(3, head="c" * 40)], None),
        ([pull(3, head="c" * 40, merge_commit_sha=SHA)], 3),
        ([pull(3), pull(9), pull(4)], 9),
        ([pull(n, state="closed") for n in range(1, 120)] + [pull(3)], 3),
    ],
)
def test_a_commit_has_its_pull_request_looked_up(pulls: list[dict[str, Any]], number: int | None) -> None:
    """Only open ones into this repository, whose head or trial merge is the commit, on whatever page."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.commit_pulls[SHA] = pulls
        for event, environment in (({}, HERE), ({"workflow_run": {"head_sha": SHA}}, HERE | {"GITHUB_SHA": "d" * 40})):
            told = github.pull_request(event, environment)
            assert (told and told.number) == number
        assert github.pull_request({}, HERE | {"GITHUB_SHA": "e" * 40}) is None


def test_an_event_of_another_shape_is_told() -> None:
    """An event that lacks what every pull request has ends in a sentence."""
    with (
        FakeGitHub() as hub,
        client(hub) as github,
        pytest.raises(PublishFailed, match="the pull request of this event"),
    ):
        github.pull_request({"pull_request": {"number": 7}}, HERE)
