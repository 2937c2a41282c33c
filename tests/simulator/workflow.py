"""A workflow's jobs as they are written: expressions are evaluated as GitHub does it, and steps of ours are run."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from tests.simulator.commands import Step
from tests.simulator.scene import ROOT, Scene


class Fields(dict[str, Any]):
    """An object in an expression: `[0].name`."""

    __getattr__ = dict.__getitem__


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "endsWith": lambda text, end: str(text or "").endswith(end),
    "startsWith": lambda text, start: str(text or "").startswith(start),
    "fromJSON": lambda text: json.loads(text, object_hook=Fields),
    "toJSON": lambda value: json.dumps(value, indent=2),
    "cancelled": lambda: False,
}


def expression(text: str, context: Mapping[str, Any]) -> Any:
    """What GitHub makes of an expression of names, texts, `==`, `!=`, `!`, `&&`, `||` and functions."""

    def value(name: "re.Match[str]") -> str:
        if name[0].startswith("'"):
            return repr(name[0][1:-1].replace("''", "'"))
        if name[0] in FUNCTIONS or name[0] in {"and", "or", "not"}:
            return name[0]
        found: Any = context
        for part in name[0].split("."):
            found = (found or {}).get(part)
        return repr({"true": True, "false": False}.get(name[0], found))

    text = re.sub(r"!(?!=)", " not ", " ".join(text.split()).replace("&&", " and ").replace("||", " or "))
    return eval(re.sub(r"'(?:[^']|'')*'|(?<!\.)\b[a-zA-Z_][\w.-]*", value, text).strip(), dict(FUNCTIONS))


def evaluated(text: str, context: Mapping[str, Any]) -> str:
    """A text with its expressions evaluated."""

    def value(match: re.Match[str]) -> str:
        found = expression(match[1], context)
        return "" if found is None else str(found).lower() if isinstance(found, bool) else str(found)

    return re.sub(r"\$\{\{(.*?)\}\}", value, text, flags=re.DOTALL)


COPIED = ROOT / "src" / "model_accuracy_eval" / "commands" / "workflows"
"""The workflows that `init` writes."""


def form(choices: Mapping[str, str]) -> dict[str, str]:
    """What the form of the workflow that `init` writes hands to evaluate.yml when it is filled in so; what is left out is
    as the form has it at first."""
    loaded = yaml.safe_load((COPIED / "model-accuracy.yml").read_text())
    fields = loaded[True]["workflow_dispatch"]["inputs"]
    assert set(choices) <= set(fields)
    first = {name: spec.get("default", spec.get("options", [""])[0]) for name, spec in fields.items()}
    context = {"inputs": first | dict(choices), "github": {"event_name": "workflow_dispatch"}}
    return {name: evaluated(text, context) for name, text in loaded["jobs"]["accuracy"]["with"].items()}


class CalledWorkflow:
    """A reusable workflow of ours, called with these inputs. `run` runs a step with inputs in a job of that matrix."""

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, Any],
        github: Mapping[str, str],
        run: Callable[[dict[str, str], str], Step],
        endpoint: str = "",
    ) -> None:
        loaded = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())
        self._jobs: dict[str, Any] = loaded["jobs"]
        called = loaded[True]["workflow_call"]["inputs"]
        assert set(inputs) <= set(called)
        empty = {"string": "", "boolean": False}
        self._inputs = {key: inputs.get(key, spec.get("default", empty[spec["type"]])) for key, spec in called.items()}
        self._github, self._run = github, run
        self._endpoint = endpoint
        """It takes the place of deploy.sh, which other tests start, in the jobs that ask."""
        self._needs: dict[str, Any] = {}
        self._steps: dict[str, Any] = {}

    @classmethod
    def on(cls, scene: Scene, name: str, inputs: Mapping[str, Any], endpoint: str = "") -> "CalledWorkflow":
        """On the simulated runner."""

        def run(given: dict[str, str], matrix: str) -> Step:
            scene.runner.matrix = matrix
            return scene.run(given)

        return cls(name, inputs, scene.runner.github, run, endpoint)

    def matrix(self, name: str) -> list[dict[str, str]]:
        """The entries of a job's matrix."""
        text = self._jobs[name]["strategy"]["matrix"]["include"]
        return list(expression(text.removeprefix("${{").removesuffix("}}"), {"needs": self._needs}))

    def job(self, name: str, index: int = 0, matrix: Mapping[str, Any] | None = None) -> Step:
        """One of the job's steps of ours."""
        steps = [step for step in self._jobs[name]["steps"] if "model-accuracy-eval" in step.get("uses", "")]
        context = {
            "inputs": self._inputs, "github": self._github, "needs": self._needs, "steps": self._steps,
            "matrix": matrix or {}, "secrets": {},
        }  # fmt: skip
        given = {key: evaluated(str(text), context) for key, text in steps[index]["with"].items()}
        if self._endpoint and "fromJSON" in self._jobs[name]["runs-on"]:
            given["endpoint"] = self._endpoint
        step = self._run(given, json.dumps(matrix) if matrix else "null")
        self._steps[steps[index].get("id", "")] = {"outputs": step.outputs}
        outputs = self._jobs[name].get("outputs", {})
        self._needs[name] = {"outputs": {key: evaluated(text, context) for key, text in outputs.items()}}
        return step
