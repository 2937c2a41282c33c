"""Every choice of the form, as GitHub hands it from workflow to workflow: admitted, and no plan of it is an error of usage.
And what accuracy.yaml says beside it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import structs
from tests.integration.action.tools import DISPATCHED
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY
from tests.simulator.commands import Step, pairs, read_log
from tests.simulator.workflow import COPIED, CalledWorkflow, form

from model_accuracy_eval.commands.action import ActionStep, act
from model_accuracy_eval.records import RunPlan, TaskSpec
from model_accuracy_eval.system.clock import SignalClock

FIELDS = yaml.safe_load((COPIED / "model-accuracy.yml").read_text())[True]["workflow_dispatch"]["inputs"]
TASK_TYPES = FIELDS["task-type"]["options"]
NAMED = {
    kind: re.findall(r"\w+", names)
    for kind, names in re.findall(r"(Text|Pictures|Sound)[^:]*: ([\w, ]+)", FIELDS["datasets"]["description"])
}
"""What the form's description names, by what its questions show."""
FITS = {"text-generation": ("Text",), "image-text-to-text": ("Text", "Pictures"), "any-to-any": tuple(NAMED)}
FILE = """
settings: {hardware: any, datasets: "demo_arithmetic, gsm8k", gate: "demo_arithmetic: avg >= 60"}
models: {tiny: {model: hf:my-org/tiny}}
"""


