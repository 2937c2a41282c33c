"""What a user wrote (flags, a YAML file, earlier settings) → typed Settings. Pure: it is given mappings and texts."""

import math
import types
import typing
from collections.abc import Mapping
from typing import Any

import msgspec

from model_accuracy_eval.config.presets import unfolded
from model_accuracy_eval.config.settings import Setting, Settings, table
from model_accuracy_eval.errors import BadValue, UnknownName

_TABLE = {setting.field: setting for setting in table()}


def merge(*layers: Mapping[str, Any]) -> Settings:
    """Later layers win; each layer came from `read`."""
    return Settings(**{field: value for layer in layers for field, value in unfolded(layer).items()})


def read(values: Mapping[str, Any], source: str, rows: Mapping[str, Setting] = _TABLE) -> dict[str, Any]:
    """One layer: known names only, every value of its type and within its bounds.

    Texts are read as the command line writes them: "1,2,5" for a list, "none" for no value, "{…}" for an object.
    """
    layer = {}
    for key, value in values.items():
        field = str(key).replace("-", "_")
        if field not in rows:
            raise UnknownName("setting", str(key), [setting.name for setting in rows.values()], where=f" in {source}")
        layer[field] = _typed(rows[field], value, source)
    return layer


def yaml_values(text: str, source: str) -> dict[str, Any]:
    """The settings of a YAML file, still untyped."""
    import yaml  # noqa: PLC0415 - only runs with --config pay for it

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadValue(f"{source} is no YAML: {' '.join(str(error).split())}.") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BadValue(f"{source} must hold settings as 'name: value' lines, but it holds {type(values).__name__}.")
    return values


def _typed(setting: Setting, value: Any, source: str) -> Any:
    try:
        typed = msgspec.convert(_spelled_out(setting, value), type=setting.type, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        reason = str(error).replace("`", "'").split(" - at")[0]
        expected = f"expected one of {', '.join(setting.choices)}" if setting.choices else _lower_first(reason)
        raise BadValue(f"The setting '{setting.name}' cannot be {value!r} ({source}): {expected}.") from error
    if typed in (math.inf, -math.inf):
        raise BadValue(f"The setting '{setting.name}' cannot be {value!r} ({source}): expected a finite number.")
    return typed


def _spelled_out(setting: Setting, value: Any) -> Any:
    """A text from the command line → the value that a YAML file would hold."""
    kind = _kind(setting.type)
    if isinstance(value, str) and _may_be_none(setting.type) and value.lower() in {"none", "null"}:
        return None
    if kind is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # YAML reads `devices: 3` as a number
    if kind is dict and isinstance(value, str):
        return msgspec.json.decode(value)
    if kind is tuple and value is not None:
        separator = "\n" if setting.field == "gate" else ","
        items = [value] if not isinstance(value, list | tuple) else value
        texts = [part.strip() for item in items for part in _text(item).split(separator)]
        return [text for text in texts if text]
    return value


def _text(item: Any) -> str:
    """YAML reads the unquoted gate `demo_arithmetic: avg@5 >= 60` as a mapping; it is the same line."""
    return "\n".join(f"{key}: {value}" for key, value in item.items()) if isinstance(item, dict) else str(item)


def _kind(annotation: Any) -> Any:
    return typing.get_origin(annotation) or annotation


def _may_be_none(annotation: Any) -> bool:
    bare = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    return _kind(bare) in {types.UnionType, typing.Union} and type(None) in typing.get_args(bare)


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
