"""What starts a run beside pull requests and comments of people: a schedule, a merge queue, Dependabot."""

import pytest
from tests.servers.fake_github_permissions import FOUR
from tests.simulator.scene import EVALUATE_SMALL, SMALL, Scene

READ_ONLY = frozenset(right.replace("write", "read") for right in FOUR)
REFUSED = (
    "is a bot, and only an admin of acme/adapter can start an accuracy evaluation; one of them can re-run this job"
)


@pytest.fixture
def adapter(scene: Scene) -> Scene:
    scene.push(SMALL)
    return scene


def schedule(scene: Scene) -> None:
    """Nothing but the line of `cron`; GitHub names the person who last changed it, and the default branch's commit."""
    scene.runner.github |= {"event_name": "schedule", "sha": scene.sha, "ref": "refs/heads/main"}
    scene.event = {"schedule": "17 3 * * 1", "repository": {"full_name": "acme/adapter"}}


def merge_group(scene: Scene) -> None:
    """A commit that is no pull request's, started by the queue."""
    ref = "refs/heads/gh-readonly-queue/main/pr-7-bbbb"
    queue = "github-merge-queue[bot]"
    scene.runner.github |= {"event_name": "merge_group", "sha": scene.sha, "ref": ref}
    scene.runner.github |= {"actor": queue, "triggering_actor": queue}
    scene.event = {"action": "checks_requested", "merge_group": {"head_sha": scene.sha, "head_ref": ref}}


def test_a_schedule_evaluates_the_default_branch(adapter: Scene) -> None:
    """Check and status on its commit, no comment, the artifact; and the next one does the same."""
    commit = adapter.sha
    schedule(adapter)
    step = adapter.run(EVALUATE_SMALL, status="true")
    assert step.exit_code == 0, step.text
    assert (adapter.check["head_sha"], step.outputs["commit"]) == (commit, commit)
    assert {status["sha"] for status in adapter.hub.statuses} == {commit}
    assert (adapter.hub.comments, step.outputs["comment-url"]) == ({}, "")
    assert "model-accuracy-eval" in adapter.artifacts.artifacts


def test_a_merge_queue_is_a_bot(adapter: Scene) -> None:
    """The check of the group's commit says what an admin can do."""
    commit = adapter.sha
    merge_group(adapter)
    step = adapter.run(EVALUATE_SMALL)
    assert (step.exit_code, adapter.check["conclusion"]) == (3, "action_required")
    assert adapter.check["head_sha"] == commit
    assert f"github-merge-queue\\[bot\\] {REFUSED}" in adapter.check["output"]["summary"]


def test_dependabot_is_a_bot_without_secrets(adapter: Scene) -> None:
    """With the read-only token of a job without `permissions:` the summary alone can say so."""
    adapter.hub.grants = READ_ONLY
    adapter.runner.github |= {"actor": "dependabot[bot]", "triggering_actor": "dependabot[bot]"}
    step = adapter.run(EVALUATE_SMALL, model_token="", adapter_token="")
    assert step.exit_code == 3
    assert f"dependabot[bot] {REFUSED}" in " ".join(step.log.annotations("error"))
    assert "dependabot" in (step.summary or "")
    assert (adapter.hub.checks, adapter.hub.comments) == ({}, {})
