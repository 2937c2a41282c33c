"""The process of a task's Python: makes rows, or loads what is named and calls it when it is asked to."""

import importlib.util
import inspect
import os
import pickle
import random
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

from model_accuracy_eval.records import JSONObject, Recipe, Transform
from model_accuracy_eval.trusted_python import stand_ins
from model_accuracy_eval.trusted_python.child_process import (
    LENGTH_BYTES,
    Call,
    ChildReply,
    Describe,
    Failed,
    FunctionSignature,
    MissingFile,
    RecordMembers,
    RowsMade,
    RowsWanted,
    pack_reply,
    plain,
    returned,
    rows_to_json,
    unsealed,
)
from model_accuracy_eval.trusted_python.stand_ins import (
    MODULES,
    POSTS,
    Dataset,
    DatasetLoader,
    MissingRows,
    concatenate,
)

_TRANSFORM_COLUMNS = ("input", "output", "processed_output")


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the task prints must not get among the replies
    installed = False
    while length := requests.read(LENGTH_BYTES):
        request = pickle.loads(requests.read(int.from_bytes(length, "big")))  # noqa: S301 - from our own process
        if not installed:
            # What is installed among this process's imports reaches nobody else.
            rows = {"load_dataset": DatasetLoader(request.files)} if isinstance(request, RowsWanted) else {}
            install(sys.argv[2], **rows)
            installed = True
        replies.write(pack_reply(_reply(request)))
        replies.flush()


def _reply(request: RowsWanted | Describe | Call) -> ChildReply:
    try:
        if isinstance(request, RowsWanted):
            return _make_rows(request)
        return _describe(request.path) if isinstance(request, Describe) else _call(request)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, the other side raises it
        return Failed(f"{type(error).__name__}: {error}", traceback.format_exc())


def _describe(path: str) -> ChildReply:
    found = _load(path)
    if is_dataclass(found) and not isinstance(found, type):
        members = {field.name: getattr(found, field.name) for field in fields(found)}
        return RecordMembers(
            functions=[name for name, value in members.items() if callable(value)],
            values={name: plain(value) for name, value in members.items() if not callable(value)},
        )
    parameters = inspect.signature(found).parameters.values()
    return FunctionSignature(
        [(parameter.name, int(parameter.kind), parameter.default is parameter.empty) for parameter in parameters]
    )


def _call(request: Call) -> ChildReply:
    function = _load(request.path)
    forget_placeholders()
    reply = returned(
        function(
            *(unsealed(value) for value in request.args),
            **{name: unsealed(value) for name, value in request.kwargs.items()},
        )
    )
    check_placeholders()
    return reply


@cache
def _load(path: str) -> Any:
    """`file.py:function`, `package.module:function`, and of a record `file.py:record.member`.

    A class of filters is called as a function.
    """
    place, _, name = path.rpartition(":")
    first, *members = name.split(".")
    found = _load_name(place, first)
    random.seed(0)
    for member in members:
        found = getattr(found, member)
    if isinstance(found, Placeholder):
        raise ImportError(not_installed(place))  # noqa: TRY004 - it is no wrong type
    if isinstance(found, type) and hasattr(found, "apply"):
        return stand_ins.as_function(found)
    return found


def _load_name(place: str, name: str) -> Any:
    """What the module has under the name, else the filter that it registered."""
    if not place.endswith(".py"):
        return getattr(importlib.import_module(place), name)
    file = Path(place)
    try:
        return load_function(str(file.parent), f"{file.stem}.{name}")
    except AttributeError:
        if name not in stand_ins.REGISTERED:
            raise
        return stand_ins.REGISTERED[name]


def _make_rows(job: RowsWanted) -> ChildReply:
    try:
        rows = _changed_rows(_source_rows(job), job.recipe)
        made = rows_to_json(_with_columns(rows, job.recipe))
        check_placeholders()
    except MissingRows as missing:
        return MissingFile(missing.name)
    return RowsMade(made)


def _source_rows(job: RowsWanted) -> Iterable[JSONObject]:
    """The rows of the file, or those that a function of the task returns."""
    recipe = job.recipe
    if not recipe.loader:
        return Dataset(job.rows)
    rows = load_function(recipe.folder, recipe.loader)(**recipe.loader_args)
    return Dataset(rows if recipe.split is None else rows[recipe.split])


