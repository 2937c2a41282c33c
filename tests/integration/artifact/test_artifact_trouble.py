"""The artifact client when the service, the store or the network is not well."""

import math
import re
from pathlib import Path

import pytest
from tests.integration.artifact.tools import Client, refused, tree, unzipped
from tests.servers.artifact_service import SILENT, ArtifactServer
from tests.waiting import free_port

from model_accuracy_eval.github import artifact_transfer

FAULTS = [(429, {}), (500, {"msg": "x"}), (502, "<html>"), (503, ""), (504, ""), (0, "")]


@pytest.mark.parametrize("call", ["CreateArtifact", "block", "blocklist", "FinalizeArtifact"])
@pytest.mark.parametrize("faults", [FAULTS[:4], FAULTS[2:]])
def test_passing_trouble(client: Client, report: Path, call: str, faults: list[tuple[int, object]]) -> None:
    """What may pass is tried again, after waits whose bound doubles from 6 s; the artifact is whole all the same."""
    with ArtifactServer() as server:
        server.faults[call] = list(faults)
        client.of(server).upload("report", str(report))
    assert all(0 <= wait <= 6.0 * 2.0**number for number, wait in enumerate(client.waits))
    assert len(client.waits) == 4
    assert unzipped(server.artifacts["report"].data) == tree(report)


@pytest.mark.parametrize(
    ("call", "fault", "sentence"),
    [
        (
            "CreateArtifact",
            (503, {"msg": "busy"}),
            r"CreateArtifact was answered with HTTP 503 \w+: busy \(5 tries\)\.$",
        ),
        (
            "CreateArtifact",
            (200, "[]"),
            r"CreateArtifact was answered with HTTP 200 \w+ but without JSON \(5 tries\)\.$",
        ),
        ("block", (500, "<Code>x</Code>"), r"Block 1 of the artifact was answered with HTTP 500 \w+: x \(5 tries\)\.$"),
        ("FinalizeArtifact", (0, ""), r"FinalizeArtifact got no answer from http://127.0.0.1:\d+: .+ \(5 tries\)\.$"),
    ],
)
def test_lasting_trouble(client: Client, report: Path, call: str, fault: tuple[int, object], sentence: str) -> None:
    """After five tries the reason is told, with what the server said and how often it was asked."""
    with ArtifactServer() as server:
        server.faults[call] = [fault] * 9
        assert re.search(sentence, refused(lambda: client.of(server).upload("report", str(report))))
    assert len(client.waits) == 4
    assert server.names.count(call) == 5


@pytest.mark.parametrize("listens", [True, False])
def test_a_service_that_never_answers_is_given_up_after_half_a_minute(
    client: Client, report: Path, listens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its silence and all waits together; nobody listens, or somebody listens and says nothing."""
    monkeypatch.setattr(artifact_transfer, "ANSWER_SECONDS", 0.3)
    with ArtifactServer() as server:
        server.faults["CreateArtifact"] = [(SILENT, None)] * 9
        address = server.url if listens else f"http://127.0.0.1:{free_port()}"
        service = client.of(server, ACTIONS_RESULTS_URL=address)
        assert "got no answer from http://127.0.0.1:" in refused(lambda: service.upload("report", str(report)))
    assert sum(client.waits) < 30
    assert 1 <= len(client.waits) <= 4


@pytest.mark.parametrize(
    ("call", "fault", "sentence"),
    [
        ("CreateArtifact", (403, {"msg": "Artifact storage quota has been hit"}), "storage is used up: Artifact storage quota has been hit."),
        ("CreateArtifact", (429, {"msg": "insufficient usage to create"}), "storage is used up: insufficient usage to create."),
        ("CreateArtifact", (403, {"code": "permission_denied", "msg": "no"}), "CreateArtifact was answered with HTTP 403 Whatever: no."),
        ("CreateArtifact", (200, {"ok": False}), "CreateArtifact without agreeing to it"),
        ("CreateArtifact", (200, {"ok": True}), "gave no address to upload it to."),
        ("CreateArtifact", (404, "<html>nothing"), "HTTP 404 Whatever: nothing."),
        ("block", (403, "<Code>A</Code> sig=MARKER&x"), "Block 1 of the artifact was answered with HTTP 403 Whatever: A sig=***&x."),
        ("FinalizeArtifact", (200, {"ok": False}), "FinalizeArtifact without agreeing to it"),
    ],
)  # fmt: skip
def test_refusal(client: Client, report: Path, call: str, fault: tuple[int, object], sentence: str) -> None:
    """A decision of the server is told at once, in its own words; nobody is asked twice."""
    with ArtifactServer() as server:
        server.faults[call] = [fault]
        assert sentence in refused(lambda: client.of(server).upload("report", str(report)))
    assert client.waits == []
    assert server.names[-1] == call or "no address" in sentence


def test_an_upload_has_the_seconds_that_it_is_given(client: Client, report: Path) -> None:
    """However slowly a service answers, it is given up when no seconds are left, even if they were endless before."""
    with ArtifactServer() as server:
        server.faults["block"] = [(SILENT, "")]

        def left() -> float:
            return -1.0 if "block" in server.names else math.inf

        sentence = refused(lambda: client.of(server).upload("report", str(report), left=left))
        assert server.artifacts["report"].final is None
    assert sentence.startswith("The artifact was not uploaded in the few seconds that are left after a stop;")
