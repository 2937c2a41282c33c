"""Writes and reads the files in `configs/`: settings and plan as Python literals, which are never executed.

Also what two runs asked: whether one that is continued with `--reuse` asks the same as before, and whether samples were
drawn in the same way.
"""

import ast
from collections.abc import Iterator, Mapping
from pprint import pformat
from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import JSONObject, RunPlan, Samplers, Sampling, SamplingSetting, Service
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
    except (SyntaxError, ValueError, TypeError, AttributeError, KeyError, IndexError, msgspec.ValidationError) as error:
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
    if isinstance(value, dict):  # a whole record, such as a dataset
        return "there"
    text = "not there" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


# Whether two runs drew their samples in the same way: figures of different samplers answer different questions.


class SamplingFacts(NamedTuple):
    """The sampling setting of a run, and what was found out about its service's samplers; None: nothing."""

    setting: SamplingSetting
    samplers: Samplers | None


def sampling_facts(plan: RunPlan, service: Service | None) -> SamplingFacts:
    return SamplingFacts(plan.settings.sampling, service.samplers if service else None)


def sampling_change(old: SamplingFacts, new: SamplingFacts) -> str:
    """A sentence on the difference; empty if there is none, or none that is known."""
    if old.setting == new.setting and (
        old.samplers is None or new.samplers is None or _values(old.samplers) == _values(new.samplers)
    ):
        return ""
    return f"Samples were drawn differently: before with {_shown_sampling(old)}, now with {_shown_sampling(new)}."


def setting_changes(old: Sampling | None, new: Sampling | None) -> Iterator[str]:
    """A sentence on temperature, number of samples and the like, if these differ and are known."""
    if old is None or new is None:
        return
    names = ("n", "temperature", "top_p", "max_tokens")
    pairs = [(name, _set(getattr(old, name)), _set(getattr(new, name))) for name in names]
    pairs.append(("thinking", old.thinking, new.thinking))
    fields = {**old.extra, **new.extra}
    pairs += [(name, str(old.extra.get(name, "not sent")), str(new.extra.get(name, "not sent"))) for name in fields]
    changed = [f"{name} {was} then, {now} now" for name, was, now in pairs if was != now]
    if changed:
        yield f"The runs were asked in different ways: {'; '.join(changed)}."


def _set(value: float | None) -> str:
    return "as each dataset says" if value is None else f"{value:g}"


def _values(samplers: Samplers) -> tuple[dict[str, float], dict[str, float]]:
    """What requests had, and what is known to have come on top."""
    return samplers.neutral, {name: value for name, value in samplers.own.items() if name not in samplers.neutral}


def _shown_sampling(facts: SamplingFacts) -> str:
    samplers = facts.samplers or Samplers()
    if facts.setting == "plain":
        return f"neutral values (--sampling plain: {listed(samplers.neutral) or 'none was accepted'})"
    additions = own_samplers(samplers, without={})
    return f"the service's own samplers (--sampling server{f': {additions}' if additions else ''})"


def own_samplers(samplers: Samplers, without: Mapping[str, object]) -> str:
    """What the service is known to apply by itself, but for fields that requests have; empty if nothing is known."""
    own = {name: value for name, value in samplers.own.items() if name not in without}
    server = samplers.server or "it"
    parts = [f"{server} says that it applies {listed(own)}"] if own else []
    return "; ".join([*parts, *([f"{server} {samplers.remark}"] if samplers.remark else [])])


def listed(values: Mapping[str, float]) -> str:
    """`top_k 40, min_p 0.05`."""
    return ", ".join(f"{name} {value:g}" for name, value in values.items())
