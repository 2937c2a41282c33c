"""The example workflows under nektos/act, a runner that we did not write, with its artifact store and a GitHub at an address
of its own behind a private certificate: what they publish, hand on, and leave behind.
"""

import hashlib
import io
import json
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

PASSED = [("Main", "success"), ("Post", "success")]


class Owners(NamedTuple):
    """Those who copied the examples into their adapter's repository."""

    act: Act
    scene: Scene
    adapter_image: str
    environment: dict[str, str]

    def adopt(self, name: str, *, gate: float = 60, **advisory: float) -> None:
        """Copies a workflow and pushes it; the default branch says what is evaluated, for a machine without NPUs.
        `advisory`: further models, with their gates."""
        models = [("tiny", gate, "required"), *((each, line, "advisory") for each, line in advisory.items())]
        self.scene.hub.files["accuracy.yaml"] = (
            f"settings: {{adapter-image: '{self.adapter_image}', hardware: any, weights-dir: .weights}}\nmodels:\n"
        ) + "".join(
            f"  {each}: {{model: hf:my-org/my-model, datasets: demo_arithmetic, tier: {tier},"
            f" gate: 'demo_arithmetic: avg >= {line}'}}\n"
            for each, line, tier in models
        )
        self.scene.push(self.act.example(name))

    def run(self, event: str, **more: str) -> WorkflowRun:
        return self.act.run(event, self.scene.event, self.scene.adapter.folder, self.environment | more)

    def stored(self, name: str) -> bytes:
        return (self.act.artifacts / RUN / name / f"{name}.zip").read_bytes()


@pytest.fixture(scope="module")
def organization(engine: str) -> Iterator[str]:
    """Its name is part of those of act's images and containers, which go in the end."""
    name = f"tests{SIBLING[-8:]}"
    yield name
    images = docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}").split()
    if built := [image for image in images if image.startswith(f"act-{name}-")]:
        docker("image", "rm", "-f", *built)


@pytest.fixture
def owners(organization: str, engine: str, adapter_image: str, tmp_path: Path) -> Iterator[Owners]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(BRIDGE).configure_cert(context)
    act = Act(tmp_path, organization, engine)
    with FakeHub(host=BRIDGE) as weights, pull_request("", tmp_path, tls=context, prefix="/api/v3") as scene:
        files = {path.name: path.read_bytes() for path in (scene.adapter.folder / "weights").iterdir()}
        weights.push("my-org/my-model", files)
        certificate = authority.cert_pem.bytes().decode()
        scene.push({"authority.pem": certificate})
        environment = {
            "GITHUB_API_URL": scene.hub.url,
            "GITHUB_SERVER_URL": scene.runner.github["server_url"],
            "SSL_CERT_FILE": str(act.workspace / "authority.pem"),
            **weights.environment,
        }
        yield Owners(act, scene, adapter_image, environment)


def left(label: str) -> list[str]:
    return docker("ps", "-a", "--filter", f"name=act-.*{label}", "--format", "{{.Names}}").split() + containers(SIBLING)


def test_a_pull_request_is_evaluated(owners: Owners) -> None:
    """accuracy.yml and evaluate.yml: admitted in one job, evaluated in another with deploy.sh beside it, and told in every
    place; the artifact in act's store is the report, and its SHA-256 the step's output; no release, nothing left."""
    owners.adopt("model-accuracy.yml")
    scene = owners.scene
    done = owners.run("pull_request")
    assert done.exit_code == 0, done.text
    assert (done.stages("Admit"), done.stages("Evaluate tiny"), done.stages("Release")) == (PASSED, PASSED, [])
    assert done.outputs("Admit")["commit"] == scene.sha
    outputs = done.outputs("Evaluate tiny")
    assert (outputs["conclusion"], outputs["exit-code"], outputs["commit"]) == ("passed", "0", scene.sha)
    assert (scene.check["conclusion"], scene.check["head_sha"]) == ("success", scene.sha)
    figure = json.loads(outputs["summary-json"])["demo_arithmetic"]["avg@5"]
    for told in (scene.comment, scene.check["output"]["summary"], done.summary("Evaluate tiny")):
        assert f"is {figure:.2f}" in told
    assert outputs["artifact-digest"] == hashlib.sha256(owners.stored("model-accuracy-eval-tiny")).hexdigest()
    with zipfile.ZipFile(io.BytesIO(owners.stored("model-accuracy-eval-tiny"))) as archive:
        assert "Serving" in archive.read("logs/deploy.log").decode()
        assert json.loads(archive.read("run.json"))["status"] == "passed"
    assert next((owners.act.workspace / ".weights").rglob("model.safetensors"))
    assert left(owners.act.label) == []


