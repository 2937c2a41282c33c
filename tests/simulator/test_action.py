"""The action from `uses:` to a verdict: the real image, on a simulated runner, before a GitHub with a memory."""

import hashlib
import json

from tests.servers.fake_github import TOKEN
from tests.servers.fake_github_memory import REPOSITORY
from tests.servers.fault_server import FaultServer
from tests.simulator.scene import BUNDLED_WEIGHTS, Scene

BESIDE_US = {"model": BUNDLED_WEIGHTS, "runtime": "process", "hardware": "any"}
"""deploy.sh as a process in the action's own container."""


def test_a_service_that_runs_is_evaluated_and_told_everywhere(scene: Scene, service: FaultServer) -> None:
    """Exit 0; check completed on the head commit, comment on the pull request, summary, outputs, report in the workspace."""
    step = scene.run(endpoint=service.url, datasets="demo_gsm8k", gate="demo_gsm8k: avg@5 >= 0.2%")
    assert step.exit_code == 0, step.text
    told = {name: scene.check[name] for name in ("status", "conclusion", "head_sha")}
    assert told == {"status": "completed", "conclusion": "success", "head_sha": scene.sha}
    assert "Passed" in scene.comment
    assert "gsm8k" in scene.comment
    assert step.summary is not None
    assert "gsm8k" in step.summary
    assert step.outputs["conclusion"] == "passed"
    assert json.loads(step.outputs["summary-json"])["demo_gsm8k"]["avg@5"] == 5.0
    assert (scene.report(step) / "report.html").exists()
    assert step.outputs["artifact-id"] == "1"
    manifest = (scene.report(step) / "manifest.sha256").read_bytes()
    assert step.outputs["manifest-digest"] == hashlib.sha256(manifest).hexdigest()
    assert "model-accuracy-eval" in scene.artifacts.artifacts


def test_without_a_gate_nothing_says_passed(scene: Scene, service: FaultServer) -> None:
    """Check, comment, summary, outputs and log say that there was none; who requires one is refused before anything."""
    step = scene.run(endpoint=service.url, datasets="demo_gsm8k")
    assert (step.exit_code, step.outputs["conclusion"], scene.check["conclusion"]) == (0, "complete", "neutral")
    for text in (scene.check["output"]["title"], scene.comment, step.summary or ""):
        assert "Complete, no gate" in text
        assert "Passed" not in text
    assert "PASSED" not in step.text
    scene.hub.checks.clear()
    step = scene.run(endpoint=service.url, datasets="demo_gsm8k", require_gate="true")
    assert (step.exit_code, scene.check["conclusion"]) == (2, "action_required")
    assert "A gate is required (require-gate), and none is given" in scene.check["output"]["title"]


def test_a_push_after_the_admins_word_gets_no_verdict(scene: Scene) -> None:
    """An admin named commit A, the author pushed B before the step began: A is evaluated, and check, output and status
    are A's; the comment says that B was not evaluated."""
    named = scene.sha
    scene.push({"deploy.sh": "exit 1\n"})
    scene.runner.github["event_name"] = "issue_comment"
    scene.event.update(
        {"issue": {"number": 7, "pull_request": {"url": "https://github.example/pulls/7"}}, "action": "created"}
    )
    del scene.event["pull_request"]
    scene.event["comment"] = {"user": {"login": "alice"}, "body": f"/evaluate {named}"}
    step = scene.run(BESIDE_US, datasets="demo_arithmetic", limit="5", adapter_ref=named, status="true")
    assert step.exit_code == 0, step.text
    assert f"The adapter is {REPOSITORY} at {named}." in "".join(step.log.annotations("notice"))
    assert {scene.check["head_sha"], step.outputs["commit"]} == {named}
    assert {call.rpartition("/")[2] for call in scene.hub.calls if "/statuses/" in call} == {named}
    assert f"{named} · " in scene.comment
    assert "which was not evaluated" in scene.comment
    run = json.loads((scene.report(step) / "run.json").read_text())
    assert run["identity"]["commit"] == named


def test_no_token_is_left_anywhere(scene: Scene) -> None:
    """Marker tokens in every input that takes one: neither log, nor workspace, nor deploy.sh's output holds them."""
    markers = {"adapter_token": "marker-adapter-token-1", "model_token": "marker-model-token-2"}
    (scene.runner.workspace / "weights").symlink_to(BUNDLED_WEIGHTS)
    step = scene.run(BESIDE_US | markers, model="weights", datasets="demo_arithmetic", limit="2")
    assert step.exit_code == 0, step.text
    tokens = [TOKEN, *markers.values()]
    kept = [path for path in scene.runner.workspace.rglob("*") if path.is_file()]
    assert any(path.name == "deploy.log" for path in kept)
    for token in tokens:
        assert token not in step.text
        assert not [path for path in kept if token.encode() in path.read_bytes()]
