"""The example workflows under nektos/act, a runner that we did not write, with its artifact store and a GitHub at an address
of its own behind a private certificate: what they publish, hand on, and leave behind.
"""

import hashlib
import io
import json
import re
import ssl
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme
from tests.servers.fake_hub import FakeHub
from tests.simulator.scene import BRIDGE, SIBLING, Scene, containers, docker, pull_request
from tests.simulator.under_act import RUN, Act, WorkflowRun

RUNNER_IMAGE = """
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends gh
"""
"""A machine for jobs: what the examples call is bash and gh."""
PASSED = [("Main", "success"), ("Post", "success")]


class Owners(NamedTuple):
    """Those who copied the examples into their adapter's repository."""

    act: Act
    scene: Scene
    adapter_image: str
    environment: dict[str, str]

    def adopt(self, name: str, *, gate: int = 60) -> None:
        """Copies an example with an image of their own, for a machine without NPUs, and pushes it."""
        changes = {
            "adapter-image: my-registry.example/npu-serving:1.0": f"adapter-image: {self.adapter_image}\n      hardware: any",
        }
        if name == "accuracy.yml":
            changes["avg@5 >= 60"] = f"avg@5 >= {gate}"
        self.scene.push(self.act.example(name, changes))

    def run(self, event: str, **more: str) -> WorkflowRun:
        return self.act.run(event, self.scene.event, self.scene.adapter.folder, self.environment | more)

    def stored(self, name: str = "model-accuracy-eval") -> bytes:
        return (self.act.artifacts / RUN / name / f"{name}.zip").read_bytes()


@pytest.fixture(scope="module")
def runner_image(engine: str) -> Iterator[str]:
    name = f"model-accuracy-eval-test-runner:{SIBLING[-8:]}"
    docker("build", "-q", "-t", name, "-", text=RUNNER_IMAGE)
    yield name
    docker("image", "rm", "-f", name)


@pytest.fixture(scope="module")
def organization(engine: str) -> Iterator[str]:
    """Its name is part of those of act's images and containers, which go in the end."""
    name = f"tests{SIBLING[-8:]}"
    yield name
    images = docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split()
    if built := [image for image in images if image.startswith(f"act-{name}-")]:
        docker("image", "rm", "-f", *built)


@pytest.fixture
def owners(organization: str, runner_image: str, adapter_image: str, tmp_path: Path) -> Iterator[Owners]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(BRIDGE).configure_cert(context)
    act = Act(tmp_path, organization, runner_image)
    with FakeHub(host=BRIDGE) as weights, pull_request("", tmp_path, tls=context, prefix="/api/v3") as scene:
        files = {path.name: path.read_bytes() for path in (scene.adapter.folder / "weights").iterdir()}
        weights.push("my-org/my-model", files)
        certificate = authority.cert_pem.bytes().decode()
        scene.push({"authority.pem": certificate})
        environment = {
            "GITHUB_API_URL": scene.hub.url,
            "GITHUB_SERVER_URL": scene.runner.github["server_url"],
            "GH_HOST": scene.hub.url.removeprefix("https://").removesuffix("/api/v3"),
            "SSL_CERT_FILE": str(act.workspace / "authority.pem"),
            **weights.environment,
        }
        yield Owners(act, scene, adapter_image, environment)


def left(label: str) -> list[str]:
    return docker("ps", "-a", "--filter", f"name=act-.*{label}", "--format", "{{.Names}}").split() + containers(SIBLING)


def test_a_pull_request_is_evaluated(owners: Owners) -> None:
    """accuracy.yml and evaluate.yml: admitted in one job, evaluated in another with deploy.sh beside it, and told in every
    place; the artifact in act's store is the report, and its SHA-256 the step's output; no release, nothing left."""
    owners.adopt("accuracy.yml")
    scene = owners.scene
    done = owners.run("pull_request")
    assert done.exit_code == 0, done.text
    assert (done.stages("Admit"), done.stages("Evaluate"), done.stages("Release")) == (PASSED, PASSED, [])
    assert done.outputs("Admit") == {"conclusion": "admitted", "commit": scene.sha}
    outputs = done.outputs("Evaluate")
    assert (outputs["conclusion"], outputs["exit-code"], outputs["commit"]) == ("passed", "0", scene.sha)
    assert (scene.check["conclusion"], scene.check["head_sha"]) == ("success", scene.sha)
    figure = json.loads(outputs["summary-json"])["demo_arithmetic"]["avg@5"]
    for told in (scene.comment, scene.check["output"]["summary"], done.summary("Evaluate")):
        assert f"avg@5 is {figure:.2f}" in told
    assert outputs["artifact-digest"] == hashlib.sha256(owners.stored()).hexdigest()
    with zipfile.ZipFile(io.BytesIO(owners.stored())) as archive:
        assert "Serving" in archive.read("logs/deploy.log").decode()
        assert json.loads(archive.read("run.json"))["status"] == "passed"
    assert next((owners.act.workspace / ".weights").rglob("model.safetensors"))
    assert left(owners.act.label) == []


@pytest.mark.parametrize(("gate", "conclusion", "released"), [(60, "passed", PASSED[:1]), (99, "failed", [])])
def test_a_tag_is_released_after_a_pass_alone(
    owners: Owners, gate: int, conclusion: str, released: list[tuple[str, str]]
) -> None:
    """The conclusion comes through the reusable workflow to the job that releases; a tag has a status and no comment."""
    owners.adopt("accuracy.yml", gate=gate)
    owners.scene.event.clear()
    done = owners.run("push", GITHUB_REF="refs/tags/v1.0")
    assert done.outputs("Evaluate")["conclusion"] == conclusion, done.text
    assert done.stages("Release") == released
    assert done.exit_code == (0 if released else 1)
    assert (owners.scene.check["conclusion"] == "success") is bool(released)
    assert owners.scene.hub.comments == {}
    assert left(owners.act.label) == []


def comment(owners: Owners, body: str, login: str = "alice") -> int:
    """Somebody writes it under the pull request; the event is that of the comment from now on."""
    number = owners.scene.hub.comment(login, body)
    told: dict[str, Any] = {
        "action": "created",
        "issue": {"number": 7, "state": "open", "pull_request": {"url": f"{owners.scene.hub.url}/pulls/7"}},
        "comment": owners.scene.hub.comments[number],
        "sender": {"login": login, "type": "User"},
    }
    owners.scene.event.update(told)
    return number


def test_an_admins_comment_is_obeyed(owners: Owners) -> None:
    """accuracy-command.yml: read by gh from this GitHub, answered by a rocket; the head that it was about is evaluated."""
    owners.adopt("accuracy-command.yml")
    sha = owners.scene.sha
    number = comment(owners, "/evaluate demo_arithmetic")
    del owners.scene.event["pull_request"]
    done = owners.run("issue_comment")
    assert done.exit_code == 0, done.text
    assert owners.scene.hub.reactions == {number: ["rocket"]}
    assert done.outputs("Evaluate")["commit"] == sha
    assert (owners.scene.check["conclusion"], owners.scene.check["head_sha"]) == ("neutral", sha)
    assert re.search(r"Complete: \d+\.\d\d %, no gate", owners.scene.comment)
    assert done.stages("Stop") == []
    assert left(owners.act.label) == []
