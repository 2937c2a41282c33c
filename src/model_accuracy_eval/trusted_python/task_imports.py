"""Imports in the process of a task's Python: its own files, and stand-ins for libraries that are not installed.

The stand-ins are `datasets` over rows in memory, lm-eval's folder of tasks as packages, and placeholders for every
other library; a placeholder fails as soon as a value would be made of it. They are found by import finders that are
added in that process alone.
"""

import importlib.util
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

from model_accuracy_eval.trusted_python.stand_ins import (
    MODULES,
    POSTS,
    Dataset,
    concatenate,
)

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
