"""The action from `uses:` to a verdict: the real image, on a simulated runner, before a GitHub with a memory."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.container.tools import ADAPTER_IMAGE, DOCKERFILES
from tests.servers.artifact_service import ArtifactServer
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY
from tests.servers.fault_server import FaultServer
from tests.servers.git_server import git_server
from tests.simulator.commands import Log
from tests.simulator.runner import Runner, Step

ROOT = Path(__file__).parent.parent.parent
BRIDGE = "172.17.0.1"
"""The host, as containers on the engine's default network see it."""


@pytest.fixture(scope="module")
def image(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The action's image, built as the runner builds it."""
    name = Runner(tmp_path_factory.mktemp("builder"), {}).build(ROOT)
    yield name
    subprocess.run(["docker", "image", "rm", "-f", name], check=True, capture_output=True)


@dataclass
class Scene:
    """A pull request on the adapter's repository, and everything around it."""

    hub: FakeGitHub
    runner: Runner
    image: str
    event: dict[str, Any]
    sha: str
    artifacts: ArtifactServer

    def run(self, **inputs: str) -> Step:
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        return self.runner.run(ROOT, self.image, given, self.event)

    @property
    def check(self) -> dict[str, Any]:
        (found,) = self.hub.checks.values()
        return found


def commit_adapter(root: Path) -> str:
    """The example adapter as a repository; returns its commit."""
    folder = root / REPOSITORY
    shutil.copytree(ROOT / "example-adapter", folder, ignore=shutil.ignore_patterns("__pycache__"))
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "adapter"]):
        subprocess.run(["git", *author, *arguments], cwd=folder, check=True)
    subprocess.run(["git", "config", "uploadpack.allowAnySHA1InWant", "true"], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def scene(image: str, tmp_path: Path) -> Iterator[Scene]:
    """An admin pushed to pull request 7 of a repository whose hardware is NPU."""
    sha = commit_adapter(tmp_path / "served")
    with FakeGitHub(host=BRIDGE) as hub, git_server(tmp_path / "served", host=BRIDGE) as (git_url, _):
        hub.permissions["alice"] = ("admin", "admin")
        hub.properties = [{"property_name": "hardware", "value": "NPU"}]
        repository = {"full_name": REPOSITORY}
        event = {
            "pull_request": {
                "number": 7,
                "state": "open",
                "head": {"sha": sha, "repo": repository},
                "base": {"sha": "b" * 40, "repo": repository},
            }
        }
        github = {
            "token": TOKEN,
            "repository": REPOSITORY,
            "actor": "alice",
            "triggering_actor": "alice",
            "event_name": "pull_request",
            "sha": "f" * 40,
            "run_id": "4711",
            "run_attempt": "1",
            "job": "accuracy",
            "api_url": hub.url,
            "server_url": git_url,
        }
        with ArtifactServer(host=BRIDGE) as artifacts:
            told = artifacts.environment
            given = {name: told[name] for name in ("ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL")}
            yield Scene(hub, Runner(tmp_path / "work", github, given), image, event, sha, artifacts)


@pytest.fixture
def service() -> Iterator[FaultServer]:
    """A service that runs already and knows one answer."""
    answers = FaultServer(lambda request: ["#### 78"] * request.get("n", 1), host=BRIDGE)
    with answers as server:
        yield server


def test_a_service_that_runs_is_evaluated_and_told_everywhere(scene: Scene, service: FaultServer) -> None:
    """Exit 0; check completed on the head commit, comment on the pull request, summary, outputs, report in the workspace."""
    step = scene.run(endpoint=service.url, datasets="demo_gsm8k")
    assert step.exit_code == 0, step.text
    assert (scene.check["status"], scene.check["conclusion"], scene.check["head_sha"]) == (
        "completed",
        "success",
        scene.sha,
    )
    (body,) = scene.hub.bodies("github-actions[bot]")
    assert "Passed" in body
    assert "gsm8k" in body
    assert step.summary is not None
    assert "gsm8k" in step.summary
    assert step.outputs["conclusion"] == "passed"
    assert json.loads(step.outputs["summary-json"])["demo_gsm8k"]["avg@5"] == 5.0
    assert (scene.runner.workspace / step.outputs["report-path"] / "report.html").exists()
    assert step.outputs["artifact-id"] == "1"
    assert "model-accuracy-eval" in scene.artifacts.artifacts


def test_a_missed_gate_fails_the_step_and_the_check(scene: Scene, service: FaultServer) -> None:
    """Exit 1, conclusion `failure`, and the gate's sentence where reviewers look."""
    step = scene.run(endpoint=service.url, datasets="demo_gsm8k", gate="demo_gsm8k: avg@5 >= 60")
    assert (step.exit_code, scene.check["conclusion"]) == (1, "failure")
    (body,) = scene.hub.bodies("github-actions[bot]")
    assert "avg@5 is 5.00" in body


def test_the_adapter_of_the_pull_request_is_deployed_and_evaluated(scene: Scene) -> None:
    """The head commit is checked out, its deploy.sh serves a real model, and its accuracy is told."""
    step = scene.run(model="/opt/model-accuracy-eval/example-adapter/weights", datasets="demo_arithmetic", limit="20")
    assert step.exit_code == 0, step.text
    assert f"The adapter is {REPOSITORY} at {scene.sha}." in "".join(step.log.annotations("notice"))
    figures = json.loads(step.outputs["summary-json"])["demo_arithmetic"]
    assert figures["pass@5"] > 60


def test_somebody_who_is_no_admin_is_refused(scene: Scene) -> None:
    """Exit 3, `action_required`, the comment tells who can start it, and nothing was deployed."""
    scene.hub.permissions["alice"] = ("write", "maintain")
    scene.hub.properties = []
    step = scene.run(model="/no/weights", datasets="demo_arithmetic")
    assert (step.exit_code, scene.check["conclusion"]) == (3, "action_required")
    (body,) = scene.hub.bodies("github-actions[bot]")
    assert "only an admin of the adapter's repository can start" in body
    assert "does not say that its hardware type is NPU" in body
    assert "are not there" in body
    assert step.outputs["conclusion"] == "refused"


def test_the_second_run_updates_the_same_comment(scene: Scene, service: FaultServer) -> None:
    """One comment of ours stays one comment, and shows the old figures beside the new ones."""
    with FaultServer(lambda request: ["#### 0"] * request.get("n", 1), host=BRIDGE) as worse:
        scene.run(endpoint=worse.url, datasets="demo_gsm8k")
    scene.run(endpoint=service.url, datasets="demo_gsm8k")
    (body,) = scene.hub.bodies("github-actions[bot]")
    assert "before" in body
    assert "+5.00" in body


def test_a_cancelled_step_closes_its_check(scene: Scene) -> None:
    """SIGINT in the middle of the asking: check and comment say cancelled, within the runner's ten seconds."""
    step = scene.runner.run(
        ROOT,
        scene.image,
        {
            "model": "/opt/model-accuracy-eval/example-adapter/weights",
            "datasets": "demo_arithmetic",
            "num-return-sequences": "200",
            "concurrency": "1",
        },
        scene.event,
        cancel=lambda log: any("20,000 samples" in line for line in log.lines),
    )
    assert step.exit_code == 130, step.text
    assert scene.check["conclusion"] == "cancelled"
    assert step.outputs["conclusion"] == "stopped"


def test_no_token_is_left_anywhere(scene: Scene) -> None:
    """Marker tokens in every input that takes one: neither log, nor workspace, nor deploy.sh's output holds them."""
    markers = {"adapter_token": "marker-adapter-token-1", "model_token": "marker-model-token-2"}
    (scene.runner.workspace / "weights").symlink_to("/opt/model-accuracy-eval/example-adapter/weights")
    step = scene.run(model="weights", datasets="demo_arithmetic", limit="2", **markers)
    assert step.exit_code == 0, step.text
    tokens = [TOKEN, *markers.values()]
    kept = [path for path in scene.runner.workspace.rglob("*") if path.is_file()]
    assert any(path.name == "deploy.log" for path in kept)
    for token in tokens:
        assert token not in step.text
        assert not [path for path in kept if token.encode() in path.read_bytes()]


@pytest.fixture
def adapter_image(engine: str) -> str:
    """An image with what the example adapter needs."""
    command = ["docker", "build", "-q", "-t", ADAPTER_IMAGE, "-"]
    subprocess.run(command, input=DOCKERFILES[ADAPTER_IMAGE], text=True, check=True, capture_output=True)
    return ADAPTER_IMAGE


def siblings() -> list[str]:
    """Names of containers that run adapters for this repository."""
    label = f"label=model-accuracy-eval.repository={REPOSITORY}"
    done = subprocess.run(
        ["docker", "ps", "-a", "--filter", label, "--format", "{{.Names}}"], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_the_adapter_runs_in_a_sibling_container(scene: Scene, adapter_image: str) -> None:
    """`adapter-image`: deploy.sh serves in a container beside the action's, on its localhost, and is gone afterwards."""
    shutil.copytree(ROOT / "example-adapter" / "weights", scene.runner.workspace / "weights")
    step = scene.run(
        model="weights", datasets="demo_arithmetic", limit="10", adapter_image=adapter_image, runtime="container"
    )
    assert step.exit_code == 0, step.text
    assert step.outputs["conclusion"] == "passed"
    assert siblings() == []
    log = (scene.runner.workspace / step.outputs["report-path"] / "logs/deploy.log").read_text()
    assert "Serving" in log


def test_the_post_step_ends_what_a_killed_step_left_behind(scene: Scene, adapter_image: str) -> None:
    """Killed without a word: the check is closed as cancelled and the sibling removed by the post step."""
    shutil.copytree(ROOT / "example-adapter" / "weights", scene.runner.workspace / "weights")
    inputs = {
        "model": "weights",
        "datasets": "demo_arithmetic",
        "num-return-sequences": "200",
        "concurrency": "1",
        "adapter-image": adapter_image,
        "runtime": "container",
    }

    def kill(log: Log) -> bool:
        if any("20,000 samples" in line for line in log.lines):
            found = ["docker", "ps", "-q", "--filter", f"label={scene.runner.label}"]
            own = subprocess.run(found, check=True, capture_output=True, text=True).stdout.split()
            subprocess.run(["docker", "kill", *own], check=True, capture_output=True)
            return True
        return False

    step = scene.runner.run(ROOT, scene.image, inputs, scene.event, cancel=kill)
    assert step.exit_code == 137
    assert (scene.check["status"], len(siblings())) == ("in_progress", 1)
    post = scene.runner.run(ROOT, scene.image, inputs, scene.event, stage="post", state=step.state)
    assert post.exit_code == 0, post.text
    assert (scene.check["conclusion"], siblings()) == ("cancelled", [])