def _changed_rows(rows: Iterable[JSONObject], recipe: Recipe) -> Iterable[JSONObject]:
    """What the task's functions over all rows make of them."""
    if recipe.rows:
        rows = load_function(recipe.folder, recipe.rows)(rows)
    if recipe.transform:
        rows = _transformed_rows(rows, recipe.folder, recipe.transform)
    return rows


def _with_columns(rows: Iterable[JSONObject], recipe: Recipe) -> Iterator[JSONObject]:
    """Each row with its further columns."""
    functions = {column: load_function(recipe.folder, name) for column, name in recipe.columns.items()}
    for row in rows:
        columns = {column: function(dict(row)) for column, function in functions.items()}
        if isinstance(columns.get("doc_to_text"), int):
            raise TypeError(
                "doc_to_text gives a number, which stands for one of several contexts; that is not supported here"
            )
        yield {**row, **columns}


def _transformed_rows(rows: Iterable[JSONObject], folder: str, transform: Transform) -> Iterator[JSONObject]:
    """Calls UltraEval's transform once for each row; what it returns becomes columns.

    Every row has a random generator of its own, so that a slice gets the same questions as the whole dataset.
    """
    function = load_function(folder, transform.function)
    for index, row in enumerate(rows):
        generator = random.Random(transform.seed + index)  # noqa: S311 - an order of options, no secret
        columns = function(dict(row), transform.shots, generator, transform.task)
        missing = [name for name in _TRANSFORM_COLUMNS if name not in columns]
        if missing:
            raise KeyError(f"of row {index + 1}, the transform gives no '{missing[0]}'")
        answers = columns["processed_output"]
        yield {
            **row,
            "input": columns["input"],
            "output": _example_answer(columns["output"], transform.shots),
            "answers": [str(answer) for answer in answers] if isinstance(answers, list) else [str(answers)],
        }


def _example_answer(output: Any, shots: int) -> str:
    """The answer of a solved example: the first of several."""
    first = output[0] if isinstance(output, list) and output else output
    if shots and not isinstance(first, str):
        raise TypeError(f"the transform's output is {output!r}, but a solved example shows a text")
    return str(first)


# Imports: the task's own files, and stand-ins for libraries that are not installed.
#
# The stand-ins are `datasets` over rows in memory, lm-eval's folder of tasks as packages, and placeholders for every
# other library; a placeholder fails as soon as a value would be made of it. They are found by import finders that are
# added in this process alone.


_USED_PLACEHOLDERS: list[str] = []
"""Names of placeholders that were used: a task that catches the error would take its absence for an answer."""


class Placeholder:
    """A member of a library that is not installed: may be named, called and inherited from, but gives no value."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Placeholder":
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self._name}.{name}")

    def __call__(self, *_: object, **__: object) -> "Placeholder":
        return Placeholder(f"{self._name}()")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (_base_class(self._name),)


def _refuse(self: Placeholder, *_: object) -> NoReturn:
    _USED_PLACEHOLDERS.append(self._name)
    raise ImportError(not_installed(self._name))


_USES = (
    *("str", "repr", "format", "int", "float", "bool", "len", "iter"),
    *("eq", "lt", "contains", "getitem", "add", "enter"),
)
for _use in _USES:
    setattr(Placeholder, f"__{_use}__", _refuse)


def _base_class(name: str) -> type:
    """A class whose subclasses have what they define themselves; what they would inherit raises an error."""

    def missing(_: object, attribute: str) -> NoReturn:
        if not attribute.startswith("__"):
            _USED_PLACEHOLDERS.append(f"{name}.{attribute}")
        raise AttributeError(not_installed(f"{name}.{attribute}"))

    return type("Missing", (), {"__getattr__": missing})


def not_installed(name: str) -> str:
    return f"{name} is not installed where the task's Python runs"


def forget_placeholders() -> None:
    """What was used so far does not count: a module may find out what is installed when it is loaded."""
    _USED_PLACEHOLDERS.clear()


def check_placeholders() -> None:
    """Raises ImportError if a placeholder was used since the last `forget_placeholders`."""
    if _USED_PLACEHOLDERS:
        raise ImportError(not_installed(_USED_PLACEHOLDERS[0]))


class _StandInFinder(MetaPathFinder, Loader):
    """Finds the modules of a table, whatever is installed; what they have no member for is a placeholder."""

    def __init__(self, modules: Mapping[str, Mapping[str, object]], folders: Mapping[str, Path]) -> None:
        """`folders`: where further modules of a package are, by the package's name."""
        self._modules, self._folders = modules, folders

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return self._spec(name) if name in self._modules else None

    def _spec(self, name: str) -> ModuleSpec:
        spec = ModuleSpec(name, self, is_package=True)
        if name in self._folders:
            spec.submodule_search_locations = [str(self._folders[name])]
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        def member(attribute: str) -> Placeholder:
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            return Placeholder(f"{module.__name__}.{attribute}")

        vars(module).update({"__getattr__": member, **self._modules.get(module.__name__, {})})


