"""Whatever GitHub, or somebody in its place, answers: one sentence that tells what is missing."""

import contextlib
import ssl
from typing import Any

import pytest
import trustme
from tests.integration.github.tools import Naps, client, requester, said
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA
from tests.servers.http_proxy import http_proxy
from tests.servers.socks_server import SocksServer
from tests.waiting import free_port

from model_accuracy_eval.errors import BadValue, EvalError, PublishFailed, Refused
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.facts import pull_request
from model_accuracy_eval.github.requester import GitHubRequester

FIELDS = {
    "message": "Validation Failed",
    "errors": [
        {"resource": "CheckRun", "field": "conclusion", "code": "invalid"},
        {"code": "custom", "message": "is too long"},
        "no such commit.",
    ],
}
USED_UP = {"x-ratelimit-limit": "1000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "4000000000"}


def say(github: GitHubRest) -> None:
    github.commit_status(REPOSITORY, SHA, state="success", context="accuracy", description="fine")


@pytest.mark.parametrize(
    ("status", "body", "headers", "end"),
    [
        (401, {"message": "Bad credentials"}, {}, "the token is wrong, expired or revoked; give one with `statuses: write`."),
        # The last request of an hour can be a forbidden one; waiting would not help it.
        (403, {"message": "Resource not accessible by integration"}, USED_UP, "a fork's pull request only get to read."),
        (403, {"message": "Other"}, {}, "the token lacks `statuses: write`; or a rule of the organisation forbids it."),
        (403, {"message": "API rate limit exceeded"}, USED_UP, "limit of 1000 requests an hour is used up until 07:06:40 UTC, and waiting so long is not allowed."),
        (429, {"message": "slow"}, {"retry-after": "999"}, "which asks for a pause of 999 s; the allowed waiting is used up."),
        (404, {"message": "Not Found"}, {}, "give `adapter-token`, a token with `statuses: write` in acme/adapter."),
        (422, FIELDS, {}, "CheckRun.conclusion: invalid; is too long; no such commit."),
        (422, None, {}, "one of the values is not valid."),
        (418, b"<html>", {}, "`statuses: write` is needed."),
        (302, {}, {}, "has the repository been renamed, or is GITHUB_API_URL not the REST root?"),
        (307, {"message": "Moved"}, {}, "has the repository been renamed, or is GITHUB_API_URL not the REST root?"),
    ],
)  # fmt: skip
def test_a_refusal_is_told_at_once(status: int, body: Any, headers: dict[str, str], end: str) -> None:
    """Nothing that another try cannot mend is tried again."""
    naps = Naps()
    with FakeGitHub() as hub, client(hub, naps=naps) as github:
        hub.fault("POST", "/statuses/", status, body, headers=headers)
        with pytest.raises(PublishFailed) as caught:
            say(github)
        assert len(hub.calls) == 1
    begin = f"GitHub refused to set the status 'accuracy' of commit {SHA[:12]} in acme/adapter (HTTP {status}"
    assert caught.value.sentence.startswith(begin)
    assert caught.value.sentence.endswith(end)
    assert caught.value.detail == "request FAKE:1"
    assert naps.seconds == []


def test_a_certificate_that_nobody_knows() -> None:
    """Such a server gets no request and no token, and is not asked again; the sentence says where authorities are named."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with FakeGitHub(tls=context) as hub, client(hub) as github:
        with pytest.raises(PublishFailed, match=r"in \d s \(.*CERTIFICATE_VERIFY_FAILED.*SSL_CERT_FILE"):
            say(github)
        assert hub.calls == []


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_an_authority_of_one_s_own(variable: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named as for everything else, or as for requests."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv(variable, str(tmp_path / "authority.pem"))
    environment = {variable: str(tmp_path / "authority.pem")}
    with FakeGitHub(tls=context) as hub:
        with GitHubRest(
            GitHubRequester({"GITHUB_API_URL": hub.url, **environment}, "token-of-the-tests", Naps())
        ) as github:
            say(github)
        assert len(hub.statuses) == 1


def test_a_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of either kind."""
    with FakeGitHub() as hub, SocksServer() as socks, http_proxy("127.0.0.1") as (address, asked):
        place = ("127.0.0.1", int(hub.url.rpartition(":")[2]))
        for variable, proxy in (("HTTP_PROXY", address), ("ALL_PROXY", socks.url)):
            monkeypatch.setenv(variable, proxy)
            with client(hub) as github:
                say(github)
            monkeypatch.delenv(variable)
        assert (place in asked, place in socks.asked, len(hub.statuses)) == (True, True, 2)


def test_nobody_there() -> None:
    """A server that cannot be reached is told with its reason, and never with the token."""
    port = free_port()
    environment = {"GITHUB_API_URL": f"http://127.0.0.1:{port}"}
    asked = GitHubRequester(environment, "token-of-the-tests", Naps())
    with GitHubRest(asked) as github, pytest.raises(PublishFailed) as caught:
        say(github)
    assert f"GitHub at http://127.0.0.1:{port} gave no good answer in 15 s (" in caught.value.sentence
    assert "refused" in caught.value.sentence
    assert "token-of-the-tests" not in f"{caught.value.sentence}{caught.value.detail}{vars(asked)}{vars(github)}"
    with (
        GitHubRest(GitHubRequester({"GITHUB_API_URL": "https://github.nowhere.invalid/api/v3"}, "t", Naps())) as github,
        pytest.raises(
            PublishFailed, match=r"GitHub at https://github\.nowhere\.invalid/api/v3 .*Name or service not known"
        ),
    ):
        say(github)


@pytest.mark.parametrize("data", [b"[", b"null", b"[]", b'"text"', b"{}", b"<html>Welcome</html>"])
def test_an_answer_that_is_none_is_our_kind_of_error(data: bytes) -> None:
    """A proxy that answers 200 with something else leaves no foreign exception; the sentence points at it."""
    with FakeGitHub() as hub, client(hub) as github:
        for method in ("GET", "POST", "PATCH"):
            hub.fault(method, "/", 200, data, times=99)
        comment_event = {"issue": {"number": 7, "pull_request": {"url": "x"}}}
        for call in (
            lambda: github.upsert_comment(REPOSITORY, 7, "<!-- m -->", said("x")),
            lambda: github.open_check(REPOSITORY, SHA, name="n", key="k", title="t", summary="s"),
            lambda: pull_request(requester(hub), comment_event, {"GITHUB_REPOSITORY": REPOSITORY}),
            lambda: pull_request(requester(hub), {}, {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SHA": SHA}),
            lambda: github.hardware(REPOSITORY),
        ):
            with contextlib.suppress(EvalError):
                call()
        with pytest.raises(Refused, match="answered with something else; is GITHUB_API_URL the REST root"):
            github.permission(REPOSITORY, "ada")


@pytest.mark.parametrize("token", ["secret\nbreak", "sécret"])
def test_a_token_that_cannot_be_sent_is_told_without_it(token: str) -> None:
    """The sentence has no part of the token."""
    with FakeGitHub() as hub, pytest.raises(BadValue, match="paste it again") as error:
        requester(hub, token=token)
    assert token[:4] not in error.value.sentence


def test_an_address_that_is_none_is_refused() -> None:
    """A root without a scheme is a matter of configuration."""
    with pytest.raises(BadValue, match=r"'api\.example' is none"):
        GitHubRequester({"GITHUB_API_URL": "api.example"}, "t", Naps())


def test_an_enterprise_server_is_reached_below_its_path() -> None:
    """GITHUB_API_URL may have a path, and a slash at its end; GraphQL is beside it."""
    with FakeGitHub(prefix="/api/v3") as hub:
        hub.permissions["ada"] = ("admin", "admin")
        with GitHubRest(GitHubRequester({"GITHUB_API_URL": f"{hub.url}/"}, "token-of-the-tests", Naps())) as github:
            assert github.permission(REPOSITORY, "ada").admin
            github.upsert_comment(REPOSITORY, 7, "<!-- m -->", said("x"))
        assert hub.calls[0].startswith("GET /api/v3/repos/")
        assert "POST /api/graphql" in hub.calls


def test_redirects_stay_with_the_server() -> None:
    """GitHub sends reads of a renamed repository on with 301; the token goes nowhere else."""
    with FakeGitHub() as hub, FakeGitHub() as stranger, client(hub) as github:
        hub.permissions["ada"] = ("admin", "admin")
        path = "/collaborators/ada/permission"
        hub.fault("GET", "/repos/acme/old/", 301, {}, headers={"location": f"{hub.url}/repos/{REPOSITORY}{path}"})
        assert github.permission("acme/old", "ada").admin
        elsewhere = {"location": f"{stranger.url.replace('127.0.0.1', 'localhost')}{path}"}
        hub.fault("POST", "/repos/acme/old/", 307, {}, headers=elsewhere)
        hub.fault("GET", "/repos/acme/old/", 301, {}, headers=elsewhere)
        with pytest.raises(PublishFailed, match="renamed"):
            github.commit_status("acme/old", SHA, state="success", context="c", description="d")
        with pytest.raises(Refused, match="something else"):
            github.permission("acme/old", "ada")
        assert stranger.calls == []


def test_a_file_of_authorities_that_is_not_there() -> None:
    """The sentence has its path."""
    environment = {"GITHUB_API_URL": "https://127.0.0.1:1", "SSL_CERT_FILE": "/nowhere/authorities.pem"}
    github = GitHubRest(GitHubRequester(environment, "t", Naps()))
    with github, pytest.raises(PublishFailed, match="could not be asked .* /nowhere/authorities.pem"):
        say(github)
