"""A GitHub Enterprise Server in a private network: its addresses, its certificates, its artifacts, and a proxy before it."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme
from tests.servers.http_proxy import http_proxy
from tests.simulator.scene import BRIDGE, EVALUATE_SMALL, SMALL, Scene, pull_request


@pytest.fixture
def enterprise(image: str, tmp_path: Path) -> Iterator[Scene]:
    """REST below /api/v3, git and REST by a private authority, and the artifact service's earlier protocol alone."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(BRIDGE).configure_cert(context)
    with pull_request(image, tmp_path, tls=context, prefix="/api/v3", v4=False) as scene:
        (scene.runner.workspace / "authorities.pem").write_bytes(authority.cert_pem.bytes())
        scene.runner.environment["SSL_CERT_FILE"] = "/github/workspace/authorities.pem"
        scene.push(SMALL)
        yield scene


def test_an_enterprise_server_is_told_everything_through_the_proxy(enterprise: Scene) -> None:
    """Check, comment, status and the adapter's check-out; the artifact, whose id and digest that protocol does not have.
    The adapter's own service on this machine is asked without it."""
    with http_proxy(BRIDGE) as (address, asked):
        enterprise.runner.environment |= {"HTTPS_PROXY": address, "HTTP_PROXY": address, "http_proxy": address}
        step = enterprise.run(EVALUATE_SMALL, status="true")
    assert step.exit_code == 0, step.text
    assert step.log.annotations("warning") == []
    assert enterprise.check["conclusion"] == "neutral"
    assert "Complete, no gate" in enterprise.comment
    (artifact,) = enterprise.artifacts.artifacts.values()
    assert {"manifest.sha256", "run.json"} <= set(artifact.files)
    assert (step.outputs["artifact-id"], step.outputs["artifact-digest"]) == ("", "")
    assert step.outputs["artifact-url"].startswith(enterprise.runner.github["server_url"])
    addresses = (enterprise.hub.url, enterprise.runner.github["server_url"], enterprise.artifacts.url)
    assert asked == {(BRIDGE, urlsplit(address).port) for address in addresses}
