"""Baselines that are artifacts: whose they may be, and that they are what was uploaded."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.github.tools import requester
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import EVERYTHING, NO_SHA, REPOSITORY
from tests.servers.http import Exchange, HttpServer

from model_accuracy_eval.errors import BadReuse, BadValue, EvalError, PublishFailed, Refused
from model_accuracy_eval.github import earlier_artifacts

ENVIRONMENT = {
    "GITHUB_REPOSITORY": REPOSITORY,
    "GITHUB_WORKFLOW_REF": f"{REPOSITORY}/.github/workflows/evaluate.yml@refs/pull/7/merge",
}
FORK: dict[str, Any] = {"head_repository": {"full_name": "stranger/adapter", "id": 9, "name": "adapter"}}


class Blobs:
    """A store at signed addresses; it is another server than GitHub, and must not see the token."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.broken = 0
        self.tokens: list[str] = []
        self.server = HttpServer(self._handle)

    async def _handle(self, exchange: Exchange) -> None:
        self.tokens += [exchange.headers["authorization"]] if "authorization" in exchange.headers else []
        if self.broken:
            self.broken -= 1
            exchange.reset()
            return
        exchange.reply(200, self.content[exchange.path.partition("?")[0]], kind="application/zip")

    def address(self, content: bytes, served: bytes | None = None) -> str:
        path = f"/{hashlib.sha256(content).hexdigest()[:8]}"
        self.content[path] = content if served is None else served
        return f"{self.server.url}{path}?sig=signature-of-the-tests"


@pytest.fixture
def blobs() -> Iterator[Blobs]:
    store = Blobs()
    with store.server:
        yield store


def keep(hub: FakeGitHub, blobs: Blobs, content: bytes, name: str = "accuracy", **more: Any) -> str:
    """Its digest."""
    digest: str = hub.keep_artifact(name, content, blobs.address(content), **more)["digest"]
    return digest


def fetched(hub: FakeGitHub, wanted: str, target: Path, name: str = "accuracy", **environment: str) -> str:
    return earlier_artifacts.download(requester(hub), ENVIRONMENT | environment, name, wanted, target)


def test_the_newest_artifact_of_the_branch_is_the_baseline(blobs: Blobs, tmp_path: Path) -> None:
    """Of this workflow and this name; expired ones, failed runs, other branches, names and workflows are passed over."""
    with FakeGitHub() as hub:
        keep(hub, blobs, b"older")
        digest = keep(hub, blobs, b"wanted")
        keep(hub, blobs, b"failed", conclusion="failure")
        keep(hub, blobs, b"expired", expired=True)
        keep(hub, blobs, b"other branch", head_branch="next")
        keep(hub, blobs, b"other name", "logs")
        keep(hub, blobs, b"other workflow", workflow="lint.yml")
        told = fetched(hub, "branch:main", tmp_path / "baseline.zip")
    assert (tmp_path / "baseline.zip").read_bytes() == b"wanted"
    assert digest in told
    assert "branch:main" in told
    assert "signature-of-the-tests" not in told
    assert blobs.tokens == []


@pytest.mark.parametrize(
    "planted",
    [
        {"event": "pull_request", **FORK},
        {"event": "push", **FORK},
        {"event": "pull_request"},
        {"event": "pull_request_target"},
        {"event": "issue_comment"},
        {"event": "workflow_run"},
        {"head_repository": None},
        {"head_sha": "a" * 40},  # a tag called main, or what was pushed away
        {"head_sha": NO_SHA},
    ],
)
def test_what_a_pull_request_uploaded_is_no_baseline(planted: dict[str, Any], blobs: Blobs, tmp_path: Path) -> None:
    """A fork may call its branch main, and runs that evaluate pull requests may belong to the default branch."""
    with FakeGitHub() as hub:
        hub.keep_artifact("accuracy", b"planted", blobs.address(b"planted"))
        hub.workflow_runs[0].update(planted)
        hub.violations.clear()
        with pytest.raises(BadReuse, match=r"No successful run of evaluate\.yml on the branch 'main'"):
            fetched(hub, "branch:main", tmp_path / "baseline.zip")
        hub.violations.clear()  # GitHub's description has no run whose repository is gone
    assert not (tmp_path / "baseline.zip").exists()


def test_a_digest_names_one_artifact(blobs: Blobs, tmp_path: Path) -> None:
    """In capitals, too, and among several pages; never one that a fork's run has uploaded, or that is gone."""
    with FakeGitHub() as hub:
        digest = keep(hub, blobs, b"wanted", event="workflow_dispatch", head_branch="release")
        for number in range(120):
            keep(hub, blobs, b"newer %d" % number)
        fetched(hub, "sha256:" + digest[7:].upper(), tmp_path / "baseline.zip")
        assert (tmp_path / "baseline.zip").read_bytes() == b"wanted"
        for other in (
            keep(hub, blobs, b"planted", **FORK),
            keep(hub, blobs, b"gone", expired=True),
            f"sha256:{64 * 'a'}",
        ):
            with pytest.raises(BadReuse, match=f"keeps no artifact 'accuracy' with the digest {other}"):
                fetched(hub, other, tmp_path / "baseline.zip")


def test_another_content_than_was_uploaded_is_refused(blobs: Blobs, tmp_path: Path) -> None:
    """With both hashes."""
    with FakeGitHub() as hub:
        hub.keep_artifact("accuracy", b"wanted", blobs.address(b"wanted", served=b"other"))
        with pytest.raises(BadReuse, match=r"came as sha256:\w+, and GitHub says sha256:\w+: it is not the one"):
            fetched(hub, "branch:main", tmp_path / "baseline.zip")


def test_a_download_that_breaks_is_tried_again(blobs: Blobs, tmp_path: Path) -> None:
    """Twice, each time at a new address; the third break is the end, without the signature in the sentence."""
    with FakeGitHub() as hub:
        keep(hub, blobs, b"wanted")
        blobs.broken = 2
        fetched(hub, "branch:main", tmp_path / "baseline.zip")
        assert (tmp_path / "baseline.zip").read_bytes() == b"wanted"
        blobs.broken = 3
        with pytest.raises(PublishFailed, match=r"could not be downloaded in 3 tries; try again") as error:
            fetched(hub, "branch:main", tmp_path / "baseline.zip")
    assert "signature" not in error.value.sentence


def test_a_token_without_the_permission_is_told_which(blobs: Blobs, tmp_path: Path) -> None:
    """Of a private repository; nothing was evaluated by then."""
    with FakeGitHub(grants=EVERYTHING) as hub:
        hub.private = True
        keep(hub, blobs, b"wanted")
        with pytest.raises(Refused, match="`actions: read`"):
            fetched(hub, "branch:main", tmp_path / "baseline.zip")


@pytest.mark.parametrize(
    ("wanted", "name", "workflow", "sentence"),
    [
        ("branch:", "accuracy", "", "names no branch"),
        ("branch:main", "", "", "artifact-name, which is empty"),
        ("branch:main", "accuracy", "acme/.github/.github/workflows/all.yml@main", "is not one of acme/adapter"),
    ],
)
def test_what_names_no_artifact_is_refused(
    wanted: str, name: str, workflow: str, sentence: str, tmp_path: Path
) -> None:
    """Before GitHub is asked anything."""
    more = {"GITHUB_WORKFLOW_REF": workflow} if workflow else {}
    with FakeGitHub() as hub:
        with pytest.raises((BadValue, BadReuse), match=sentence) as error:
            fetched(hub, wanted, tmp_path / "baseline.zip", name, **more)
        assert hub.calls == []
    assert isinstance(error.value, EvalError)
