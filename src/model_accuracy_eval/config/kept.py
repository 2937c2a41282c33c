"""The file in `configs/`: settings and plan as plain Python literals, readable without being executed, and back.

Also: what a run that goes on (`--reuse`) may not change.
"""

import ast
from pprint import pformat
from typing import Any

import msgspec

from model_accuracy_eval.config.settings import Settings
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import RunPlan

_FREE = {
    "run_id", "stamp", "mode", "endpoint", "port", "k", "score_reasoning", "gates", "baseline", "max_failed_requests",
    "patience",
    "data_dir", "out", "debug", "task_type", "runtime", "adapter_image", "devices", "max_weight_size", "weights_dir",
    "sandbox", "sandbox_image",
}  # fmt: skip
"""Fields of a plan that change nothing about what the model is asked; all others are the run's identity."""

_FREE_IN_TASK = {
    "about", "home", "licence", "data", "pipelines", "reference", "choices", "category", "fields", "grouping",
}  # fmt: skip
"""Likewise of a task: where the same rows lie, and how replies are judged."""


def dump(settings: Settings, plan: RunPlan) -> str:
    """Source of the configs file."""
    parts = [("settings", settings), ("plan", plan)]
    body = "\n\n".join(
        f"{name} = {pformat(msgspec.to_builtins(part), sort_dicts=False, width=110)}" for name, part in parts
    )
    return f"# What this run did, resolved. Plain literals: nothing in here is executed.\n\n{body}\n"


def load(source: str, where: str) -> tuple[Settings, RunPlan]:
    """Settings and plan of a configs file."""
    try:
        values = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in ast.parse(source).body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        return msgspec.convert(values["settings"], Settings), msgspec.convert(values["plan"], RunPlan)
    except (SyntaxError, ValueError, TypeError, KeyError, msgspec.ValidationError) as error:
        raise BadReuse(f"{where} cannot be read as the plan of a run: {error}.") from error


def check_same_questions(old: RunPlan, new: RunPlan) -> None:
    """Refuses to mix replies to different questions, and shows what differs."""
    changes = list(differences(_identity(old), _identity(new)))
    if changes:
        raise BadReuse(
            f"The run {old.run_id} asked something else, so its replies cannot be reused: {'; '.join(changes)}."
        )


def _identity(plan: RunPlan) -> dict[str, Any]:
    whole = msgspec.to_builtins(plan)
    identity = {field: value for field, value in whole.items() if field not in _FREE and field != "tasks"}
    identity["datasets"] = {
        task["name"]: {field: value for field, value in task.items() if field not in _FREE_IN_TASK}
        for task in whole["tasks"]
    }
    return identity


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """`sampling.n was 5, is 3` for every leaf that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        return [
            line
            for key in keys
            for line in differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        ]
    return [] if old == new else [f"{path} was {_short(old)}, is {_short(new)}"]


def _short(value: Any) -> str:
    text = "not there" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
