"""The list of the action's sinks: what each publishes, and what it takes from those before it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.action.tools import Stage
from tests.servers.artifact_service import ArtifactServer
from tests.servers.fake_github import FakeGitHub
from tests.simulator.commands import pairs

from model_accuracy_eval.github.artifact_service import ArtifactService
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.records import Fault, Request
from model_accuracy_eval.run_folder.run_folder import RunFolder


@contextmanager
def whole_stage(hub: FakeGitHub, folder: Path) -> Iterator[Stage]:
    """A step with the runner's files, a real run folder and an artifact service."""
    names = ("GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
    with ArtifactServer() as server:
        stage = Stage(hub, {"open_store": lambda name: RunFolder(str(folder / name))})
        stage.environment = {name: str(folder / name) for name in names}
        stage.artifacts = ArtifactService(server.environment, mask=lambda _: None)
        yield stage


def outputs(stage: Stage) -> dict[str, str]:
    return pairs(Path(stage.environment["GITHUB_OUTPUT"]).read_bytes())


def summary(stage: Stage) -> str:
    return Path(stage.environment["GITHUB_STEP_SUMMARY"]).read_text()


def test_all_sinks_publish_and_link_to_those_before_them(tmp_path: Path) -> None:
    """The artifact is linked from check, comment and summary; the outputs name everything; with a check no status."""
    with FakeGitHub() as hub, whole_stage(hub, tmp_path) as stage:
        assert stage.run() == 0
        values = outputs(stage)
        assert (values["conclusion"], values["exit-code"]) == ("passed", "0")
        assert values["artifact-id"]
        assert len(values["artifact-digest"]) == 64
        assert values["comment-url"]
        for text in (stage.check["output"]["summary"], stage.comment, summary(stage)):
            assert f"[Full report (artifact)](<{values['artifact-url']}>)" in text
            assert f"[Check](<{values['check-url']}>)" in text
        assert "Not published everywhere" not in summary(stage)
        assert "avg@5" in stage.log.getvalue()
        assert hub.statuses == []
        assert (Path(values["report-path"]) / "report.html").is_file()


def test_a_runner_without_an_artifact_service_is_told(tmp_path: Path) -> None:
    """Where the report is; that nothing was asked for is no such case."""
    for name, told in (("model-accuracy-eval", True), ("", False)):
        folder = tmp_path / str(told)
        folder.mkdir()
        with FakeGitHub() as hub, whole_stage(hub, folder) as stage:
            stage.artifacts = None
            assert stage.run({"artifact_name": name}) == 0
            assert ("This runner names no artifact service" in stage.log.getvalue()) is told


def test_lost_samples_stand_beside_the_figures_wherever_they_go(tmp_path: Path) -> None:
    """In the output for other steps, in the comment and in the check; a clean run's output has nothing but figures."""

    def picky(request: Request, _choice: int) -> str | Fault:
        refused = request.messages[-1].content.startswith("What is 3")
        return Fault(kind="rejected", sentence="HTTP 400", status=400) if refused else "#### 1"

    for answer, has_bounds in ((picky, True), (lambda _request, _choice: "#### 1", False)):
        with FakeGitHub() as hub, whole_stage(hub, tmp_path / str(has_bounds)) as stage:
            (tmp_path / str(has_bounds)).mkdir()
            stage.answer = answer
            assert stage.run() == 0
            figures = json.loads(outputs(stage)["summary-json"])["demo_gsm8k"]
            assert figures["avg@5"] == 25.0
            assert figures.get("bounds", {}).get("avg@5") == (
                {"low": 25.0, "high": 50.0, "samples": 5} if has_bounds else None
            )
            published = (stage.comment, stage.check["output"]["summary"])
            assert ["25.00 .. 50.00" in text.replace("\u00a0", " ") for text in published] == [has_bounds] * 2


def test_the_artifact_of_a_stopped_run_is_published_after_the_check(tmp_path: Path) -> None:
    """The check cannot link to it any more, the summary and the outputs can."""
    with FakeGitHub() as hub, whole_stage(hub, tmp_path) as stage:
        stage.stop_when_asking()
        stage.since_stop = lambda: 0.5
        assert stage.run() == 143
        address = outputs(stage)["artifact-url"]
        assert address
        assert address not in stage.check["output"]["summary"]
        assert address in summary(stage)


def test_later_steps_get_the_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes hands at the end, with all files in it, and is named relative to the workspace."""
    manifests: list[bool] = []
    monkeypatch.setattr(
        Runner, "give_back", lambda _, folder: manifests.append((Path(folder) / "manifest.sha256").is_file())
    )
    with FakeGitHub() as hub, whole_stage(hub, tmp_path) as stage:
        assert stage.run(workspace=str(tmp_path)) == 0
        assert manifests == [True]
        path = outputs(stage)["report-path"]
        assert not path.startswith("/")
        assert (tmp_path / path / "run.json").is_file()