class _PlaceholderFinder(_StandInFinder):
    """Asked last: a module that no other finder knows becomes one of placeholders, if a file of the task asks for it.

    Installed packages look which others are there: nltk for SciPy, SciPy for Cython. They are told the truth.
    """

    def __init__(self, *homes: Path) -> None:
        """`homes`: the folders with the files of tasks; this one, which loads them, imports in their name."""
        super().__init__({}, {})
        self._homes = [*homes, Path(__file__).parent]

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package = sys.modules.get(name.partition(".")[0])
        if package is not None and package.__spec__ and not isinstance(package.__spec__.loader, _StandInFinder):
            return None
        importer = _importing_file()
        if importer is not None and not any(importer.is_relative_to(home) for home in self._homes):
            return None
        return self._spec(name)


def _importing_file() -> Path | None:
    """The file whose import statement is being carried out; None: code that is in no file."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - finders are not told who asks
    while frame is not None and (
        frame.f_globals is globals() or frame.f_globals.get("__name__", "").partition(".")[0] == "importlib"
    ):
        frame = frame.f_back
    file = frame.f_globals.get("__file__") if frame is not None else None
    return Path(file) if file else None


def install(folder: str, **members: object) -> None:
    """Makes the stand-ins importable, and the task's own folder.

    `members`: further members of `datasets`.
    """
    root = _tasks_root(Path(folder))
    modules: dict[str, Mapping[str, object]] = {
        "datasets": {"Dataset": Dataset, "concatenate_datasets": concatenate, **members},
        "lm_eval": {},
        **MODULES,
        "lm_eval.tasks": {},
    }
    sys.meta_path.insert(0, _StandInFinder(modules, {"lm_eval.tasks": root} if root else {}))
    sys.meta_path.append(_PlaceholderFinder(Path(folder), *([root] if root else [])))
    sys.path.append(folder)
    for name in modules:
        importlib.import_module(name)  # so that each is a member of its package
    modules["UltraEval.tasks.postprocess"] = POSTS  # not imported: UltraEval itself may be in the folder
    random.seed(0)  # as lm-eval does before it makes its rows


def _tasks_root(folder: Path) -> Path | None:
    """The folder `lm_eval/tasks` that holds this one, if there is one."""
    return next((path for path in [folder, *folder.parents] if path.parts[-2:] == ("lm_eval", "tasks")), None)


def _module_name(file: Path, path: str) -> str:
    """The name under which lm-eval knows the file, for the sake of imports that are relative to it; else its path."""
    root = _tasks_root(file.parent)
    if root is None:
        return f"task_python.{path}"
    return ".".join(["lm_eval", "tasks", *file.relative_to(root).with_suffix("").parts])


def load_function(folder: str, name: str) -> Callable[..., Any]:
    """`module.function`, from the module's file in the folder."""
    path, _, attribute = name.rpartition(".")
    file = Path(folder, *path.split(".")).with_suffix(".py")
    module_name = _module_name(file, path)
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is no Python module")
        # Registered before it runs, as importlib's documentation says for a module that is loaded from its file.
        sys.modules[module_name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        forget_placeholders()
    function: Callable[..., Any] = getattr(sys.modules[module_name], attribute)
    return function
