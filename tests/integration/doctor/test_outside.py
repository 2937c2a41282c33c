"""The doctor's findings about what is outside: hubs, GitHub, and what the token may do."""

import pytest
from tests.integration.doctor.test_doctor import look, states
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import EVERYTHING, REPOSITORY
from tests.servers.fault_server import FaultServer

HUBS = {"GitHub's files": "GITHUB_RAW_ENDPOINT", "Hugging Face": "HF_ENDPOINT", "ModelScope": "MODELSCOPE_ENDPOINT"}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """All addresses lead to nobody, and there is no token; a test opens what it is about."""
    with FaultServer() as server:
        nobody = server.url
    for variable in (*HUBS.values(), "GITHUB_API_URL"):
        monkeypatch.setenv(variable, nobody)
    for variable in ("GITHUB_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(variable, raising=False)
    return monkeypatch


def test_nothing_goes_out_unasked(world: pytest.MonkeyPatch) -> None:
    """The machine alone is looked at."""
    with FakeGitHub() as github, FaultServer() as hub:
        world.setenv("HF_ENDPOINT", hub.url)
        world.setenv("GITHUB_API_URL", github.url)
        _, output = look()
        assert (github.calls, hub.requests) == ([], [])
    assert HUBS.keys().isdisjoint(states(output))


def test_a_hub_that_answers_is_told_from_one_that_does_not(world: pytest.MonkeyPatch) -> None:
    """Neither decides: hubs replace each other. Each warning names the variable of its mirror."""
    with FaultServer() as hub:
        world.setenv("HF_ENDPOINT", hub.url)
        code, output = look("--online")
    found = states(output)
    assert (code, found["Hugging Face"], found["ModelScope"], found["GitHub"]) == (0, "PASS", "WARN", "WARN"), output
    assert "name a mirror in MODELSCOPE_ENDPOINT" in output
    assert "GitHub token" not in found


def test_an_address_that_is_none_is_one_sentence(world: pytest.MonkeyPatch) -> None:
    """Of a hub, and of GitHub."""
    world.setenv("HF_ENDPOINT", "hub without a scheme")
    world.setenv("GITHUB_API_URL", "github without a scheme")
    code, output = look("--online")
    assert (code, states(output)["Hugging Face"], states(output)["GitHub"]) == (0, "WARN", "WARN"), output
    assert "'github without a scheme' is none" in output


def test_passwords_of_mirrors_are_not_printed(world: pytest.MonkeyPatch) -> None:
    """Neither of one that answers nor of one that does not."""
    with FaultServer() as hub:
        world.setenv("HF_ENDPOINT", hub.url.replace("//", "//user:pass-marker@"))
        world.setenv("MODELSCOPE_ENDPOINT", "http://user:pass-marker@127.0.0.1:1")
        world.setenv("GITHUB_API_URL", "http://user:pass-marker@127.0.0.1:1")
        _, output = look("--online")
    assert "pass-marker" not in output
    assert "http://127.0.0.1:1 cannot be reached" in output


@pytest.mark.parametrize("proxy", ["socks9://127.0.0.1:1", "http://127.0.0.1:port"])
def test_a_proxy_that_cannot_be_used_is_one_sentence(world: pytest.MonkeyPatch, proxy: str) -> None:
    """Before anybody is asked: every run would be refused."""
    world.setenv("ALL_PROXY", proxy)
    code, output = look("--online")
    assert (code, states(output)["proxy"]) == (3, "FAIL"), output


def test_a_token_that_may_write_leaves_nothing_behind(world: pytest.MonkeyPatch) -> None:
    """What it may do is told, and neither a check nor a status was made."""
    with FakeGitHub() as github:
        _sign_in(world, github)
        code, output = look("--online")
        assert (github.checks, github.statuses, github.comments) == ({}, [], {})
    found = states(output)
    assert (code, found["GitHub token"], found["checks: write"], found["statuses: write"]) == (
        0, "PASS", "PASS", "PASS",
    ), output  # fmt: skip
    assert found["pull-requests: write"] == "SKIP"


@pytest.mark.parametrize("right", ["checks: write", "statuses: write"])
def test_a_right_that_lacks_is_named(world: pytest.MonkeyPatch, right: str) -> None:
    """Exit code 3, because the verdict of a run could not be told."""
    with FakeGitHub(grants=EVERYTHING - {right}) as github:
        _sign_in(world, github)
        code, output = look("--online")
    failed = [name for name, state in states(output).items() if state == "FAIL"]
    assert (code, failed) == (3, [right]), output
    assert f"the token lacks `{right}`; add it under `permissions:` of the job" in output


def test_a_wrong_token_is_not_tried_further(world: pytest.MonkeyPatch) -> None:
    """It is not printed either."""
    with FakeGitHub() as github:
        _sign_in(world, github)
        world.setenv("GITHUB_TOKEN", "token-that-nobody-gave")
        code, output = look("--online")
        assert github.calls == ["GET /user"]
    assert (code, states(output)["GitHub token"]) == (3, "FAIL"), output
    assert "token-that-nobody-gave" not in output


def test_a_person_s_token_is_told_with_its_name(world: pytest.MonkeyPatch) -> None:
    """Without a repository nothing is asked about rights."""
    with FakeGitHub(login="ada") as github:
        _sign_in(world, github)
        world.delenv("GITHUB_REPOSITORY")
        code, output = look("--online")
        assert github.calls == ["GET /user"]
    assert (code, states(output)["GitHub rights"]) == (0, "SKIP"), output
    assert "It speaks as ada." in output


def test_trouble_on_the_way_is_no_lack_of_rights(world: pytest.MonkeyPatch) -> None:
    """A server error says nothing about the token."""
    with FakeGitHub() as github:
        _sign_in(world, github)
        github.fault("POST", "/check-runs", 502)
        code, output = look("--online")
    assert (code, states(output)["checks: write"], states(output)["statuses: write"]) == (0, "WARN", "PASS"), output


def test_a_service_and_the_outside_in_one_table(world: pytest.MonkeyPatch) -> None:
    """The service's exit code comes first."""
    with FakeGitHub(grants=EVERYTHING - {"checks: write"}) as github, FaultServer() as service:
        _sign_in(world, github)
        code, output = look("--online", "--endpoint", service.url)
        assert (code, states(output)["answers"], states(output)["checks: write"]) == (3, "PASS", "FAIL"), output
    code, output = look("--online", "--endpoint", service.url)
    assert (code, "python" in states(output)) == (4, False), output


def _sign_in(world: pytest.MonkeyPatch, github: FakeGitHub) -> None:
    world.setenv("GITHUB_API_URL", github.url)
    world.setenv("GITHUB_TOKEN", TOKEN)
    world.setenv("GITHUB_REPOSITORY", REPOSITORY)
