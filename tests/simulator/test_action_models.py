"""evaluate.yml with the accuracy.yaml of a repository, job by job: texts and pictures, several models, one verdict."""

import io
import json
import zipfile

from tests.simulator.scene import BUNDLED_WEIGHTS, Scene
from tests.simulator.workflow import CalledWorkflow, form

FILE = f"""
settings: {{hardware: any, runtime: process, limit: 4, sampling: plain}}
models:
  sums: {{model: {BUNDLED_WEIGHTS}, datasets: demo_arithmetic, baselines: {{demo_arithmetic: 40}}, tolerance: 40}}
  digits:
    tier: advisory
    model: {BUNDLED_WEIGHTS}-digits
    task-type: image-text-to-text
    datasets: demo_digits
    gate: "demo_digits: avg > 99.9"
    gate-on: point
"""


def called(scene: Scene, choices: dict[str, str]) -> CalledWorkflow:
    scene.hub.files["accuracy.yaml"] = FILE
    workflow = CalledWorkflow.on(scene, "evaluate.yml", form(choices))
    admitted = workflow.job("admit")
    assert admitted.exit_code == 0, admitted.text
    return workflow


def test_several_models_have_one_check_and_one_comment(scene: Scene) -> None:
    """Each is a job that posts nothing; the one that is advisory fails alone; the last job says how all fared."""
    looser = FILE.replace("baselines: {demo_arithmetic: 40}", "baselines: {}").replace(
        "tier: advisory", "tier: required"
    )
    scene.push({"accuracy.yaml": looser})  # of a pull request, and so of no account
    workflow = called(scene, {})
    ends = [workflow.job("evaluate", matrix=entry).exit_code for entry in workflow.matrix("evaluate")]
    assert ends == [0, 1]
    assert (scene.hub.checks, scene.hub.bodies("github-actions[bot]")) == ({}, [])
    for name, artifact in scene.artifacts.artifacts.items():  # what the step before the last one does
        with zipfile.ZipFile(io.BytesIO(artifact.data)) as archive:
            archive.extractall(scene.runner.workspace / "models" / name)
    verdict = workflow.job("verdict")
    assert (verdict.exit_code, verdict.outputs["conclusion"]) == (0, "passed"), verdict.text
    assert (scene.check["conclusion"], scene.check["name"]) == ("success", "Model accuracy (accuracy.yaml)")
    assert scene.check["head_sha"] == scene.sha
    rows = [line.split(" | ") for line in scene.comment.splitlines() if line.startswith(("| sums", "| digits"))]
    assert [row[:2] for row in rows] == [["| sums", "✅ Passed"], ["| digits (advisory)", "❌ Failed"]]


def test_the_form_evaluates_the_model_that_it_chooses(scene: Scene) -> None:
    """With what the file says of it: pictures, and its gate."""
    workflow = called(scene, {"model": "digits", "task-type": "any-to-any", "datasets": "demo_digits"})
    (entry,) = workflow.matrix("evaluate")
    step = workflow.job("evaluate", matrix=entry)
    assert step.outputs["conclusion"] in {"passed", "failed"}, step.text
    assert scene.check["name"] == "Model accuracy (digits)"
    run = json.loads((scene.report(step) / "run.json").read_text())
    (gate,) = run["gates"]
    assert "accuracy (5 runs average)" in gate["gate"]
