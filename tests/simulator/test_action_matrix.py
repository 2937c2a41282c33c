"""evaluate-matrix.yml, job by job as its steps are written: plan, shards, one that fails and is run again, merge."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from tests.servers.fault_server import FaultServer
from tests.simulator.commands import Step
from tests.simulator.scene import BRIDGE, ROOT, Scene

JOBS: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/evaluate-matrix.yml").read_text())["jobs"]
CALLED = {
    "datasets": "demo_gsm8k", "gate": "demo_gsm8k: avg@3 >= 40", "hardware": "any", "max-shards": "2",
    "artifact-name": "acc", "num-return-sequences": "3", "limit": "9",
}  # fmt: skip


def answer(request: Mapping[str, Any]) -> list[str]:
    """Right for half of all questions, by their length."""
    question = request["messages"][-1]["content"]
    return ["#### 78" if len(question) % 2 else "I do not know."] * request.get("n", 1)


@pytest.fixture
def service() -> Iterator[FaultServer]:
    with FaultServer(answer, host=BRIDGE) as server:
        yield server


class Workflow:
    """Runs the steps of the workflow's jobs with their inputs, as the runner evaluates them."""

    def __init__(self, scene: Scene, endpoint: str) -> None:
        self._scene = scene
        self._endpoint = endpoint
        self._context: dict[str, Any] = {"github.repository": "", "inputs": CALLED}
        self.outputs: dict[str, dict[str, str]] = {}

    def job(self, name: str, index: int = 0, matrix: Mapping[str, str] | None = None) -> Step:
        """The job's own action's step; an endpoint takes the place of deploy.sh, which other tests start."""
        steps = [step for step in JOBS[name]["steps"] if "model-accuracy-eval" in step["uses"]]
        inputs = {key: self._evaluated(str(text), matrix or {}) for key, text in steps[index]["with"].items()}
        given = {key.replace("-", "_"): text for key, text in inputs.items() if text}
        for left_out in ("adapter_repository", "adapter_image", "model", "adapter_ref", "adapter_path"):
            given.pop(left_out, None)
        endpoint = {"endpoint": self._endpoint} if name == "shard" else {}
        step = self._scene.run({**given, **endpoint})
        self.outputs[name] = {**self.outputs.get(name, {}), **step.outputs}
        return step

    def _evaluated(self, text: str, matrix: Mapping[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            root, _, name = match[1].partition(".")
            if root == "needs":
                job, _, output = name.partition(".outputs.")
                return self.outputs[job].get(output, "")
            return {"inputs": CALLED, "matrix": matrix}.get(root, {}).get(name, "")

        return re.sub(r"\$\{\{\s*([\w.-]+)(?: \|\| [\w.]+)?\s*\}\}", value, text)

    def download(self, pattern: str) -> None:
        """What actions/download-artifact does with `pattern` and `path: shards`."""
        for name, artifact in self._scene.artifacts.artifacts.items():
            if re.fullmatch(pattern.replace("*", ".*"), name):
                with zipfile.ZipFile(io.BytesIO(artifact.data)) as archive:
                    archive.extractall(self._scene.runner.workspace / "shards" / name)


def noticed(step: Step) -> str:
    return "".join(step.log.annotations("notice"))


def figures(step: Step) -> Any:
    return json.loads(step.outputs["summary-json"])


def test_shards_are_planned_asked_and_merged(scene: Scene, service: FaultServer) -> None:
    """One check, one comment and the figures of a single run, by the merge alone."""
    single = scene.run(endpoint=service.url, datasets="demo_gsm8k", num_return_sequences="3", limit="9", comment="false",
                       check="false", status="false", artifact_name="")  # fmt: skip
    workflow = Workflow(scene, service.url)
    plan = workflow.job("plan", 1)
    assert plan.exit_code == 0, plan.log.annotations("error")
    matrix = json.loads(plan.outputs["shards"])
    assert matrix == [{"shard": "0/2", "name": "0-of-2"}, {"shard": "1/2", "name": "1-of-2"}]
    assert "27 samples in 2 shards; no earlier run says how long they take." in noticed(plan)
    for entry in matrix:
        step = workflow.job("shard", matrix=entry)
        assert step.exit_code == 0, step.text
    assert (scene.hub.checks, scene.hub.bodies("github-actions[bot]")) == ({}, [])
    workflow.download("acc-shard-*")
    merge = workflow.job("merge")
    assert merge.exit_code in {0, 1, 7}, merge.text
    assert figures(merge) == figures(single)
    assert scene.check["status"] == "completed"
    assert "avg@3 &gt;= 40" in scene.comment or "avg@3 >= 40" in scene.comment
    assert set(scene.artifacts.artifacts) == {"acc-shard-0-of-2", "acc-shard-1-of-2", "acc"}


def test_a_failed_shard_goes_on_from_its_artifact(scene: Scene, service: FaultServer) -> None:
    """Merged with what it lacks, the check says infrastructure; run again, it asks only for that, and the check passes."""
    workflow = Workflow(scene, service.url)
    workflow.job("plan", 1)
    first, second = json.loads(workflow.outputs["plan"]["shards"])
    assert workflow.job("shard", matrix=first).exit_code == 0
    service.plan = lambda number, request: "status_302" if request.get("n") == 3 and number % 2 else None
    failed = workflow.job("shard", matrix=second)
    assert failed.exit_code == 5, failed.text
    workflow.download("acc-shard-*")
    broken = workflow.job("merge")
    assert (broken.exit_code, scene.check["conclusion"]) == (5, "failure"), broken.text
    service.plan = lambda number, request: None
    before = len(service.chats)
    again = workflow.job("shard", matrix=second)
    assert again.exit_code == 0, again.text
    assert "goes on with what an earlier attempt has left" in noticed(again)
    asked = [chat for chat in service.chats[before:] if chat["max_tokens"] > 1]
    assert 0 < len(asked) < 4, "of four problems, those that had failed"
    scene.hub.checks.clear()
    workflow.download("acc-shard-*")
    merged = workflow.job("merge")
    assert merged.exit_code in {0, 1, 7}, merged.text
    (counts,) = [json.loads((scene.report(merged) / "run.json").read_text())["datasets"]["demo_gsm8k"]["counts"]]
    assert (counts["planned"], counts["answered"], counts["failed"]) == (27, 27, 0)


def test_the_adapter_is_the_same_wherever_it_is_checked_out(scene: Scene) -> None:
    """Each step checks it out into another folder; shards of one commit are merged, of two they are not."""
    inputs = {"model": "/opt/model-accuracy-eval/example-adapter/weights", "datasets": "demo_arithmetic", "limit": "4",
              "num_return_sequences": "1", "hardware": "any", "runtime": "process"}  # fmt: skip
    for at in (0, 1):
        step = scene.run(inputs, shard=f"{at}/2", artifact_name=f"acc-shard-{at}-of-2")
        assert step.exit_code == 0, step.text
    workflow = Workflow(scene, "")
    workflow.download("acc-shard-*")
    merged = scene.run(mode="merge", shards_path="shards", hardware="any")
    assert merged.exit_code == 0, merged.text
    run = json.loads((scene.report(merged) / "run.json").read_text())
    assert run["identity"]["commit"] == scene.sha
    scene.push({"README.md": "another commit\n"})
    step = scene.run(inputs, shard="1/2", artifact_name="acc-shard-1-of-2-again")
    workflow.download("acc-shard-1-of-2-again")
    other = scene.run(mode="merge", shards_path="shards", hardware="any")
    assert (other.exit_code, "adapter was" in "".join(other.log.annotations("error"))) == (2, True), other.log