class Dispatched:
    """evaluate.yml on this machine: the steps run in this process, and an endpoint takes the place of deploy.sh."""

    def __init__(self, hub: FakeGitHub, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._hub, self._folder, self._capsys = hub, folder, capsys
        self.plans: list[RunPlan] = []
        self.said: dict[str, Any] = {}

    def run(self, given: dict[str, str], matrix: str) -> Step:
        output = self._folder / "output"
        output.write_text("")
        inputs = {f"INPUT_{name.upper()}": text for name, text in given.items()}
        told = {
            "GITHUB_API_URL": self._hub.url,
            "GITHUB_OUTPUT": str(output),
            "INPUT_TOKEN": TOKEN,
            "INPUT_LABEL": matrix,
        }
        code = 0
        with ActionStep(DISPATCHED | told | inputs, SignalClock()).parts() as parts:
            if parts.context.admit_only:
                code = act(parts.context, parts)
            else:
                assert parts.problems == []
                self.plans.append(parts.plan(False))
                for sink in parts.sinks[1:]:
                    told = structs.asdict(getattr(sink, "inputs"))  # noqa: B009
                    self.said |= {name: value for name, value in told.items() if name in {"check", "comment", "status"}}
        return Step(code, read_log(self._capsys.readouterr().out), pairs(output.read_bytes()), {}, "", 0.0)

    def dispatch(self, choices: Mapping[str, str]) -> list[RunPlan]:
        """The plans of all evaluations that the form starts when it is filled in so."""
        workflow = CalledWorkflow("evaluate.yml", form(choices), {"repository": REPOSITORY}, self.run, "http://service")
        admitted = workflow.job("admit")
        assert admitted.exit_code == 0, admitted.log.annotations("error")
        self.plans = []
        for entry in workflow.matrix("evaluate"):
            workflow.job("evaluate", matrix=entry)
        return self.plans


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with FakeGitHub() as found:
        found.permissions["alice"] = ("admin", "admin")
        found.properties = [{"property_name": "hardware", "value": "NPU"}]
        yield found


@pytest.fixture
def dispatched(hub: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Dispatched:
    return Dispatched(hub, tmp_path, capsys)


def shows(task: TaskSpec) -> str:
    text = task.prompt.question + str(task.prompt)
    return "Sound" if "audio" in text else "Pictures" if "image" in text else "Text"


@pytest.mark.parametrize("task_type", TASK_TYPES)
@pytest.mark.parametrize("with_file", [False, True])
def test_no_choice_of_the_form_is_an_error_of_usage(
    task_type: str, with_file: bool, dispatched: Dispatched, hub: FakeGitHub
) -> None:
    """Task type × each dataset that the form names for it × a gate or none, pictures and sound included."""
    if with_file:
        hub.files["accuracy.yaml"] = FILE
    seen = 0
    for dataset in (name for kind in FITS[task_type] for name in NAMED[kind]):
        for gate in ("", f"{dataset}: avg >= 50"):
            choices = {
                "task-type": task_type,
                "datasets": dataset,
                "gate": gate,
                "model": "hf:my-org/tiny",
                "samples": "2",
            }
            (plan,) = dispatched.dispatch(choices)
            own = ["demo_arithmetic: avg >= 60"] * (with_file and dataset == "demo_arithmetic")
            assert list(plan.settings.gate) == [*own, *([gate] if gate else [])]
            assert (plan.settings.datasets, plan.settings.task_type) == ((dataset,), task_type)
            assert (plan.settings.num_return_sequences, plan.settings.model) == (2, "hf:my-org/tiny")
            seen += 1
    assert seen >= 2 * 6


@pytest.mark.parametrize("kind", NAMED)
def test_the_form_names_what_fits(kind: str, dispatched: Dispatched) -> None:
    """Each dataset shows what the description says."""
    for name in NAMED[kind]:
        (plan,) = dispatched.dispatch({"datasets": name, "model": "hf:o/m"})
        assert {shows(task) for task in plan.tasks} == {kind}, name


def test_an_empty_form_is_what_the_file_says(dispatched: Dispatched, hub: FakeGitHub) -> None:
    """Every model with its gates, each under its name."""
    hub.files["accuracy.yaml"] = FILE + "  # more\n"
    (plan,) = dispatched.dispatch({})
    assert (plan.settings.datasets, plan.settings.gate) == (
        ("demo_arithmetic", "gsm8k"),
        ("demo_arithmetic: avg >= 60",),
    )
    assert plan.settings.label == "tiny"
    hub.files["accuracy.yaml"] = FILE.replace("}}", "}, other: {model: hf:my-org/other, tier: advisory}}")
    assert [plan.settings.label for plan in dispatched.dispatch({})] == ["tiny", "other"]
    assert dispatched.said == {"check": False, "comment": False, "status": "false"}, "one job says how all fared"


@pytest.mark.parametrize(
    ("file", "choices", "code", "told"),
    [
        (FILE.replace("hardware", "hardwear"), {}, 2, "no setting called 'hardwear' in accuracy.yaml, line 2"),
        (FILE.replace("any,", "any, limit: few,"), {}, 2, "'limit' cannot be 'few' (accuracy.yaml, line 2)"),
        (FILE.replace("any,", "any, allowed-models: hf:my-org/*,"), {"model": "hf:evil/m"}, 2, "'hf:evil/m' is none that"),
        ("models: {a b: {model: x}, a.b: {model: y}, a/b: {model: z}}", {}, 2, "a b and a/b would both be called a-b"),
        (FILE, {"gate": "demo_arithmetic: avg@5 => 60"}, 2, "is not a gate"),
        (FILE, {"samples": "many"}, 2, "'num-return-sequences' cannot be 'many'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_by_the_hosted_job(
    file: str, choices: dict[str, Any], code: int, told: str, dispatched: Dispatched, hub: FakeGitHub
) -> None:
    """By a check, before an NPU is taken."""
    hub.files["accuracy.yaml"] = file
    workflow = CalledWorkflow("evaluate.yml", form(choices), {"repository": REPOSITORY}, dispatched.run)
    assert workflow.job("admit").exit_code == code
    (check,) = hub.checks.values()
    assert check["conclusion"] == "action_required"
    assert told in json.dumps(check["output"]).replace("\\", "").replace("&gt;", ">")


def test_a_matrix_of_shards_is_of_one_model(dispatched: Dispatched, hub: FakeGitHub) -> None:
    """Of several that accuracy.yaml names one has to be chosen."""
    hub.files["accuracy.yaml"] = FILE.replace("}}", "}, other: {model: hf:my-org/other}}")
    refused = CalledWorkflow("evaluate-matrix.yml", {}, {"repository": REPOSITORY}, dispatched.run)
    assert refused.job("plan").exit_code == 2
    (check,) = hub.checks.values()
    assert "accuracy.yaml names 2 models" in json.dumps(check["output"])
    chosen = CalledWorkflow("evaluate-matrix.yml", {"model": "other"}, {"repository": REPOSITORY}, dispatched.run)
    assert chosen.job("plan").exit_code == 0
