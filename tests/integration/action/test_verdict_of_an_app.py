"""A verdict that an app of the organisation writes, which no job of the repository can forge."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.integration.action.test_inputs_refused import WITH, played
from tests.servers.fake_github import APP, APP_TOKEN, TOKEN, FakeGitHub


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def pem(key: rsa.RSAPrivateKey) -> str:
    kind = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()).decode()


def test_the_app_writes_and_the_token_reads(
    key: rsa.RSAPrivateKey, pem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check, status and comment are the app's alone; its token is for them alone, and masked."""
    with FakeGitHub() as hub:
        hub.permissions["alice"] = ("admin", "admin")
        hub.app_key = key.public_key()
        with_ = WITH | {"app-id": APP, "app-private-key": pem, "status": "true", "gates": "x"}
        assert played(hub, tmp_path, with_) == 2
        (check,), (comment,) = hub.checks.values(), hub.comments.values()
        assert (check["conclusion"], len(hub.statuses)) == ("action_required", 2)
        assert "no input called 'gates'" in comment["body"]
        assert not [call for call in hub.calls_of[TOKEN] if not call.startswith("GET ")]
        assert {call.split()[0] for call in hub.calls_of[APP_TOKEN]} >= {"POST", "PATCH"}
    assert f"::add-mask::{APP_TOKEN}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"app-id": APP}, "'app-private-key' is empty"),
        ({"app-private-key": "x"}, "'app-id' is empty"),
        ({"app-id": APP, "app-private-key": "x"}, "'app-private-key' is no private key; give the whole .pem file"),
    ],
)
def test_half_an_app_is_none(given: dict[str, str], told: str, tmp_path: Path) -> None:
    """A job that lacks the key must not speak with another voice of how an evaluation went: nothing is evaluated."""
    with FakeGitHub() as hub:
        hub.permissions["alice"] = ("admin", "admin")
        assert played(hub, tmp_path, WITH | given) == 2
        (check,) = hub.checks.values()
    assert told in check["output"]["summary"].replace("\\", "")


def test_an_app_that_is_not_installed_is_told(pem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the log: nobody else writes in its place."""
    with FakeGitHub() as hub:
        hub.permissions["alice"] = ("admin", "admin")
        hub.fault("GET", "/installation", 404, {"message": "Not Found"}, times=9)
        assert played(hub, tmp_path, WITH | {"app-id": APP, "app-private-key": pem, "gates": "x"}) == 2
        assert (hub.checks, hub.comments, hub.statuses) == ({}, {}, [])
    assert "The app 77 is not installed in acme/adapter, or the key is another app's." in capsys.readouterr().out
