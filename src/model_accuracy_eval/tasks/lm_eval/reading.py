"""A YAML file and the files that it includes → one mapping. `!function` is noted down, and nothing is run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, Protocol

import yaml

from model_accuracy_eval.errors import BadData

Fields = dict[str, Any]

CODE_EVAL = "code_eval"
_CODE_EVAL = re.compile(rb"""\bload\(\s*["']code_eval["']\s*\)""")


class Files(Protocol):
    """Where task files are read from."""

    def read(self, path: str) -> bytes:
        """Raises `BadData` where there is no such file."""

    def under(self, folder: str, kind: Literal["yaml", "json"] = "yaml") -> list[str]:
        """Paths of all files below the folder that have `yaml` or `yml` in their names, or end in `.json`; sorted."""


@dataclass(frozen=True, slots=True)
class Function:
    """`!function module.name`: Python of the task's author."""

    name: str
    folder: str
    """Where the module is looked for: the folder of the YAML file that says so."""

    @property
    def file(self) -> str:
        return f"{PurePath(self.folder, *self.name.split('.')[:-1])}.py"

    def __str__(self) -> str:
        return f"!function {self.name}"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    folder = ""


def _function(loader: Any, node: Any) -> Function:
    return Function(str(loader.construct_scalar(node)), loader.folder)


_Loader.add_constructor("!function", _function)


def load(files: Files, path: str, inside: tuple[str, ...] = ()) -> Fields:
    """The file's fields over those of the files it includes; of several the later wins."""
    if path in inside:
        raise BadData(f"{path}: the file includes itself, by way of {' → '.join((*inside, path))}.")
    own = parse(path, files.read(path))
    included = own.pop("include", None)
    merged: Fields = {}
    for name in [included] if isinstance(included, str) else included or []:
        merged |= load(files, str(PurePath(path).parent / str(name)), (*inside, path))
    merged.pop("task_list", None)
    merged |= own
    if merged.get("unsafe_code"):
        merged["unsafe_code"] = _runner(files, merged)
    return merged


def _runner(files: Files, fields: Fields) -> str:
    """Who runs the programs that are replies: the `code_eval` of the evaluate library, or the author's own Python."""
    judging = functions(fields.get("metric_list"))
    known = bool(judging) and all(_CODE_EVAL.search(files.read(one.file)) for one in judging)
    return CODE_EVAL if known else "own"


def parse(path: str, data: bytes) -> Fields:
    loader = _Loader(data)
    loader.folder = str(PurePath(path).parent)
    try:
        value = loader.get_single_data()
    except (yaml.YAMLError, ValueError) as error:
        raise BadData(f"{path} is no YAML that could be read: {' '.join(str(error).split())}.") from error
    finally:
        loader.dispose()
    if not isinstance(value, Mapping):
        raise BadData(f"{path}: a task file is a mapping of fields to values, but this one is {_kind(value)}.")
    return {str(key): one for key, one in value.items()}


def _kind(value: Any) -> str:
    return "empty" if value is None else f"a {type(value).__name__}"


def functions(value: Any) -> list[Function]:
    """Every function that stands anywhere in the value."""
    if isinstance(value, Function):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return [found for one in inner for found in functions(one)]
