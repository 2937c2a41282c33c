"""What is published at the end: annotations, old figures after a cancelled run, the artifact in the last seconds."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fake_ports import FakeLauncher, FakeWeightsSource, MemoryStore
from tests.integration.action.tools import JOB, OURS, Stage
from tests.servers.artifact_service import runtime_token
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import SHA
from tests.servers.http import Exchange, HttpServer

from model_accuracy_eval.adapter.adapter_process import ProcessLauncher
from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.artifact_service import ArtifactService
from model_accuracy_eval.records.report import PullRequest
from model_accuracy_eval.run_folder.run_folder import RunFolder


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    (tmp_path / "deploy.sh").write_text("exit 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("job", "path"),
    [
        ({}, "deploy.sh"),
        ({"adapter_path": "./models/one/"}, "models/one/deploy.sh"),
        ({"adapter_commit": "c" * 40}, None),
    ],
)
def test_a_failed_deploy_is_noted_at_the_script(adapter: Path, job: dict[str, str], path: str | None) -> None:
    """At the path in the repository, and only if the check's own commit is the adapter's."""
    launcher = FakeLauncher()
    launcher.running.code = 1
    with FakeGitHub() as hub:
        job.pop("repository", None)
        assert Stage(hub, {"launcher": launcher}, adapter=adapter).run(**job) == 4
        (told,) = hub.annotations.values()
    assert [note["path"] for note in told] == ([path] if path else [])
    if path:
        assert told[0]["message"].startswith("deploy.sh exited with code 1")
        assert (told[0]["start_line"], told[0]["annotation_level"]) == (1, "failure")


def test_a_refused_requirement_is_noted_at_its_line(adapter: Path) -> None:
    """The line that would replace torch; what else is wrong stands in the same sentence."""
    (adapter / "requirements.txt").write_text("numpy\n\ntorch==2.1\n")
    parts = {"launcher": ProcessLauncher({"PATH": "/usr/bin:/bin"}), "weights_source": FakeWeightsSource("Too large.")}
    with FakeGitHub() as hub:
        stage = Stage(hub, parts, adapter=adapter)
        assert stage.run() == 3
        ((note,),) = hub.annotations.values()
        assert (note["path"], note["start_line"]) == ("requirements.txt", 3)
        assert "would replace what the machine provides: 'torch==2.1'" in note["message"]
        assert note["message"].endswith("Too large.")
        assert stage.check["conclusion"] == "action_required"


def test_a_cancelled_run_takes_over_the_comment() -> None:
    """It says that it was cancelled, and there is one comment still."""
    with FakeGitHub() as hub:
        stage = Stage(hub)
        assert stage.run() == 0
        looks = hub.calls.count("GET /repos/acme/adapter/issues/7/comments")
        stage.stop_when_asking()
        assert stage.run() == 143
        assert "Cancelled" in stage.comment
        assert hub.calls.count("GET /repos/acme/adapter/issues/7/comments") == looks + 2
        assert len(hub.bodies(OURS)) == 1


LATE = (
    "::warning::The artifact was not uploaded in the few seconds that are left after a stop; the report is in the run's"
)


def silent_artifacts(stage: Stage, silent: HttpServer, folder: Path) -> None:
    """A service that takes every request and never answers."""
    environment = {"ACTIONS_RUNTIME_TOKEN": runtime_token(), "ACTIONS_RESULTS_URL": silent.url}
    stage.artifacts = ArtifactService(environment, mask=lambda _: None)
    stage.parts = {"open_store": lambda name: RunFolder(str(folder / name))}


@pytest.mark.parametrize("since_stop", [8.9, 60.0])
def test_the_artifact_of_a_stopped_run_gets_the_seconds_that_are_left(tmp_path: Path, since_stop: float) -> None:
    """A service that does not answer is given up in time; check, comment and log have told everything by then."""
    with FakeGitHub() as hub, HttpServer(Exchange.stall) as silent:
        stage = Stage(hub, since_stop=itertools.count(since_stop, 0.03).__next__)
        silent_artifacts(stage, silent, tmp_path)
        stage.stop_when_asking()
        assert stage.run() == 143
        assert stage.log.getvalue().count(LATE) == 1
        assert stage.check["conclusion"] == "cancelled"
        assert "Cancelled" in stage.comment


def test_a_runner_without_npus_is_refused_with_the_rest(adapter: Path) -> None:
    """A repository for NPUs is not evaluated where deploy.sh would see none; `hardware: any` asks nothing."""
    with FakeGitHub() as hub:
        hub.properties = [{"property_name": "hardware", "value": "NPU"}]
        stage = Stage(hub, {"weights_source": FakeWeightsSource("Too large.")}, adapter=adapter, lack="It has no NPU.")
        assert stage.run(hardware="npu") == 3
        cure = "use a runner that has some, or set `devices: none` if deploy.sh needs none."
        title = stage.check["output"]["title"]
        assert title == f"Not started: It has no NPU. acme/adapter is for NPUs; {cure} Too large."
        stage.parts = {}
        assert stage.run(hardware="", nonce="2") == 0


FORK = PullRequest(number=7, head_sha=SHA, head_repository="bob/adapter", is_fork=True)
ERROR = "::error title=The result could not be published everywhere::"


@pytest.mark.parametrize(("pull", "exit_code"), [(JOB.pull, 6), (FORK, 0)])
def test_a_result_that_could_not_be_published_fails_the_step(pull: PullRequest, exit_code: int) -> None:
    """Check and comment are refused, the status is set all the same; from a fork that is expected and no failure."""
    with FakeGitHub(grants=frozenset({"statuses: write"})) as hub:
        stage = Stage(hub)
        assert stage.run(pull=pull) == exit_code
        assert [told["state"] for told in hub.statuses] == ["pending", "success"]
        log = stage.log.getvalue()
        assert log.count("::warning::") == 2
        assert (ERROR in log) == bool(exit_code)


class FullStore(MemoryStore):
    """A disk without room for the page."""

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        if name == "report.html":
            raise PublishFailed("No space is left.")
        super().write(name, data)


@pytest.mark.parametrize("pull", [JOB.pull, FORK])
def test_files_that_cannot_be_written_fail_the_step_and_silence_nothing(pull: PullRequest) -> None:
    """The comment has the verdict; the step says what is missing, from a fork as well."""
    with FakeGitHub() as hub:
        stage = Stage(hub, {"open_store": FullStore})
        assert stage.run(pull=pull) == 6
        assert "Passed" in stage.comment
        assert f"{ERROR}No space is left." in stage.log.getvalue()


def test_a_defect_closes_the_check_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 70 with an annotation, the traceback, a check that is completed and a comment."""

    def broken(*_: object) -> NoReturn:
        raise ZeroDivisionError("our own mistake")

    with FakeGitHub() as hub:
        stage = Stage(hub)
        monkeypatch.setattr(stage, "_plan", broken)
        assert stage.run() == 70
        assert (stage.check["status"], stage.check["conclusion"]) == ("completed", "failure")
        assert "This is a defect of model-accuracy-eval (ZeroDivisionError)" in stage.check["output"]["title"]
        assert "::error" in stage.log.getvalue()
        assert "our own mistake" in stage.check["output"]["summary"]
        assert "This is a defect" in stage.comment
