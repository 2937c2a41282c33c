"""Answers that are neither yes nor no: sent elsewhere, or from somebody who is not GitHub."""

import contextlib
import socket

import pytest
from tests.integration.github.tools import Naps, client
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA
from tests.waiting import free_port

from model_accuracy_eval.errors import BadValue, EvalError, PublishFailed, Refused
from model_accuracy_eval.github.rest_client import RestClient


def test_a_write_that_nobody_can_look_for_is_not_repeated() -> None:
    """Without a look a POST with a lost answer might be done twice, so it is not; one that never went out is."""
    naps = Naps()
    with FakeGitHub() as hub, contextlib.closing(RestClient(root=hub.url, token=TOKEN, sleep=naps)) as caller:
        path = f"/repos/{REPOSITORY}/issues/7/comments"
        hub.fault("POST", path, 502, carried_out=True)
        assert caller.send("POST", path, {"body": "x"}).status == 502
        hub.fault("POST", path, how="reset")
        assert caller.send("POST", path, {"body": "x"}).status is None
        assert len(hub.calls) == 2
    assert naps.seconds == []
    with contextlib.closing(RestClient(root=f"http://127.0.0.1:{free_port()}", token=TOKEN, sleep=naps)) as caller:
        assert caller.send("POST", "/x", {"body": "x"}).attempts == 6
    assert len(naps.seconds) == 5


def test_a_write_to_a_renamed_repository_follows_it() -> None:
    """GitHub sends writes on with 307; only an address below the API's root is followed, for the token goes along."""
    with FakeGitHub() as hub, client(hub) as github, socket.create_server(("127.0.0.1", 0)) as stranger:
        path = f"/repos/{REPOSITORY}/statuses/{SHA}"
        hub.fault("POST", "/repos/acme/old/", 307, {}, headers={"location": f"{hub.url}{path}"})
        github.commit_status("acme/old", SHA, state="success", context="c", description="d")
        assert len(hub.statuses) == 1
        elsewhere = f"http://127.0.0.1:{stranger.getsockname()[1]}{path}"
        hub.fault("POST", "/repos/acme/old/", 307, {}, headers={"location": elsewhere})
        with pytest.raises(PublishFailed, match="renamed"):
            github.commit_status("acme/old", SHA, state="success", context="c", description="d")
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_reading_a_renamed_repository_follows_it() -> None:
    """GitHub sends reads on with 301; the query of the new address counts."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.permissions["ada"] = ("admin", "admin")
        path = "/repos/acme/old/collaborators/ada/permission"
        target = f"{hub.url}/repos/{REPOSITORY}/collaborators/ada/permission"
        hub.fault("GET", "/repos/acme/old/", 301, {}, headers={"location": target})
        assert github.permission("acme/old", "ada").admin
        assert hub.calls == [f"GET {path}", f"GET /repos/{REPOSITORY}/collaborators/ada/permission"]


def test_addresses_that_lead_in_circles_end() -> None:
    """After three redirects the refusal is told."""
    with FakeGitHub() as hub, client(hub) as github:
        path = "/repos/acme/old/collaborators/ada/permission"
        hub.fault("GET", "/repos/acme/old/", 301, {}, headers={"location": f"{hub.url}{path}"}, times=99)
        with pytest.raises(Refused, match="renamed"):
            github.permission("acme/old", "ada")
        assert len(hub.calls) == 3


@pytest.mark.parametrize("token", ["secret\nbreak", "sécret"])
def test_a_token_that_cannot_be_sent_is_told_without_it(token: str) -> None:
    """The sentence has no part of the token."""
    with pytest.raises(BadValue) as error:
        RestClient(root="http://127.0.0.1:1", token=token)
    assert "paste it again" in error.value.sentence
    assert token[:4] not in error.value.sentence


def test_graphql_is_beside_rest() -> None:
    """At GitHub and on a server of GitHub Enterprise."""
    addresses = {
        "https://api.github.com": "https://api.github.com/graphql",
        "https://h/api/v3": "https://h/api/graphql",
    }
    for root, address in addresses.items():
        with contextlib.closing(RestClient(root=root, token="")) as rest:
            assert rest.graphql_url == address


@pytest.mark.parametrize("data", [b"[", b"null", b"[]", b'"text"', b"{}"])
def test_an_answer_that_is_none_is_our_kind_of_error(data: bytes) -> None:
    """A proxy that answers 200 with something else leaves no foreign exception."""
    with FakeGitHub() as hub, client(hub) as github:
        for method, path in (("GET", "/"), ("POST", "/")):
            hub.fault(method, path, 200, data, times=99)
        for call in (
            lambda: github.permission(REPOSITORY, "ada"),
            lambda: github.upsert_comment(REPOSITORY, 7, "<!-- m -->", "x"),
            lambda: github.open_check(REPOSITORY, SHA, name="n", key="k", title="t", summary="s"),
            lambda: github.pull_request(
                {"issue": {"number": 7, "pull_request": {"url": "x"}}}, {"GITHUB_REPOSITORY": REPOSITORY}
            ),
            lambda: github.pull_request({}, {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SHA": SHA}),
            lambda: github.hardware(REPOSITORY),
        ):
            with contextlib.suppress(EvalError):
                call()


def test_a_stranger_in_githubs_place_is_told() -> None:
    """The sentence points at the address and at proxies."""
    with FakeGitHub() as hub, client(hub) as github:
        hub.fault("GET", "/permission", 200, b"<html>Welcome</html>")
        with pytest.raises(Refused, match="answered HTTP 200 with something else; is GITHUB_API_URL the REST root"):
            github.permission(REPOSITORY, "ada")
