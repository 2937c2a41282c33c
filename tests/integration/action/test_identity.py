"""A verdict belongs to one repository, commit, image and weights, and is shown for nothing else."""

from pathlib import Path

import pytest
from tests.integration.action.tools import OURS, Stage
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import INTEGRATION, REPOSITORY, SHA, pull

from model_accuracy_eval.records.report import Actor

OTHER, THERE = "acme/other", "c" * 40
ELSEWHERE = {"adapter_repository": OTHER, "adapter_commit": THERE}
MALLORY = Actor(login="mallory", source="test")


@pytest.mark.parametrize(
    ("here", "there", "sentence"),
    [
        (
            "write",
            "admin",
            f"mallory has the role 'write' in {REPOSITORY}, but only an admin of the workflow's repository",
        ),
        ("admin", "write", f"mallory has the role 'write' in {OTHER}, but only an admin of the adapter's repository"),
        ("read", "read", f"mallory has the role 'read' in {REPOSITORY}"),
        ("admin", "admin", ""),
    ],
)
def test_another_repository_is_evaluated_for_an_admin_of_both(
    here: str, there: str, sentence: str, tmp_path: Path
) -> None:
    """Whoever owns a repository could otherwise put its verdict on a pull request of this one."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        hub.permissions |= {"mallory": (here, here), f"{OTHER} mallory": (there, there)}
        stage = Stage(hub, adapter=tmp_path if sentence else None)
        assert stage.run(actor=MALLORY, **ELSEWHERE) == (3 if sentence else 0)
        assert (stage.checked_out, sentence in stage.comment) == (False, True)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_verdict_on_another_repositorys_commit_is_no_success_here(allowed: bool) -> None:
    """It is shown there where the token may; here under another name, as a neutral check that names the other commit."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        if not allowed:
            for path in ("check-runs", "statuses"):
                hub.fault("POST", f"/repos/{OTHER}/{path}", 403, INTEGRATION, times=9)
        stage = Stage(hub)
        assert stage.run({"status": "true"}, **ELSEWHERE) == 0
        by_commit = {check["head_sha"]: check for check in hub.checks.values()}
        assert by_commit[SHA]["conclusion"] == "neutral"
        assert by_commit[SHA]["name"] == f"Model accuracy (fake, {OTHER})"
        assert by_commit[SHA]["output"]["title"].startswith(f"{OTHER}@{THERE[:7]}: Passed")
        assert (THERE in by_commit) == allowed
        assert {told["sha"] for told in hub.statuses} == ({THERE} if allowed else set())
        assert f"{OTHER}@{THERE}" in stage.comment
        assert ("does not show this verdict: GitHub refused to open the check" in stage.log.getvalue()) != allowed
        assert "which was not evaluated" not in stage.comment


def test_what_went_wrong_elsewhere_does_not_pass_here() -> None:
    """GitHub lets neutral satisfy a required check, so a run without a verdict never is."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        stage = Stage(hub)
        stage.stop_when_asking()
        assert stage.run(**ELSEWHERE) == 143
        assert {check["conclusion"] for check in hub.checks.values()} == {"cancelled"}


def test_jobs_of_a_pull_request_share_one_comment() -> None:
    """Each has its section; the headline is the worst of them, whichever ends last."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        for label, more in (("one", {}), ("two", {"hardware": "npu"}), ("one", ELSEWHERE)):
            Stage(hub).run(label=label, run="1-1", **more)
        (body,) = hub.bodies(OURS)
        assert "### ⛔ Model accuracy: Not started · 3 evaluations" in body


def test_a_job_that_writes_between_our_look_and_our_edit_loses_nothing() -> None:
    """GitHub takes both edits; who reads its own away writes again."""
    with FakeGitHub() as hub:
        Stage(hub).run(label="one", run="1-1")
        (first,) = hub.comments.values()

        def overwrite() -> None:
            """A job that had read the comment before ours wrote it."""
            if overwrites and '"label":"fake"' in first["body"]:
                first["body"] = overwrites.pop()

        overwrites = [first["body"]]
        hub.before_listing = overwrite
        Stage(hub).run(label="fake", run="1-1")
        assert (overwrites, "2 evaluations" in first["body"]) == ([], True)


def test_a_run_of_an_older_commit_adds_a_line() -> None:
    """Whenever it ends; nothing says of the head that it was not evaluated."""
    old = "a" * 40
    with FakeGitHub() as hub:
        hub.pulls[7], hub.pull_commits[7] = pull(7), [old, SHA]
        Stage(hub).run(run="2-1", started=2.0)
        late = Stage(hub)
        late.run(run="1-1", started=3.0, commit=old, adapter_commit=old)
        assert f"`{old[:7]}` passed, superseded" in late.comment
        assert f"@{SHA}" in late.comment
        assert "was not evaluated" not in late.comment
