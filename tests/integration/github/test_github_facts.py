"""Who may start a run, and what a repository is made for."""

from typing import Any

import pytest
from tests.integration.github.tools import client
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA

from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.github.api import GitHubRest

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
        "token cannot see it. GITHUB_TOKEN reaches only its own repository: for another one give a token with "
        "`metadata: read` in acme/secret."
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


@pytest.mark.parametrize("text", ["hardware: NPU\n", "hardware: [npu, gpu]\n"])
def test_a_file_names_the_hardware_last(text: str) -> None:
    """The file is read from the default branch, which a pull request cannot change."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.properties = None
        hub.files["accuracy.yml"] = text
        told = github.hardware(REPOSITORY)
    assert (told.has("NPU"), told.source) == (True, "accuracy.yml on the default branch")
    assert told.notes[0] == "custom property: there is none, or the token cannot see it"


@pytest.mark.parametrize("text", ["- a\n", "hardware:\n", "\t:", "hardware: {a: b}", "x" * 70_000, "&a [*a, *a]", []])
def test_a_file_of_another_shape_is_noted(text: Any) -> None:
    """Whatever lies there, no types are found and nothing breaks."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.files["accuracy.yml"] = text
        told = github.hardware(REPOSITORY)
    assert (told.types, len(told.notes)) == ((), 3)


def test_refusals_on_the_way_are_noted() -> None:
    """A source that is refused, or fails, is a note; the next one is asked."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.fault("GET", "/properties", 403, {"message": "Resource not accessible by integration"})
        hub.fault("GET", "/topics", 502, times=6)
        hub.files["accuracy.yml"] = "hardware: NPU"
        told = github.hardware(REPOSITORY)
    assert told.types == ("NPU",)
    assert told.notes == (
        "custom property: could not be read (HTTP 403 Resource not accessible by integration)",
        "topic: could not be read (HTTP 502)",
    )


def test_an_enterprise_server_is_reached_below_its_path() -> None:
    """GITHUB_API_URL may have a path, and a slash at its end."""
    with FakeGitHub(prefix="/api/v3") as hub:
        hub.permissions["ada"] = ("admin", "admin")
        with GitHubRest({"GITHUB_API_URL": f"{hub.url}/"}, "token-of-the-tests") as github:
            assert github.permission(REPOSITORY, "ada").admin
        assert hub.calls[0].startswith("GET /api/v3/repos/")


def test_an_address_that_is_none_is_refused() -> None:
    """A root without a scheme is a matter of configuration."""
    with pytest.raises(BadValue, match="'api.example' is none"):
        GitHubRest({"GITHUB_API_URL": "api.example"}, "t")
