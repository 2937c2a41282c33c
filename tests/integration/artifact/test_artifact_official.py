"""Our client and the official one, side by side, over real HTTP."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.integration.artifact.tools import Client, tree
from tests.servers.artifact_service import ArtifactServer, Call
from tests.waiting import HANGING

DIFFERENCES = {
    ("CreateArtifact", "version"): "4, since 7 obliges to a mime_type",
    ("CreateArtifact", "mime_type"): "left out: act and Gitea answer 500 to fields they do not know",
    ("block", "content-md5"): "a checksum that the store compares: damage is found at once",
    ("CreateArtifact", "expires_at"): "both ask for 3 days, but not in the same millisecond",
    ("FinalizeArtifact", "size"): "two programs, two archives of the same files",
    ("FinalizeArtifact", "hash"): "two programs, two archives of the same files",
}
"""Every way in which our upload is not the official one's: call and field → reason."""

HEADERS = {"authorization", "content-type", "content-md5", "x-ms-version", "x-ms-blob-content-type"}


def official(packages: Path, server: ArtifactServer, folder: Path, *arguments: str) -> dict[str, Any]:
    result = folder / "result.json"
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        ["node", str(packages / "official.mjs"), str(result), *arguments],
        check=False,
        env={**environment, **server.environment, "GITHUB_WORKSPACE": str(folder)},
        capture_output=True,
        text=True,
        timeout=HANGING,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(result.read_text())
    return answer


def test_official_client_gets_what_we_uploaded(packages: Path, client: Client, report: Path, tmp_path: Path) -> None:
    """The official client downloads our artifact: same files, same bytes, same digest, empty folders too."""
    (report / "logs" / "large").write_bytes(os.urandom(9 * 1024 * 1024))
    with ArtifactServer() as server:
        uploaded = client.of(server).upload("report", str(report), retention_days=3)
        assert server.names.count("CreateArtifact") == 1
        found = official(packages, server, tmp_path, "download", "report", str(tmp_path / "fetched"))
    assert tree(tmp_path / "fetched") == tree(report)
    assert found["digestMismatch"] is False
    assert (str(found["id"]), found["digest"]) == (uploaded.id, f"sha256:{uploaded.digest}")
    assert (client.waits, uploaded.notes) == ([], ())


def test_our_calls_are_the_official_ones(packages: Path, client: Client, report: Path, tmp_path: Path) -> None:
    """The official upload and ours are the same calls in the same order, but for the differences listed above."""
    files = [str(path) for path in report.rglob("*") if path.is_file()]
    with ArtifactServer() as server:
        official(packages, server, tmp_path, "upload", "report", str(report), *files)
    theirs = server.calls
    with ArtifactServer() as server:
        client.of(server).upload("report", str(report), retention_days=3)
    ours = server.calls
    assert [call.name for call in theirs] == ["CreateArtifact", "block", "blocklist", "FinalizeArtifact"]
    assert [call.name for call in ours] == [call.name for call in theirs]
    found = {
        (our.name, name)
        for our, their in zip(ours, theirs, strict=True)
        for name in {**traits(our), **traits(their)}
        if traits(our).get(name) != traits(their).get(name)
    }
    assert found == set(DIFFERENCES)


def traits(call: Call) -> dict[str, Any]:
    """What a server could tell two calls apart by, but for the archive's bytes and the random ids of its blocks."""
    headers = {name: value for name, value in call.headers.items() if name in HEADERS}
    query = {name: value for name, value in call.query.items() if name != "blockid"}
    return {**headers, **query, **(call.body if isinstance(call.body, dict) else {})}
