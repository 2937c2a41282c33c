"""Who may start a run, and what a repository is made for."""

from typing import Any

import pytest
from tests.integration.github.tools import Naps, client, requester
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import NOON, REPOSITORY, SHA, pull

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.facts import actor, pull_request, unseen
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.records.report import Actor

HERE = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SHA": SHA}


@pytest.mark.parametrize(
    ("level", "role", "admin"),
    [
        ("admin", "admin", True),
        ("admin", "head-of-release", True),
        ("write", "maintain", False),
        ("write", "admin", False),
        ("read", "triage", False),
        ("none", "", False),
    ],
)
def test_only_the_level_makes_an_admin(level: str, role: str, admin: bool) -> None:
    """The permission decides; a custom role's name does not, whatever it is."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.permissions["ada"] = (level, role)
        told = github.permission(REPOSITORY, "ada")
    assert (told.admin, told.level, told.role_name) == (admin, level, role or level)


def test_a_login_stays_one_part_of_the_path() -> None:
    """Whatever characters a login has, no other address is asked."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.permissions["../a?b[bot]"] = ("write", "write")
        assert github.permission(REPOSITORY, "../a?b[bot]").level == "write"
        assert hub.calls == [f"GET /repos/{REPOSITORY}/collaborators/..%2Fa%3Fb%5Bbot%5D/permission"]


def test_an_unseen_repository_tells_what_the_token_lacks() -> None:
    """404 is what a token gets that reaches only its own repository, and the sentence says so."""
    with FakeGitHub() as hub, client(hub) as github, pytest.raises(Refused) as caught:
        github.permission("acme/secret", "ada")
    assert caught.value.exit_code == 3
    assert caught.value.sentence == (
        "GitHub refused to tell the permission of 'ada' in acme/secret (HTTP 404: Not Found): it does not exist, or the "
        "token cannot see it. GITHUB_TOKEN reaches only its own repository: for another one give `adapter-token`, a "
        "token with write access in acme/secret."
    )


@pytest.mark.parametrize("name", ["hardware", "hardware-type", "hardware_type"])
@pytest.mark.parametrize("value", ["NPU", " npu ", ["NPU"], "Ascend"])
def test_a_custom_property_names_the_hardware(name: str, value: Any) -> None:
    """The property comes first, in each of its spellings, and nothing else is asked."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.properties = [{"property_name": "team", "value": "x"}, {"property_name": name, "value": value}]
        hub.topics = ["hardware-gpu"]
        told = github.hardware(REPOSITORY)
        assert len(hub.calls) == 1
    assert (told.types, told.source, told.has("npu")) == (("NPU",), "custom property", True)


@pytest.mark.parametrize(
    ("topic", "type_"), [("npu", "NPU"), ("ascend", "NPU"), ("hardware-npu", "NPU"), ("hardware-gpu", "GPU")]
)
def test_a_topic_names_the_hardware(topic: str, type_: str) -> None:
    """Without a property a topic decides, and the note says that the property was looked for."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.properties = [{"property_name": "hardware", "value": None}]
        hub.topics = ["llm", topic]
        told = github.hardware(REPOSITORY)
    assert (told.types, told.source) == ((type_,), "topic")
    assert told.notes == ("custom property: none of hardware, hardware-type, hardware_type is set",)


@pytest.mark.parametrize("name", ["accuracy.yaml", "accuracy.yml"])
@pytest.mark.parametrize("text", ["hardware: NPU\n", "hardware: [npu, gpu]\n", "hardware: Atlas A2 Series\n"])
def test_a_file_names_the_hardware_last(text: str, name: str) -> None:
    """The file is read from the default branch, which a pull request cannot change."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.properties = None
        hub.files[name] = text
        told = github.hardware(REPOSITORY)
    assert (told.has("NPU"), told.source) == (True, f"{name} on the default branch")
    assert told.notes[0] == "custom property: there is none, or the token cannot see it"


@pytest.mark.parametrize("text", ["- a\n", "hardware:\n", "\t:", "hardware: {a: b}", "x" * 70_000, "&a [*a, *a]", []])
def test_a_file_of_another_shape_is_noted(text: Any) -> None:
    """Whatever lies there, no types are found and nothing breaks."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.files["accuracy.yml"] = text
        told = github.hardware(REPOSITORY)
    assert (told.types, len(told.notes)) == ((), 4)


