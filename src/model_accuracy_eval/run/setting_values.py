"""Flags, a YAML file and earlier settings → typed Settings."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, get_args, get_origin

import msgspec
import yaml

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import JSONObject, Settings
from model_accuracy_eval.settings import Setting, table

_SETTINGS = {setting.field: setting for setting in table()}

_SAMPLED: JSONObject = {"temperature": 0.8, "generation": {"top_k": 40}}
PROTOCOLS: dict[str, JSONObject] = {
    "greedy": {"num_return_sequences": 1, "temperature": 0.0, "k": (1,)},
    "pass@1": {"num_return_sequences": 10, "k": (1,), **_SAMPLED},
    "pass@10": {"num_return_sequences": 100, "k": (1, 10), **_SAMPLED},
}
"""Sampling protocols of code benchmarks, which `sampling` names."""


class Given(NamedTuple):
    """A value as somebody wrote it, and where: what refuses it names both."""

    value: Any
    place: str


def merge(*layers: Mapping[str, Any]) -> Settings:
    """Merges layers that `read` returned. Later layers win; within a layer, single settings win over its protocol."""
    values: JSONObject = {}
    for layer in layers:
        protocol = PROTOCOLS.get(layer.get("sampling", ""))
        values |= {**protocol, **layer, "sampling": "server"} if protocol else layer
    return Settings(**values)


def read(values: Mapping[str, Any], source: str, rows: Mapping[str, Setting] = _SETTINGS) -> JSONObject:
    """Returns typed and checked values by field name; unknown names and bad values are refused.

    Values may be texts as on the command line: "1,2,5" for a list, "none" for no value, "{…}" for an object.
    """
    layer = {}
    for key, value in values.items():
        field = str(key).replace("-", "_")
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


class _Loader(yaml.SafeLoader):
    """Of two lines with one name, PyYAML would drop the first."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        made = super().construct_mapping(node, deep)
        if len(made) < len(node.value):
            names = [self.construct_object(key) for key, _ in node.value]
            twice = next(key for key, _ in reversed(node.value) if names.count(self.construct_object(key)) > 1)
            raise yaml.MarkedYAMLError(None, None, f"'{twice.value}' is there twice", twice.start_mark)
        return made


def constructed(node: yaml.Node) -> Any:
    """What the node holds."""
    return _Loader("").construct_object(node, deep=True)


def yaml_nodes(text: str | yaml.Node, source: str) -> dict[str, tuple[yaml.Node, str]]:
    """The `name: value` lines of YAML, each value as it is written, with its line."""
    loader = _Loader("" if isinstance(text, yaml.Node) else text)
    node = text if isinstance(text, yaml.Node) else loader.get_single_node()
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return {}
    if not isinstance(node, yaml.MappingNode):
        held = type(loader.construct_document(node)).__name__
        raise BadValue(f"{source} must hold settings as 'name: value' lines, but it holds {held}.")
    loader.flatten_mapping(node)
    found: dict[str, tuple[yaml.Node, str]] = {}
    for key, value in node.value:
        name, place = str(loader.construct_object(key)).replace("_", "-"), _place(source, key.start_mark)
        if name in found:
            raise BadValue(f"'{name}' is there twice: {found[name][1]}, and {place}.")
        found[name] = value, place
    return found


def yaml_values(text: str | yaml.Node, source: str) -> dict[str, Given]:
    """The settings that YAML holds, not yet checked, each with its line."""
    with explained(source):
        return {name: Given(constructed(node), place) for name, (node, place) in yaml_nodes(text, source).items()}


@contextmanager
def explained(source: str) -> Iterator[None]:
    """While entered, what is no YAML is told with its line."""
    try:
        yield
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or " ".join(str(error).split())
        cure = "; a value with ': ' in it needs quotation marks" if "mapping values" in problem else ""
        place = _place(source, getattr(error, "problem_mark", None))
        raise BadValue(f"{place}{',' * ('line' in place)} is not YAML: {problem}{cure}.") from error


def _place(source: str, mark: yaml.Mark | None) -> str:
    return f"{source}, line {mark.line + 1}" if mark else source


def read_given(given: Mapping[str, Given], rows: Mapping[str, Setting] = _SETTINGS) -> JSONObject:
    """The same as `read`, of values that come from several places."""
    layer: JSONObject = {}
    for name, (value, place) in given.items():
        layer |= read({name: value}, place, rows)
    return layer


def _typed(setting: Setting, value: Any, source: str) -> Any:
    try:
        typed = msgspec.convert(_from_text(setting, value), type=setting.type, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        reason = str(error).replace("`", "'").split(" - at")[0]
        expected = f"{reason[0].lower()}{reason[1:]}"
        if setting.type is bool:
            expected = "expected true or false"
        elif setting.choices:
            expected = f"expected one of {', '.join(setting.choices)}"
        elif setting.field == "thinking":
            expected = "expected server, on, off, or budget=N with a number of tokens"
        raise BadValue(f"The setting '{setting.name}' cannot be {value!r} ({source}): {expected}.") from error
    if typed in (math.inf, -math.inf):
        raise BadValue(f"The setting '{setting.name}' cannot be {value!r} ({source}): expected a finite number.")
    return typed


def _from_text(setting: Setting, value: Any) -> Any:
    """Converts a text from the command line to the value that a YAML file would contain."""
    kind = get_origin(setting.bare) or setting.bare
    words = ("on", "off") if setting.field == "thinking" else setting.choices
    if isinstance(value, bool) and words:  # YAML reads the words true, on and off so
        return next((word for word in words if yaml.safe_load(word) is value), value)
    if isinstance(value, str) and type(None) in get_args(setting.bare) and value.lower() in {"none", "null"}:
        return None
    if kind is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # YAML reads `devices: 3` as a number
    if kind is dict and isinstance(value, str):
        return msgspec.json.decode(value)
    if kind is tuple and value is not None:
        separators = r"\n" if setting.field == "gate" else r"[,\n]"
        items = value if isinstance(value, list | tuple) else [value]
        # YAML reads the unquoted gate `demo_arithmetic: avg@5 >= 60` as a mapping.
        lines = (
            "\n".join(f"{k}: {v}" for k, v in item.items()) if isinstance(item, dict) else str(item) for item in items
        )
        return [part.strip() for line in lines for part in re.split(separators, line) if part.strip()]
    return value