def test_a_filled_in_form_is_evaluated(owners: Owners) -> None:
    """Run by hand with the platform's fields: the model that it chooses, by two samples, with its gate and the file's."""
    owners.adopt("model-accuracy.yml")
    chosen = {"model": "tiny", "datasets": "demo_arithmetic", "gate": "demo_arithmetic: pass@2 >= 50", "samples": "2",
              "task-type": "any-to-any", "repository": "", "ref": ""}  # fmt: skip
    owners.scene.event.clear()
    owners.scene.event["inputs"] = chosen
    done = owners.run("workflow_dispatch")
    assert done.exit_code == 0, done.text
    assert done.outputs("Evaluate tiny")["conclusion"] == "passed"
    figures = json.loads(done.outputs("Evaluate tiny")["summary-json"])["demo_arithmetic"]
    assert {"avg@2", "pass@2"} <= set(figures)
    with zipfile.ZipFile(io.BytesIO(owners.stored("model-accuracy-eval-tiny"))) as archive:
        assert len(json.loads(archive.read("run.json"))["gates"]) == 2
    assert left(owners.act.label) == []


def test_several_models_are_jobs_with_one_verdict(owners: Owners) -> None:
    """Each is a job that posts nothing; the last one fetches their runs from act's store, and makes one check and comment of
    them, for which the advisory model is of no account."""
    owners.adopt("model-accuracy.yml", other=80.8)
    done = owners.run("pull_request")
    # Of jobs act passes over `continue-on-error`: GitHub, where it holds for the advisory one, would end in a success.
    assert (done.exit_code, done.stages("Verdict")[-1]) == (1, ("Post", "success")), done.text
    assert done.outputs("Evaluate tiny-1")["conclusion"] == "passed"
    assert done.outputs("Evaluate other-2")["conclusion"] == "undecided"
    assert done.outputs("Verdict")["conclusion"] == "passed"
    scene = owners.scene
    assert (scene.check["conclusion"], scene.check["name"]) == ("success", "Model accuracy (accuracy.yaml)")
    rows = [line.split(" | ")[:2] for line in scene.comment.splitlines() if line.startswith(("| tiny", "| other"))]
    assert rows == [["| tiny", "✅ Passed"], ["| other (advisory)", "❔ Undecided"]]
    assert left(owners.act.label) == []


@pytest.mark.parametrize(
    ("models", "job", "conclusion", "released"),
    [
        ({"gate": 60}, "Evaluate tiny", "passed", PASSED[:1]),
        ({"gate": 99}, "Evaluate tiny", "failed", []),
        ({"other": 50}, "Verdict", "passed", PASSED[:1]),
    ],
)
def test_a_tag_is_released_after_a_pass_alone(
    owners: Owners, models: dict[str, float], job: str, conclusion: str, released: list[tuple[str, str]]
) -> None:
    """The conclusion, of several models that of all, comes through the reusable workflow to the job that releases; a tag has
    a status and no comment."""
    owners.adopt("model-accuracy.yml", **models)
    owners.scene.event.clear()
    done = owners.run("push", GITHUB_REF="refs/tags/v1.0")
    assert done.outputs(job)["conclusion"] == conclusion, done.text
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
    """Its gate is asked for beside that of accuracy.yaml; answered by a rocket; the head that it was about is evaluated."""
    owners.adopt("model-accuracy-command.yml")
    sha = owners.scene.sha
    number = comment(owners, '/evaluate demo_arithmetic gate="demo_arithmetic: pass@3 >= 60" samples=3')
    del owners.scene.event["pull_request"]
    done = owners.run("issue_comment")
    assert done.exit_code == 0, done.text
    assert owners.scene.hub.reactions == {number: ["rocket"]}
    assert done.outputs("Evaluate tiny")["commit"] == sha
    assert (owners.scene.check["conclusion"], owners.scene.check["head_sha"]) == ("success", sha)
    assert "avg@3" in owners.scene.comment
    assert "pass@3" in owners.scene.comment
    assert done.stages("Stop") == []
    assert left(owners.act.label) == []