def test_refusals_on_the_way_are_noted() -> None:
    """A source that is refused is a note; the next one is asked."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.fault("GET", "/properties", 403, {"message": "Resource not accessible by integration"})
        hub.files["accuracy.yml"] = "hardware: NPU"
        told = github.hardware(REPOSITORY)
    assert told.types == ("NPU",)
    assert told.notes == (
        "custom property: could not be read (HTTP 403 Resource not accessible by integration)",
        "topic: none of the topics names a hardware, as hardware-npu does",
        "accuracy.yaml on the default branch: there is none, or the token cannot see it",
    )


@pytest.mark.parametrize("source", ["/properties", "/topics", "/contents/", "/permission"])
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            {"status": 500, "times": 6},
            r"GitHub answered 500 six times when it was asked to tell the .* in acme/adapter:",
        ),
        ({"status": 429, "headers": {"retry-after": "999"}}, r"\(HTTP 429\): requests came faster than GitHub allows"),
        ({"how": "reset", "times": 6}, "GitHub could not be asked to tell the"),
    ],
)
def test_an_outage_is_no_refusal(source: str, fault: dict[str, Any], told: str) -> None:
    """It says nothing about a repository or a person, so nobody reads that the hardware type is another one."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.permissions["ada"] = ("admin", "admin")
        github.permission(REPOSITORY, "ada")
        hub.fault("GET", source, **fault)
        with pytest.raises(PublishFailed, match=told) as caught:
            github.permission(REPOSITORY, "ada")
            github.hardware(REPOSITORY)
    assert caught.value.exit_code == 6


def test_another_repository_is_asked_about_with_its_own_token() -> None:
    """Who is admin there, and what it is made for; the workflow's own token sees neither."""
    with FakeGitHub() as hub:
        hub.reach["acme/other"] = "token-of-the-other"
        hub.permissions["ada"] = ("admin", "admin")
        hub.topics = ["npu"]
        there = GitHubRequester({"GITHUB_API_URL": hub.url}, "token-of-the-other", Naps())
        with GitHubRest(
            GitHubRequester({"GITHUB_API_URL": hub.url}, TOKEN, Naps(), others={"/repos/acme/other(/|$)": there})
        ) as github:
            assert github.permission("acme/other", "ada").admin
            assert github.hardware("acme/other").has("npu")
            assert github.permission(REPOSITORY, "ada").admin
        with client(hub) as github, pytest.raises(Refused, match="give `adapter-token`"):
            github.permission("acme/other", "ada")


