"""A YAML file and the files that it includes → one mapping. `!function` becomes a reference; nothing is run."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, Protocol

import msgspec
import yaml

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Recipe

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


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    folder = ""


_Loader.add_constructor(
    "!function", lambda loader, node: PythonReference(str(loader.construct_scalar(node)), loader.folder)
)


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
    loader = _Loader(data)
    loader.folder = str(PurePath(path).parent)
    try:
        value = loader.get_single_data()
    except (yaml.YAMLError, ValueError) as error:
        raise BadData(f"{path} is no YAML that could be read: {' '.join(str(error).split())}.") from error
    finally:
        loader.dispose()
    if not isinstance(value, Mapping):
        found = "empty" if value is None else f"a {type(value).__name__}"
        raise BadData(f"{path}: a task file is a mapping of fields to values, but this one is {found}.")
    return {str(key): content for key, content in value.items()}


def functions(value: Any) -> list[PythonReference]:
    """Every function at any depth of the value."""
    if isinstance(value, PythonReference):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return [function for content in inner for function in functions(content)]


# What an import collects: reasons against it, ignored fields, and the Python of the task's author.


@dataclass(slots=True)
class ImportFindings:
    """Everything that a user has to know about an import, so that it can be reported at once."""

    trusted: bool
    """Whether Python of the task's author may be run."""
    programs: bool = False
    """Whether replies are programs, judged like `code_eval`."""
    reasons: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)

    def refuse(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)

    def ignore(self, field: str) -> None:
        self.ignored.append(field)

    def trust(self, subject: str, place: str = "") -> None:
        """Notes that something is Python, which without trust is a reason against the import."""
        if not self.trusted:
            self.refuse(f"{subject} is Python{place}, which is run only with --trust-python")

    def python(self, place: str, function: PythonReference) -> str:
        """The function's name for a recipe."""
        self.trust(place, f" ({function})")
        self.folders[function.folder] = None
        return function.name

    def path(self, place: str, function: PythonReference) -> str:
        """The path of a function that judges."""
        self.trust(place, f" ({function})")
        return f"{function.file}:{function.name.rpartition('.')[2]}"

    def column(self, place: str, function: PythonReference) -> str:
        """An expression for the column that the function will make."""
        self.columns[place] = self.python(place, function)
        return place

    def recipe(self, rows: Any) -> Recipe | None:
        """How the author's Python changes the rows of the task's files, if it does."""
        function = self.python("process_docs", rows) if isinstance(rows, PythonReference) else None
        if function is None and not self.columns:
            return None
        if len(self.folders) > 1:
            self.refuse(f"its Python is in {len(self.folders)} folders ({', '.join(self.folders)})")
        return Recipe(folder=next(iter(self.folders)), rows=function, columns=dict(self.columns))


def quoted(values: Iterable[object]) -> str:
    return ", ".join(f"'{value}'" for value in values)
