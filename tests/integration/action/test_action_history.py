"""The history that the action keeps: on a branch or in a file, of branches and not of pull requests."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fake_ports import ManualClock
from tests.integration.action.tools import JOB, Stage
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import EVERYTHING, SHA
from tests.unit.report.history_samples import past

from model_accuracy_eval.report import history
from model_accuracy_eval.run_folder import history_file

NIGHTLY: dict[str, Any] = {"event": "schedule", "pull": None}
FILE = {"history_file": "h.jsonl"}


class _Noon(ManualClock):
    """Runs have a time, which decides about their order."""

    def local(self, form: str) -> str:
        return "2026-03-26T12:00:00+0000" if "%z" in form else "20260326_120000"


def nightly(hub: FakeGitHub, sinks: dict[str, Any] = FILE, **job: Any) -> tuple[int, str]:
    stage = Stage(hub, clock=_Noon())
    code = stage.run(sinks, **{**NIGHTLY, **job})
    return code, stage.log.getvalue()


def test_a_run_is_added_to_the_branch() -> None:
    """Its own, and another night's beside it."""
    with FakeGitHub(grants=EVERYTHING | {"contents: write"}) as hub:
        hub.branches["history"] = {"h.jsonl": history_file.encode(past(1, [1]))}
        code, log = nightly(hub, {**FILE, "history_branch": "history"})
        assert code == 0, log
        assert ([check["head_sha"] for check in hub.checks.values()], hub.comments) == ([SHA], {})
        lines = history_file.decode(hub.branches["history"]["h.jsonl"], "h").lines
    assert [line.dataset for line in lines] == ["gsm8k", "demo_gsm8k"]
    assert lines[1].problems == 4
    assert hub.messages == [f"Accuracy of fake, run {lines[1].run_id[:8]}\n\n[skip ci]"]


def test_a_run_is_added_to_a_file_of_the_workspace(tmp_path: Path) -> None:
    """Which other jobs of the runner may share."""
    with FakeGitHub() as hub:
        code, log = nightly(hub, workspace=str(tmp_path))
        assert code == 0, log
    assert len(history_file.decode((tmp_path / "h.jsonl").read_bytes(), "h").lines) == 1


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target", "workflow_run", "workflow_dispatch"])
def test_runs_of_pull_requests_are_not_added(event: str, tmp_path: Path) -> None:
    """Their code may never be merged; a push of a commit that happens to be one's head is added."""
    with FakeGitHub() as hub:
        _, log = nightly(hub, workspace=str(tmp_path), event=event, pull=JOB.pull, adapter_ref=JOB.commit)
        assert "The run of a pull request is not added to the history." in log
        assert not (tmp_path / "h.jsonl").exists()
        nightly(hub, workspace=str(tmp_path), event="push", pull=JOB.pull)
        assert (tmp_path / "h.jsonl").exists()


def test_a_history_that_cannot_be_written_is_told_and_hides_no_verdict() -> None:
    """Exit code 6 with the permission that is missing; the check has the verdict."""
    with FakeGitHub() as hub:
        code, log = nightly(hub, {**FILE, "history_branch": "history"})
        assert code == 6
        assert "the token lacks `contents: write`" in log
        assert [check["status"] for check in hub.checks.values()] == ["completed"]


def test_a_regression_is_a_warning_of_the_step(tmp_path: Path) -> None:
    """A night in which all four problems are lost, after many in which they were solved, and again the next night."""
    with FakeGitHub() as hub:
        nightly(hub, workspace=str(tmp_path))
        file = tmp_path / "h.jsonl"
        (mine,) = history_file.decode(file.read_bytes(), "h").lines
        good = replace(
            mine, right=(mine.n,) * 4, figures=tuple(replace(each, value=100.0) for each in mine.figures[:1])
        )
        bad = replace(mine, right=(0,) * 4, figures=tuple(replace(each, value=0.0) for each in mine.figures[:1]))
        nights = [
            replace(good if night < 20 else bad, run_id=f"{night:032x}", finished=f"2020-01-{night:02d}T00:00:00+0000")
            for night in range(1, 29)
        ]
        file.write_bytes(b"".join(map(history_file.encode, nights)) + b"{torn")
        assert history.history(nights).regressed
        _, log = nightly(hub, workspace=str(tmp_path))
    assert "demo_gsm8k: REGRESSED between 00000000 (2020-01-19) and 00000000 (2020-01-20)" in log
    assert "h.jsonl, line 29 cannot be read and is left out" in log
