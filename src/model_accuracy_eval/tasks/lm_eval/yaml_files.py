"""A YAML file and the files that it includes → one mapping. `!function` becomes a reference; nothing is run."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import Any, Literal, Protocol

import msgspec
import yaml

from model_accuracy_eval.errors import BadData

TaskFields = dict[str, Any]

CODE_EVAL = "code_eval"
_CODE_EVAL = re.compile(rb"""\bload\(\s*["']code_eval["']\s*\)""")


class TaskFileReader(Protocol):
    """Reads task files from the machine."""

    def read(self, path: str) -> bytes:
        """Raises `BadData` where there is no such file."""

    def holds(self, path: str) -> bool:
        """Whether there is such a file."""

    def under(self, folder: str, kind: Literal["yaml", "json"] = "yaml") -> list[str]:
        """Sorted paths of all files below the folder that have `yaml` or `yml` in their names, or end in `.json`."""


class PythonReference(msgspec.Struct, frozen=True):
    """`!function module.name`: Python of the task's author."""

    name: str
    folder: str
    """Where the module is searched: the folder of the YAML file."""

    @property
    def file(self) -> str:
        return f"{PurePath(self.folder, *self.name.split('.')[:-1])}.py"

    def __str__(self) -> str:
        return f"!function {self.name}"


@cache
def _loader() -> Any:
    """The class is made when the first file is read, as few runs read one and PyYAML takes long to load."""

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        folder = ""

    Loader.add_constructor("!function", _function)
    return Loader


def _function(loader: Any, node: Any) -> PythonReference:
    return PythonReference(str(loader.construct_scalar(node)), loader.folder)


def load(files: TaskFileReader, path: str, inside: tuple[str, ...] = ()) -> TaskFields:
    """The file's fields over those of the files it includes; later ones win."""
    if path in inside:
        raise BadData(f"{path}: the file includes itself, by way of {' → '.join((*inside, path))}.")
    own = parse(path, files.read(path))
    included = own.pop("include", None)
    merged: TaskFields = {}
    for name in [included] if isinstance(included, str) else included or []:
        merged |= load(files, str(PurePath(path).parent / str(name)), (*inside, path))
    merged.pop("task_list", None)
    merged |= own
    if merged.get("unsafe_code"):
        merged["unsafe_code"] = _runner(files, merged)
    return merged


def _runner(files: TaskFileReader, fields: TaskFields) -> str:
    """Who runs programs in replies: the `code_eval` of the evaluate library, or the author's own Python (`own`)."""
    judging = functions(fields.get("metric_list"))
    known = bool(judging) and all(_CODE_EVAL.search(files.read(function.file)) for function in judging)
    return CODE_EVAL if known else "own"


def parse(path: str, data: bytes) -> TaskFields:
    loader = _loader()(data)
    loader.folder = str(PurePath(path).parent)
    try:
        value = loader.get_single_data()
    except (yaml.YAMLError, ValueError) as error:
        raise BadData(f"{path} is no YAML that could be read: {' '.join(str(error).split())}.") from error
    finally:
        loader.dispose()
    if not isinstance(value, Mapping):
        raise BadData(f"{path}: a task file is a mapping of fields to values, but this one is {_kind(value)}.")
    return {str(key): content for key, content in value.items()}


def _kind(value: Any) -> str:
    return "empty" if value is None else f"a {type(value).__name__}"


def functions(value: Any) -> list[PythonReference]:
    """Every function at any depth of the value."""
    if isinstance(value, PythonReference):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return [function for content in inner for function in functions(content)]
