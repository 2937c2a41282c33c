"""The artifact client against a strict service over real HTTP."""

import base64
import os
from datetime import datetime, timezone
from pathlib import Path

import pytest
from tests.integration.artifact.tools import Client, refused, tree, unzipped
from tests.servers.artifact_service import RUN, ArtifactServer, runtime_token

from model_accuracy_eval.github.artifact_service import ArtifactService


@pytest.mark.parametrize("camel", [False, True])
def test_upload(client: Client, report: Path, camel: bool) -> None:
    """A folder arrives whole, on servers that know no mime_type and spell fields either way."""
    with ArtifactServer(knows_mime_type=False, camel=camel) as server:
        uploaded = client.of(server).upload("report", str(report))
    stored = server.artifacts["report"]
    assert unzipped(stored.data) == tree(report)
    assert (uploaded.id, uploaded.digest) == ("1", stored.digest.removeprefix("sha256:"))
    assert uploaded.url == "https://github.com/owner/adapter/actions/runs/4711/artifacts/1"
    assert "expires_at" not in stored.request
    assert (uploaded.notes, client.waits) == ((), [])


def test_signature_is_masked_and_token_stays_home(client: Client, report: Path) -> None:
    """The signature is masked before the address is used; the store never sees our token."""
    seen: list[str] = []
    with ArtifactServer() as server:
        service = ArtifactService(server.environment, mask=lambda secret: seen.append(f"{secret} {len(server.calls)}"))
        service.upload("report", str(report))
    assert seen == ["MARKER+SIG= 1"]
    assert {call.name for call in server.calls if "authorization" not in call.headers} == {"block", "blocklist"}
    assert "MARKER" not in repr(service)


def test_blocks_come_in_order(client: Client, report: Path) -> None:
    """Blocks of 8 MiB in order, with ids of one length; whoever appends them as they come has the file."""
    (report / "noise").write_bytes(bytes((index * index) >> 7 & 255 for index in range(65536)) * 16)
    (report / "large").write_bytes(os.urandom(20 * 1024 * 1024))
    with ArtifactServer() as server:
        client.of(server).upload("report", str(report))
    blocks = [call for call in server.calls if call.name == "block"]
    assert [len(call.body) for call in blocks[:-1]] == [8 * 1024 * 1024] * 2
    assert b"".join(call.body for call in blocks) == server.artifacts["report"].data
    ids = [base64.b64decode(call.query["blockid"]).decode() for call in blocks]
    assert [name[-12:] for name in ids] == ["000000000000", "000000000001", "000000000002"]


@pytest.mark.parametrize(
    ("asked", "allowed", "expires"), [(None, "90", None), (0, "90", None), (7, "90", 7), (7, "", 7), (7, "1", 1)]
)
def test_retention(client: Client, report: Path, asked: int | None, allowed: str, expires: int | None) -> None:
    """An artifact is kept as long as asked for, at most as long as the repository allows, and then says so."""
    with ArtifactServer() as server:
        uploaded = client.of(server, GITHUB_RETENTION_DAYS=allowed).upload("report", str(report), retention_days=asked)
    stamp = server.artifacts["report"].request.get("expires_at")
    days = (
        stamp
        and (datetime.fromisoformat(stamp.replace("Z", "+00:00")) - datetime.now(timezone.utc)).total_seconds() / 86_400
    )
    assert days == (expires and pytest.approx(expires, abs=0.01))
    told = "The artifact is kept for 1 days: 7 are more than the repository allows."
    assert uploaded.notes == ((told,) if allowed == "1" else ())


def test_taken_name(client: Client, report: Path) -> None:
    """When other jobs took the name, a suffix makes it ours, and the notes say so; after nine names it is enough."""
    with ArtifactServer() as server:
        service = client.of(server, GITHUB_RUN_ATTEMPT="3")
        names = [service.upload("report", str(report)).name for _ in range(4)]
        assert names == ["report", "report-3", "report-3-2", "report-3-3"]
        server.artifacts |= {f"report-3-{number}": server.artifacts["report"] for number in range(4, 9)}
        sentence = refused(lambda: service.upload("report", str(report)))
        assert sentence.startswith("The run has an artifact 'report' already, and 8 more up to 'report-3-8';")
        del server.artifacts["report-3"]
        again = service.upload("report", str(report))
    assert again.notes == ("The run has an artifact 'report' already; this one is called 'report-3'.",)


@pytest.mark.parametrize("missing", ["ACTIONS_RUNTIME_TOKEN", "both addresses"])
def test_outside_of_actions(missing: str) -> None:
    """Where no runner gave us a service there is none to use."""
    environment = {"ACTIONS_RUNTIME_TOKEN": runtime_token(), "ACTIONS_RESULTS_URL": "http://127.0.0.1:9"}
    environment.pop(missing if missing in environment else "ACTIONS_RESULTS_URL")
    assert not ArtifactService(environment, mask=print).is_offered


@pytest.mark.parametrize(
    "token", ["opaque", "a.b.c", runtime_token("Actions.Results:one"), runtime_token(f"Actions.Results:{RUN}:a:b")]
)
def test_token_without_ids(client: Client, report: Path, token: str) -> None:
    """A runtime token that names no run and job is said to be the reason."""
    with ArtifactServer() as server:
        service = client.of(server, ACTIONS_RUNTIME_TOKEN=token)
        assert "names no run and job" in refused(lambda: service.upload("report", str(report)))
    assert server.calls == []


@pytest.mark.parametrize("results", [True, False])
def test_earlier_protocol(client: Client, report: Path, results: bool) -> None:
    """A server without the present protocol gets every file by the earlier one, without waiting for the present."""
    (report / "large").write_bytes(b"0123456789abcdef" * (9 * 65536))
    with ArtifactServer(v4=False) as server:
        addresses = {"ACTIONS_RUNTIME_URL": server.url} | ({} if results else {"ACTIONS_RESULTS_URL": ""})
        uploaded = client.of(server, **addresses).upload("report", str(report), retention_days=5)
    stored = server.artifacts["report"]
    files = {name: data for name, data in tree(report).items() if data is not None}
    assert stored.files == files
    assert stored.request == {"Type": "actions_storage", "Name": "report", "RetentionDays": 5}
    assert stored.final == {"Size": sum(map(len, files.values()))}
    assert (uploaded.id, uploaded.digest, client.waits) == (None, None, [])
    assert uploaded.url.endswith("/actions/runs/4711#artifacts")
    assert server.names.count("v3 file") == len(files) + 1
