"""Writes and reads the files in `configs/`: settings and plan as Python literals, which are never executed.

Also checks that a run that is continued with `--reuse` asks the same as before.
"""

import ast
from pprint import pformat
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import JSONObject, RunPlan
from model_accuracy_eval.records.base import identifies


def dump(plan: RunPlan) -> str:
    """Returns the text of the file: the settings, then what was resolved from them."""
    resolved = msgspec.to_builtins(plan)
    parts = {"settings": resolved.pop("settings"), "plan": resolved}
    body = "\n\n".join(f"{name} = {pformat(part, sort_dicts=False, width=110)}" for name, part in parts.items())
    return f"# What this run did, resolved. Plain literals: nothing in here is executed.\n\n{body}\n"


def newest(archive: Archive) -> RunPlan:
    """The newest plan in a folder or a zip of a run."""
    configs = [name for name in archive.names() if name.startswith("configs/") and name.endswith(".py")]
    if not configs:
        raise BadReuse(f"'{archive.root}' is not the folder of a run: it has no configs/*.py.")
    source = archive.read(configs[-1]) or b""
    return load(source.decode(errors="replace"), f"{archive.root}/{configs[-1]}")


def load(source: str, where: str) -> RunPlan:
    """Returns the plan in the text of a file."""
    try:
        values = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in ast.parse(source).body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        return msgspec.convert({**values["plan"], "settings": values["settings"]}, RunPlan)
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, msgspec.ValidationError) as error:
        raise BadReuse(f"{where} cannot be read as the plan of a run: {error}.") from error


def check_same_questions(old: RunPlan, new: RunPlan) -> None:
    """Raises `BadReuse` with the differences if the new run asks the model something else than the old one did."""
    changes = differences(_asked(old), _asked(new))
    if changes:
        raise BadReuse(
            f"The run {old.run_id} asked something else, so its replies cannot be reused: {'; '.join(changes)}."
        )


def _asked(plan: RunPlan) -> JSONObject:
    """Everything that decides what the model is asked: settings by their names, and datasets by theirs."""
    settings = {name.replace("_", "-"): value for name, value in _identity(plan.settings).items()}
    settings["adapter"] = plan.adapter_tree or settings["adapter"]
    return {**settings, "datasets": {task.name: _identity(task) for task in plan.tasks}}


def _identity(value: Any) -> Any:
    """A value as JSON, without the fields of records that may change."""
    if isinstance(value, msgspec.Struct):
        names = [field.name for field in msgspec.structs.fields(value) if identifies(field.type)]
        return {name: _identity(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [_identity(item) for item in value]
    return msgspec.to_builtins(value)


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Returns a phrase such as `num-return-sequences was 5, is 3` for every value that differs."""
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
