"""The folder of a run that somebody else has made: none of the commands that read it runs Python that it names."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.e2e import command
from tests.fake_ports import seal
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.records import MetricUse, Pipeline, Recipe, RunPlan
from model_accuracy_eval.run_folder import saved_plan

Change = Callable[[RunPlan, Path], RunPlan]

METRIC = """
from pathlib import Path
Path({mark!r}).touch()

def right(answer, references):
    return 1.0

def rows(rows):
    return rows
"""


def with_metric(plan: RunPlan, file: Path) -> RunPlan:
    """Its dataset is judged by a function of the file, and it says that the user trusts it."""
    pipeline = Pipeline(metrics=(MetricUse(name=f"{file}:right"),))
    return replace(plan, tasks=(replace(plan.tasks[0], pipelines=(pipeline,)),)).with_settings(trust_python=True)


def with_recipe(plan: RunPlan, file: Path) -> RunPlan:
    """Its rows are made by a function of the file. Nothing says that Python is trusted."""
    task = plan.tasks[0]
    recipe = Recipe(folder=str(file.parent), rows=f"{file.stem}.rows")
    return replace(plan, tasks=(replace(task, data=replace(task.data, recipe=recipe)),))


def change(run: Path, new: Change, file: Path) -> None:
    """Changes the plan, and makes a manifest that agrees."""
    (config,) = run.glob("configs/*.py")
    config.write_text(saved_plan.dump(new(saved_plan.load(config.read_text(), str(config)), file)))
    seal(run)


@pytest.mark.parametrize("new", [with_metric, with_recipe])
def test_no_command_runs_python_that_a_folder_names(new: Change, tmp_path: Path) -> None:
    """Those that need it refuse and say how it is allowed; the others do without."""
    with FaultServer(lambda _request: ["4"]) as server:
        asked = ["--datasets", "demo_arithmetic", "--limit", 3, "-n", 1]
        assert command.run("run", "--endpoint", server.url, *asked, "--out", tmp_path / "out").code == 0
        run = command.only_run(tmp_path / "out")
        mark, file = tmp_path / "it-ran", tmp_path / "mine.py"
        file.write_text(METRIC.format(mark=str(mark)))
        change(run, new, file)
        lines = {
            "rescore": ["rescore", run],
            "run": ["run", "--reuse", run],
            "judge": ["run", "--mode", "eval", "--reuse", run],
            "report": ["report", run],
            "gate": ["report", run, "--gate", "demo_arithmetic: accuracy >= 50"],
            "compare": ["compare", run, run, "--gate", "demo_arithmetic: accuracy >= baseline - 50"],
            "export": ["report", run, "--into", tmp_path / "files", "--as", "lm-eval"],
        }
        done = {name: command.run(*line) for name, line in lines.items()}
    assert not mark.exists(), {name: one.err for name, one in done.items()}
    assert (done["rescore"].code, "--trust-python" in done["rescore"].err) == (2, True), done["rescore"].err
    if new is with_metric:
        for name in ("run", "judge"):
            assert "never taken from the folder of a run" in done[name].err
            assert "type it again: --trust-python" in done[name].err
