"""`init`: its files are what the program and the action read, and nothing of the user's is overwritten."""

from pathlib import Path

import yaml
from tests.e2e import command

from model_accuracy_eval.run import setting_values


def test_the_files_are_read_by_those_they_are_for(tmp_path: Path) -> None:
    """The workflow gives inputs that the action has; the settings are settings; the values are those that were given."""
    (tmp_path / "deploy.sh").write_text("exit 0\n")
    gate = "demo_arithmetic: avg@5 >= 60"
    done = command.run("init", tmp_path, "--datasets", "demo_arithmetic", "--gate", gate, "--model", "weights: #1")
    assert done.code == 0, done.err
    workflow = yaml.safe_load((tmp_path / ".github/workflows/accuracy.yml").read_text())
    (step,) = workflow["jobs"]["accuracy"]["steps"]
    action = yaml.safe_load((command.ROOT / "action.yml").read_text())
    assert set(step["with"]) <= set(action["inputs"])
    assert (step["with"]["gate"], step["with"]["model"]) == (gate, "weights: #1")
    file = tmp_path / "accuracy-eval.yaml"
    settings = setting_values.read(setting_values.yaml_values(file.read_text(), str(file)), str(file))
    assert settings["datasets"] == ("demo_arithmetic",)
    assert settings["gate"] == (gate,)
    assert yaml.safe_load((tmp_path / "accuracy.yml").read_text()) == {"hardware": "npu"}
    assert done.out.endswith("to be replaced: image ascend/vllm-ascend:latest.\n")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """One file that is there is enough to write none."""
    (tmp_path / "deploy.sh").write_text("exit 0\n")
    (tmp_path / "accuracy.yml").write_text("mine")
    done = command.run("init", tmp_path)
    assert (done.code, "accuracy.yml" in done.err) == (2, True)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"deploy.sh", "accuracy.yml"}


def test_a_folder_without_an_adapter_is_refused(tmp_path: Path) -> None:
    done = command.run("init", tmp_path)
    assert (done.code, "no deploy.sh" in done.err) == (2, True)
