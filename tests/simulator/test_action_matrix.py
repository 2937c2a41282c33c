"""evaluate-matrix.yml, job by job as its steps are written: plan, shards, one that fails and is run again, merge."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.servers.fault_server import FaultServer
from tests.simulator.commands import Step
from tests.simulator.scene import BRIDGE, Scene
from tests.simulator.workflow import CalledWorkflow

CALLED = {"hardware": "any", "max-shards": "2", "artifact-name": "acc", "num-return-sequences": "3", "model": "words"}
FILE = """
settings: {datasets: demo_gsm8k}
models:
  words: {limit: 9, gate: "demo_gsm8k: avg@3 >= 40"}
  others: {datasets: demo_digits}
"""


def answer(request: Mapping[str, Any]) -> list[str]:
    """Right for half of all questions, by their length."""
    question = request["messages"][-1]["content"]
    return ["#### 78" if len(question) % 2 else "I do not know."] * request.get("n", 1)


@pytest.fixture
def service() -> Iterator[FaultServer]:
    with FaultServer(answer, host=BRIDGE) as server:
        yield server


def called(scene: Scene, service: FaultServer) -> CalledWorkflow:
    scene.hub.files["accuracy.yaml"] = FILE
    return CalledWorkflow.on(scene, "evaluate-matrix.yml", CALLED, service.url)


def download(scene: Scene, pattern: str) -> None:
    """What actions/download-artifact does with `pattern` and `path: shards`."""
    for name, artifact in scene.artifacts.artifacts.items():
        if re.fullmatch(pattern.replace("*", ".*"), name):
            with zipfile.ZipFile(io.BytesIO(artifact.data)) as archive:
                archive.extractall(scene.runner.workspace / "shards" / name)


def noticed(step: Step) -> str:
    return "".join(step.log.annotations("notice"))


def figures(step: Step) -> Any:
    return json.loads(step.outputs["summary-json"])


def test_shards_are_planned_asked_and_merged(scene: Scene, service: FaultServer) -> None:
    """One check, one comment and the figures of a single run, by the merge alone; accuracy.yaml says what is asked."""
    single = scene.run(endpoint=service.url, datasets="demo_gsm8k", num_return_sequences="3", limit="9", comment="false",
                       check="false", status="false", artifact_name="")  # fmt: skip
    workflow = called(scene, service)
    assert workflow.job("plan").outputs["conclusion"] == "admitted"
    plan = workflow.job("plan", 1)
    assert plan.exit_code == 0, plan.log.annotations("error")
    matrix = json.loads(plan.outputs["shards"])
    assert matrix == [{"shard": "0/2", "name": "0-of-2"}, {"shard": "1/2", "name": "1-of-2"}]
    assert "27 samples in 2 shards; no earlier run says how long they take." in noticed(plan)
    for entry in matrix:
        step = workflow.job("shard", matrix=entry)
        assert step.exit_code == 0, step.text
    assert (scene.hub.checks, scene.hub.bodies("github-actions[bot]")) == ({}, [])
    download(scene, "acc-shard-*")
    merge = workflow.job("merge")
    assert merge.exit_code in {0, 1, 7}, merge.text
    assert figures(merge) == figures(single)
    assert scene.check["status"] == "completed"
    assert "avg@3 &gt;= 40" in scene.comment or "avg@3 >= 40" in scene.comment
    assert set(scene.artifacts.artifacts) == {"acc-shard-0-of-2-words", "acc-shard-1-of-2-words", "acc-words"}


def test_a_failed_shard_goes_on_from_its_artifact(scene: Scene, service: FaultServer) -> None:
    """Merged with what it lacks, the check says infrastructure; run again, it asks only for that, and the check passes."""
    workflow = called(scene, service)
    workflow.job("plan")
    first, second = json.loads(workflow.job("plan", 1).outputs["shards"])
    assert workflow.job("shard", matrix=first).exit_code == 0
    service.plan = lambda number, request: "status_302" if request.get("n") == 3 and number % 2 else None
    failed = workflow.job("shard", matrix=second)
    assert failed.exit_code == 5, failed.text
    download(scene, "acc-shard-*")
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
    download(scene, "acc-shard-*")
    merged = workflow.job("merge")
    assert merged.exit_code in {0, 1, 7}, merged.text
    (counts,) = [json.loads((scene.report(merged) / "run.json").read_text())["datasets"]["demo_gsm8k"]["counts"]]
    assert (counts["planned"], counts["answered"], counts["failed"]) == (27, 27, 0)


def test_the_adapter_is_the_same_wherever_it_is_checked_out(scene: Scene) -> None:
    """Each step checks it out into another folder; shards of one commit are merged."""
    inputs = {"model": "/opt/model-accuracy-eval/example-adapter/weights", "datasets": "demo_arithmetic", "limit": "4",
              "num_return_sequences": "1", "hardware": "any", "runtime": "process"}  # fmt: skip
    for at in (0, 1):
        step = scene.run(inputs, shard=f"{at}/2", artifact_name=f"acc-shard-{at}-of-2")
        assert step.exit_code == 0, step.text
    download(scene, "acc-shard-*")
    merged = scene.run(mode="merge", shards_path="shards", hardware="any")
    assert merged.exit_code == 0, merged.text
    run = json.loads((scene.report(merged) / "run.json").read_text())
    assert run["identity"]["commit"] == scene.sha