@pytest.mark.parametrize(
    ("environment", "event", "told"),
    [
        (
            {"GITHUB_ACTOR": "first", "GITHUB_TRIGGERING_ACTOR": "again"},
            {},
            Actor(login="again", source="GITHUB_TRIGGERING_ACTOR"),
        ),
        ({"GITHUB_ACTOR": "first"}, {}, Actor(login="first", source="GITHUB_ACTOR")),
        ({"GITHUB_ACTOR": "dependabot[bot]"}, {}, Actor(login="dependabot[bot]", source="GITHUB_ACTOR")),
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
    with FakeGitHub() as hub:
        told = pull_request(requester(hub), {"pull_request": pull(7, head="c" * 40)}, HERE)
        assert hub.calls == []
    assert told is not None
    assert (told.number, told.head_sha, told.is_fork) == (7, "c" * 40, False)


@pytest.mark.parametrize("fork", ["eve/adapter", None])
def test_a_fork_is_told_apart(fork: str | None) -> None:
    """Another repository is a fork, and so is one that was deleted."""
    with FakeGitHub() as hub:
        told = pull_request(requester(hub), {"pull_request": pull(7, fork=fork)}, HERE)
    assert told is not None
    assert (told.is_fork, told.head_repository) == (True, fork)


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
    with FakeGitHub() as hub:
        hub.commit_pulls[SHA] = pulls
        for event, environment in (({}, HERE), ({"workflow_run": {"head_sha": SHA}}, HERE | {"GITHUB_SHA": "d" * 40})):
            told = pull_request(requester(hub), event, environment)
            assert (told and told.number) == number
        assert pull_request(requester(hub), {}, HERE | {"GITHUB_SHA": "e" * 40}) is None


def test_an_event_of_another_shape_is_told() -> None:
    """An event that lacks what every pull request has ends in a sentence."""
    with FakeGitHub() as hub, pytest.raises(PublishFailed, match="the pull request of this event"):
        pull_request(requester(hub), {"pull_request": {"number": 7}}, HERE)


BEFORE, AFTER = "2026-05-05T11:59:59Z", "2026-05-05T12:00:01Z"


@pytest.mark.parametrize(
    ("says", "fork", "pushes", "told"),
    [
        ("/evaluate", REPOSITORY, [(SHA, BEFORE)], ""),
        ("/evaluate", REPOSITORY, [("c" * 40, AFTER), (SHA, BEFORE)], ""),
        (f"/evaluate {SHA}", "mallory/adapter", [], ""),
        (f"/evaluate gsm8k {SHA}\r\nplease", REPOSITORY, [(SHA, AFTER)], ""),
        ("/evaluate", REPOSITORY, [(SHA, AFTER), ("c" * 40, BEFORE)], "was cccccccccccc, not 1f0c6d2e1f0c: read"),
        ("/evaluate", REPOSITORY, [(SHA, NOON), ("c" * 40, BEFORE)], "was cccccccccccc, not 1f0c6d2e1f0c: read"),
        ("/evaluate", REPOSITORY, [(SHA, AFTER)], "cannot be told: read"),
        ("/evaluate", REPOSITORY, [], "cannot be told: read"),
        (f"/evaluate {SHA[:39]}", REPOSITORY, [], "cannot be told: read"),
        ("/evaluate", "mallory/adapter", [(SHA, BEFORE)], "a fork's, so the comment has to name the commit: read"),
        ("/evaluate", None, [(SHA, BEFORE)], "a fork's, so the comment has to name the commit: read"),
    ],
)
def test_a_comment_means_the_commit_that_its_author_saw(
    says: str, fork: str | None, pushes: list[tuple[str, str]], told: str
) -> None:
    """The head by GitHub's own times, which whoever pushes cannot choose; or the one that the comment names."""
    with FakeGitHub() as hub:
        for sha, when in reversed(pushes):
            hub.push(7, sha, when)
        hub.pulls[7] = pull(7, fork=fork)
        event = {"issue": {"number": 7, "pull_request": {"url": "x"}}, "comment": {"body": says, "updated_at": NOON}}
        found = pull_request(requester(hub), event, HERE)
        assert found is not None
        said = unseen(requester(hub), found, event, REPOSITORY, SHA)
    assert told in said
    assert bool(said) == bool(told)
    assert not said or f"say `/evaluate {SHA}`" in said


def test_pushes_that_cannot_be_listed_are_no_look_at_the_head() -> None:
    """Neither a server that has no list nor a token that may not read it lets a comment pass; an outage is one."""
    event = {"comment": {"body": "/evaluate", "updated_at": NOON}}
    with FakeGitHub() as hub:
        hub.push(7, SHA)
        found = pull_request(requester(hub), {"pull_request": hub.pulls[7]}, HERE)
        assert found is not None
        for status in (403, 404):
            hub.fault("GET", "/activity", status, {"message": "no"})
            assert "cannot be told" in unseen(requester(hub), found, event, REPOSITORY, SHA)
        assert unseen(requester(hub), found, event, REPOSITORY, SHA) == ""
        hub.fault("GET", "/activity", 502, times=6)
        with pytest.raises(PublishFailed, match="gave no good answer"):
            unseen(requester(hub), found, event, REPOSITORY, SHA)
