"""Flags, a YAML file and earlier settings → typed Settings."""

import math
import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

import msgspec
import yaml

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import JSONObject, Settings
from model_accuracy_eval.settings import Setting, table

_SETTINGS = {setting.field: setting for setting in table()}

_SAMPLED: JSONObject = {"temperature": 0.8, "generation": {"top_k": 40}}
PRESETS: dict[str, JSONObject] = {
    "greedy": {"num_return_sequences": 1, "temperature": 0.0, "k": (1,)},
    "pass@1": {"num_return_sequences": 10, "k": (1,), **_SAMPLED},
    "pass@10": {"num_return_sequences": 100, "k": (1, 10), **_SAMPLED},
}
"""Sampling protocols of code benchmarks."""


def merge(*layers: Mapping[str, Any]) -> Settings:
    """Merges layers that `read` returned. Later layers win; within a layer, single settings win over its preset."""
    values: JSONObject = {}
    for layer in layers:
        values |= PRESETS.get(layer.get("preset") or "", {}) | dict(layer)
    return Settings(**values)


def read(values: Mapping[str, Any], source: str, rows: Mapping[str, Setting] = _SETTINGS) -> JSONObject:
    """Returns typed and checked values by field name; unknown names and bad values are refused.

    Values may be texts as on the command line: "1,2,5" for a list, "none" for no value, "{…}" for an object.
    """
    layer = {}
    for key, value in values.items():
        field = str(key).replace("-", "_")
        if field == "contains":
            raise BadValue(f"The setting 'contains' ({source}) is now 'match: contains'.")
        if field not in rows:
            raise UnknownName("setting", str(key), [setting.name for setting in rows.values()], where=f" in {source}")
        layer[field] = _typed(rows[field], value, source)
    return layer


def refuse_workflow_settings(layer: Mapping[str, Any], source: str) -> None:
    """Refuses a configuration file of the action that sets what only the workflow may decide."""
    names = [setting.name for field, setting in _SETTINGS.items() if setting.workflow_only and field in layer]
    if names:
        raise BadValue(
            f"{source} sets {', '.join(names)}, which the action takes from the workflow alone, because the author of "
            "the evaluated code may also have written that file; write it under the step's `with:`."
        )


def yaml_values(text: str, source: str) -> JSONObject:
    """Returns the settings of a YAML file, not yet checked."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadValue(f"{source} is not YAML: {' '.join(str(error).split())}.") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BadValue(f"{source} must hold settings as 'name: value' lines, but it holds {type(values).__name__}.")
    return values


def _typed(setting: Setting, value: Any, source: str) -> Any:
    try:
        typed = msgspec.convert(_from_text(setting, value), type=setting.type, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        reason = str(error).replace("`", "'").split(" - at")[0]
        expected = f"{reason[0].lower()}{reason[1:]}"
        if setting.choices:
            expected = f"expected one of {', '.join(setting.choices)}"
        raise BadValue(f"The setting '{setting.name}' cannot be {value!r} ({source}): {expected}.") from error
    if typed in (math.inf, -math.inf):
        raise BadValue(f"The setting '{setting.name}' cannot be {value!r} ({source}): expected a finite number.")
    return typed


def _from_text(setting: Setting, value: Any) -> Any:
    """Converts a text from the command line to the value that a YAML file would contain."""
    kind = get_origin(setting.bare) or setting.bare
    if isinstance(value, str) and type(None) in get_args(setting.bare) and value.lower() in {"none", "null"}:
        return None
    if kind is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # YAML reads `devices: 3` as a number
    if kind is dict and isinstance(value, str):
        return msgspec.json.decode(value)
    if kind is tuple and value is not None:
        separators = r"\n" if setting.field == "gate" else r"[,\n]"
        items = value if isinstance(value, list | tuple) else [value]
        parts = [part.strip() for item in items for part in re.split(separators, _line(item))]
        return [part for part in parts if part]
    return value


def _line(item: Any) -> str:
    """Returns a list item as text. YAML reads the unquoted gate `demo_arithmetic: avg@5 >= 60` as a mapping."""
    return "\n".join(f"{key}: {value}" for key, value in item.items()) if isinstance(item, dict) else str(item)
