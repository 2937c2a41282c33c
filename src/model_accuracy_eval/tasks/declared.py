"""A task in our own YAML spelling: the fields of `TaskSpec`, under their own names, with a few shorter ways to write.

A file is its name alone (`data: rows.jsonl`), a filter, metric, sampler or scorer without arguments likewise; `about`
and `fields` may be left out. `exec` stands for the pipeline of a task whose answers are programs: the arguments of the
metric `code`, and `filters` where the program is not read as Python.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import TaskSpec

Fields = dict[str, Any]

_NAMED = {"data", "sampler", "scorer", "filters", "metrics", "views"}
"""What may be written as its name alone, one or a list of them."""

_EXEC = ("code", "tests", "entry_points", "mode", "solution", "files", "language", "seconds", "memory_mb")

IN_PARTS: Fields = {"data": "", "prompt": {"question": ""}, "reference": ""}
"""What a task in parts does not say: its parts do."""


def from_fields(path: str, fields: Fields) -> TaskSpec:
    """The task; what is wrong is said with the file, the place in it and the nearest known name."""
    fields = _with_pipeline(path, fields) if "exec" in fields else fields
    whole = {"about": f"The dataset of {path}.", "fields": ()} | {key: _long(key, one) for key, one in fields.items()}
    try:
        return msgspec.convert(whole, TaskSpec)
    except msgspec.ValidationError as error:
        raise _told(path, str(error)) from error


def _with_pipeline(path: str, fields: Fields) -> Fields:
    """`exec` as what it stands for."""
    if not isinstance(fields["exec"], dict) or "pipelines" in fields:
        raise BadValue(
            f"{path}: 'exec' holds the code, tests and files of a program, and stands in place of 'pipelines'."
        )
    args = dict(fields["exec"])
    filters = args.pop("filters", ["strip_thoughts", "python_code"])
    if unknown := sorted(set(args) - set(_EXEC)):
        raise UnknownName("field", unknown[0], (*_EXEC, "filters"), where=f" in {path}, exec")
    metric = {"name": "code", "label": "accuracy", "args": args}
    rest = {key: value for key, value in fields.items() if key != "exec"}
    return {**rest, "pipelines": [{"filters": filters, "metrics": [metric]}]}


def _long(key: str, value: Any) -> Any:
    """The long way to write a value, all the way down."""
    if isinstance(value, str) and key in _NAMED:
        return {"name": value}
    if isinstance(value, dict) and key not in {"args", "generation"}:
        return {inner: _long(inner, one) for inner, one in value.items()}
    if isinstance(value, list) and key != "rows":
        return [_long(key, one) for one in value]
    return value


def _told(path: str, message: str) -> BadValue | UnknownName:
    what, _, place = message.partition(" - at ")
    where = place.strip("`$.")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what)
    if unknown is None:
        what = what.replace("`", "'")
        return BadValue(f"{path}: {what[0].lower()}{what[1:]}{f', in {where}' if where else ''}.")
    known = _fields_at(where)
    return UnknownName("field", unknown[1], known, where=f" in {path}" + (f", {where}" if where else ""))


def _fields_at(where: str) -> Sequence[str]:
    """Names of the fields that a place of a TaskSpec may have."""
    kinds = [msgspec.inspect.type_info(TaskSpec)]
    for step in re.findall(r"\w+|\[\.\.\.\]|\[\d+\]", where):
        inner = [_field(kind, step) for kind in kinds if isinstance(kind, msgspec.inspect.StructType)]
        kinds = [one for kind in (inner or kinds) for one in _alternatives(kind)]
    return [field.name for kind in kinds if isinstance(kind, msgspec.inspect.StructType) for field in kind.fields]


def _field(kind: msgspec.inspect.StructType, name: str) -> msgspec.inspect.Type:
    return next((field.type for field in kind.fields if field.name == name), kind)


def _alternatives(kind: msgspec.inspect.Type) -> list[msgspec.inspect.Type]:
    if isinstance(kind, msgspec.inspect.UnionType):
        return [one for part in kind.types for one in _alternatives(part)]
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return _alternatives(kind.item_type)
    return [kind]
