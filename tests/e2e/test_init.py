"""`init`: its files are what the program and the action read, and nothing of the user's is overwritten."""

from pathlib import Path

import yaml
from tests.e2e import command

from model_accuracy_eval.commands.action_inputs import ROWS, check_name
from model_accuracy_eval.run import accuracy_file, setting_values


def test_the_files_are_read_by_those_they_are_for(tmp_path: Path) -> None:
    """accuracy.yaml asks for one run with what was given, and says the hardware; the workflows are those that people copy."""
    (tmp_path / "deploy.sh").write_text("exit 0\n")
    gate = "demo_arithmetic: avg@5 >= 60"
    done = command.run("init", tmp_path, "--datasets", "demo_arithmetic", "--gate", gate, "--model", "weights: #1")
    assert done.code == 0, done.err
    text = (tmp_path / "accuracy.yaml").read_text()
    (found,) = accuracy_file.read(text, lambda _: None, check_name).evaluations({})
    settings = setting_values.read_given(found.values, ROWS)
    assert (settings["datasets"], settings["gate"], settings["model"]) == (("demo_arithmetic",), (gate,), "weights: #1")
    assert yaml.safe_load(text)["hardware"] == "npu"
    assert done.out.endswith("to be replaced: image ascend/vllm-ascend:latest.\n")
    written = {path.name for path in (tmp_path / ".github" / "workflows").iterdir()}
    assert written == {"model-accuracy.yml", "model-accuracy-command.yml"}


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """One file that is there is enough to write none."""
    (tmp_path / "deploy.sh").write_text("exit 0\n")
    (tmp_path / "accuracy.yaml").write_text("mine")
    done = command.run("init", tmp_path)
    assert (done.code, "accuracy.yaml" in done.err) == (2, True)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"deploy.sh", "accuracy.yaml"}


def test_a_folder_without_an_adapter_is_refused(tmp_path: Path) -> None:
    done = command.run("init", tmp_path)
    assert (done.code, "no deploy.sh" in done.err) == (2, True)
